// verify.h: decides whether a request really comes from its source, by one engine over rows of
// data.
#pragma once
#include "common/config/policy.h"
#include "receiver/pubkey.h"

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
    const struct key_ring *keys; // what providers publish; NULL = nothing can be had
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
    // Only when authentic, and only where the id is not signed (scheme_id_unsigned) and what is
    // signed is not the body: the sha256 of what must come only once (Mailgun's token, PayPal's
    // transmission). Without it that is the body.
    bool has_once;
    unsigned char once[32];
};

// How a request that was taken is answered (receiver/http does it).
enum scheme_answer {
    REPLY_DEFAULT,
    REPLY_EMPTY_200,      // no body at all
    REPLY_NO_CONTENT_204, // no body, 204
    REPLY_ACCEPTED_BODY,  // 200, "[accepted]" as text/plain
    REPLY_CLIENT_ID,      // 200, with the request's X-AdobeSign-ClientId
};
enum scheme_refusal { REFUSE_401, REFUSE_498 }; // of a bad, missing, stale or future signature

// Requests that ask whether somebody is there. Each is answered by the scheme and makes no event.
enum scheme_handshake {
    HANDSHAKE_NONE,
    HANDSHAKE_SLACK,     // url_verification: verified, then `challenge` as text
    HANDSHAKE_ZOOM,      // endpoint.url_validation: HMAC of plainToken; again every 72 h
    HANDSHAKE_META,      // GET hub.mode=subscribe: token compared, hub.challenge echoed
    HANDSHAKE_X,         // GET crc_token: {"response_token":"sha256="+base64(HMAC)}
    HANDSHAKE_DROPBOX,   // GET challenge: echoed as text, nosniff
    HANDSHAKE_MS_GRAPH,  // POST validationToken: decoded, echoed as text
    HANDSHAKE_SNS,       // SubscriptionConfirmation: verified, confirmed
    HANDSHAKE_DISCORD,   // PING, type 0: verified, then 204
    HANDSHAKE_BRAINTREE, // GET bt_challenge: PUBLIC|HMAC
    HANDSHAKE_ASANA,     // X-Hook-Secret: echoed
    HANDSHAKE_OKTA,      // GET x-okta-verification-challenge: {"verification": ..}
    HANDSHAKE_TRELLO,    // HEAD: 200
    HANDSHAKE_ADOBE,     // GET x-adobesign-clientid: compared, echoed
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
bool scheme_unverified(const struct source *source); // takes requests from anybody
enum policy_keys scheme_keys(const char *name);      // for the policy checker
const void *scheme_known_row(const char *name);      // what policy_known.scheme_row wants
// What policy_known.row wants: the row of a source with `verify`, one block for free(), or NULL.
void *scheme_made(const struct source *source);
bool scheme_signs_url(const char *name); // its sources need public_url; for the policy checker
// The event's id is not signed: the signed bytes must be told apart too.
bool scheme_id_unsigned(const struct scheme *scheme);
// Header names, NULL when the scheme has them in the body.
const char *scheme_id_header(const struct scheme *scheme);
const char *scheme_type_header(const struct scheme *scheme);
bool scheme_type_told(const struct scheme *scheme); // verify_result.type begins the type
const char *scheme_id_pointer(
        const struct scheme *scheme, const struct source *source); // e.g. "/id"
// Further pointers of the id, joined to the first with ':'; ends with NULL, may be empty.
const char *const *scheme_id_more(const struct scheme *scheme);
bool scheme_id_digest(const struct scheme *scheme); // the id ends with a digest of the member
// Of each request another, whatever it says: the same bytes again are news, too.
bool scheme_id_each(const struct scheme *scheme);
// Where the events of one request stand (scheme.h says the pattern's form); ends with NULL, empty =
// the body is one event.
const char *const *scheme_batch(const struct scheme *scheme);
// A pointer to a text which holds a document of its own, or NULL.
const char *scheme_inner(const struct scheme *scheme);
bool scheme_inner_xml(const struct scheme *scheme); // base64 of XML, else JSON
// Pointers to what changes between tries of one event (of a batch: in the member); ends with NULL.
const char *const *scheme_volatiles(const struct scheme *scheme);
// Of a compressed body what it stands for is signed, and not the bytes as they were sent.
bool scheme_signs_inflated(const struct scheme *scheme, const struct source *source);
// How the provider wants to be answered.
enum scheme_answer scheme_answer(const struct scheme *scheme);
enum scheme_refusal scheme_refusal(const struct scheme *scheme);
enum scheme_handshake scheme_handshake(const struct scheme *scheme);
const char *scheme_type_pointer(
        const struct scheme *scheme, const struct source *source); // e.g. "/type"
const char *scheme_type_more(const struct scheme *scheme); // then "." and what is here, or NULL
bool scheme_type_of_batch(const struct scheme *scheme);    // it is the name of the member's array
const char *scheme_time_pointer(const struct scheme *scheme, const struct source *source);
// JSON pointers that make the scope (account, mode), e.g. stripe: /account, /livemode. Ends with
// NULL.
const char *const *scheme_scope_pointers(const struct scheme *scheme);

// There is something to verify with: a live secret, or keys that the provider publishes.
bool scheme_has_key(const struct source *source, int64_t now_s);

// All live secrets are tried, in constant time each. A source without a live secret is
// VERIFY_NO_SECRET (503).
struct verify_result verify_request(
        const struct source *source, const struct verify_request *request);

// Signs as the provider does (`pawl trigger`, tests): appends header lines "Name: value\r\n" to
// out.
MUST_CHECK bool verify_sign(const struct source *source, struct slice body, struct slice event_id,
        int64_t now_s, struct text *out, struct err *err);
