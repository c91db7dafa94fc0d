// verify.h: decides whether a request really comes from its source, by one engine over rows of
// data.
#pragma once
#include "common/config/policy.h"

// A request as the verifier sees it: borrowed bytes only; no h2o type.
struct verify_header {
    struct slice name, value; // name in any case
};
struct verify_request {
    struct slice method, target; // the request target's own bytes
    const struct verify_header *headers;
    size_t n_headers;
    struct slice body; // raw, as received
    int64_t now_s;
};

// Fixed reasons, the same in log, metric and command (verify/reason.def).
enum verify_reason {
#define REASON(id, text) VERIFY_##id,
#include "receiver/verify/reason.def"
#undef REASON
    VERIFY_REASON_COUNT
};
const char *verify_reason_name(enum verify_reason reason);

struct verify_result {
    enum verify_reason reason; // VERIFY_OK when authentic
    int secret_index;          // which live secret matched, -1 = none
    // Only when authentic: what the scheme's headers say of the event; borrowed from the request,
    // empty = the scheme has it in the body, or the header is missing or there twice.
    struct slice id, type;
};

// A scheme: how requests are signed and where the id, type and scope of the event are (NULL = not
// there).
struct scheme;
const struct scheme *scheme_of(const struct source *source); // NULL when it does not run
bool scheme_known(const char *name, bool *ret_active);       // for the policy checker
const char *scheme_at(size_t i); // all that are known, NULL past the last; for the policy checker
// For how many seconds the provider may send one event again; 0 = not known. Remembered keys must
// outlive it.
int64_t scheme_horizon_s(const char *name);
bool scheme_is_app(const struct scheme *scheme);
bool scheme_signs_url(const char *name); // its sources need public_url; for the policy checker
// The event's id stands in a header that is not signed: the signed bytes must be told apart too.
bool scheme_id_unsigned(const struct scheme *scheme);
// Header names, NULL when the scheme has them in the body.
const char *scheme_id_header(const struct scheme *scheme);
const char *scheme_type_header(const struct scheme *scheme);
const char *scheme_id_pointer(
        const struct scheme *scheme, const struct source *source); // e.g. "/id"
const char *scheme_id_more(const struct scheme *scheme); // second pointer of the id, or NULL
const char *scheme_type_pointer(
        const struct scheme *scheme, const struct source *source); // e.g. "/type"
const char *scheme_time_pointer(const struct scheme *scheme, const struct source *source);
// JSON pointers that make the scope (account, mode), e.g. stripe: /account, /livemode. Ends with
// NULL.
const char *const *scheme_scope_pointers(const struct scheme *scheme);

// All live secrets are tried, in constant time each. A source without a live secret is
// VERIFY_NO_SECRET (503).
struct verify_result verify_request(
        const struct source *source, const struct verify_request *request);

// Signs as the provider does (`pawl trigger`, tests): appends header lines "Name: value\r\n" to
// out.
MUST_CHECK bool verify_sign(const struct source *source, struct slice body, struct slice event_id,
        int64_t now_s, struct text *out, struct err *err);
