// cases.h: signed requests kept as JSON lines, and a source and request made of one.
#pragma once
#include "receiver/verify/scheme.h"
#include <jansson.h>

enum { CASE_SECRETS_MAX = 4, CASE_HEADERS_MAX = 32, CASE_KEYS_MAX = 2 };

// One line of a case file; everything borrows from json.
struct sig_case {
    json_t *json;
    const char *name, *provider, *reason, *note;
    bool accept;
    unsigned char *body;
    char *url;            // the provider's, without its query; owned
    struct source source; // scheme and secrets; the rest is the test's
    struct secret secrets[CASE_SECRETS_MAX];
    struct custom_verify custom; // filled when the line has "verify"
    char *keys[CASE_KEYS_MAX];
    struct verify_header headers[CASE_HEADERS_MAX];
    struct verify_request request;
};

// Calls fn for every line of a file named from the repository's root. Returns how many there were,
// -1 when the file is not there.
int cases_each(const char *path, void (*fn)(struct sig_case *signed_case, void *user), void *user);
