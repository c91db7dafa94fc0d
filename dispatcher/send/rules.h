// rules.h: what a provider's replies mean, as rows of data, and the one function that reads them.
#pragma once
#include "dispatcher/send/http.h"

// The first row that fits decides.
struct http_rule {
    int status;       // 0 = any
    const char *code; // the provider's own word or number; NULL = any, and none
    enum attempt_outcome outcome;
    enum failure_level level;
    int wait_s; // at least, also where the reply asks for less
    bool stale; // our token was too old: see attempt_result
};

// What a documented body said; "" where it did not.
struct http_said {
    char code[64], text[160], id[128];
};

// Where in a JSON body these stand: pointers, NULL = nowhere.
struct http_where {
    const char *code, *text, *id;
};

// Reads a body as far as it is the JSON that it should be; ret_said is set in any case.
void http_said_read(struct slice body, const struct http_where *where, struct http_said *ret_said);

// Fills all of the result but wire_ms. A reply that no row fits, or none, is
// http_result_undocumented.
void http_judge(const struct http_rule *rules, size_t n, const struct http_reply *reply,
        const struct http_said *said, struct attempt_result *result);

// Marks the result .apart where the code is one of these n: it is the provider's own, but who
// chooses the recipient makes it come.
void http_apart(const char *const *codes, size_t n, const struct http_said *said,
        struct attempt_result *result);
