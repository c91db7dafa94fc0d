// answer.h: what became of a request -> status, headers and body of its answer (design.md §7).
//
// Pure. Provider sources get one and the same 2xx whatever became of the event, so that a repeat is
// never an error and nothing is told to a stranger; app sources get the outcome. Errors are
// problem+json (RFC 9457) with a stable code. A refused signature looks the same for every reason.
#pragma once
#include "common/text.h"
#include "receiver/http/stages.h"

enum answer_row {
#define ANSWER_ROW(id, status, reason, code, title, outcome, flags) ROW_##id,
#include "receiver/http/answer.def"
#undef ANSWER_ROW
    ROW_COUNT
};

#define ANSWER_BODY_MAX 2048
#define ANSWER_RETRY_AFTER "5" // seconds; providers that ignore it use their own ladder
#define ANSWER_RETRY_SOON "1"

struct answer_shape {
    int status;
    const char *reason, *content_type;        // content_type NULL = no body
    const char *allow;                        // the methods that would do; NULL = not said
    bool close, soon;                         // soon: Retry-After is short
    bool retry_after, authenticate, replayed; // headers to add
};

// The row for what the accept stage decided.
enum answer_row answer_row_of(enum answer answer);

// The same as the scheme's provider wants it: a success that it takes for one, a refusal that it
// takes for one. One and the same for all that became of an event.
enum answer_row answer_styled(enum answer_row row, enum reply_style style);

// Fills ret_shape and appends the body to out (ceiling at least ANSWER_BODY_MAX). arrival may be
// NULL where the body does not tell an outcome.
void answer_make(enum answer_row row, const struct arrival *arrival, struct answer_shape *ret_shape,
        struct text *out);

// Label of pawl_webhook_requests_total: the row's own, or the event's outcome. Static text.
const char *answer_outcome(enum answer_row row, const struct arrival *arrival);

const char *answer_code(enum answer_row row); // "" for a success
