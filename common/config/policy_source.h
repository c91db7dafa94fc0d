// policy_source.h: the part of a policy that is about what comes in: secrets, sources and what
// their events mean. Included by policy.h.
#pragma once
#include "common/base.h"

// One live secret: the file `credential` in the credentials directory.
struct secret {
    struct slice value;  // bytes of the file without one trailing line end; empty until
                         // secrets_load(); wiped on free
    int64_t from, until; // live while from <= now < until, unix seconds; 0 = no bound. `until:
                         // 2026-12-31` is the end of that UTC day, 2027-01-01T00:00:00Z
    int64_t used_s;      // when this process last found it to match; see secret_used()
    char *credential;
    char *note;
};

// Live: not empty and now within its dates. `until` itself is no longer within them.
bool secret_is_live(const struct secret *secret, int64_t now_s);

// Marks a secret as used at that time; any thread: the one thing of a policy that changes. False
// when it was marked with the same second before.
bool secret_used(const struct secret *secret, int64_t now_s);
int64_t secret_last_used(const struct secret *secret); // 0 = not by this process

// One named JSON pointer, e.g. contact.email -> /customer/email.
struct field {
    char *name, *pointer;
};

// What one event type of a source means.
struct event_rule {
    char *type;
    char *order; // JSON pointer of the order's id; NULL for a notify-only rule
    int to;      // index into flow.states, -1 when decided `by` a value or for a notify-only rule
    char *by;    // JSON pointer of the deciding value; NULL unless `to: {by, map}`
    struct map_entry { // value -> state
        char *value;
        int to; // index into flow.states
    } * map;
    size_t n_map;
    char *sequence; // JSON pointer of a rising integer, or NULL
    int notify;     // index into messages, -1 = none
    struct field *contact;
    size_t n_contact; // id email phone push locale timezone
    struct field *data;
    size_t n_data;
};

// `verify` of scheme custom, as the admin wrote it; texts are NULL when absent.
struct custom_verify {
    char *signature_header, *signature_prefix; // prefix "" when there is none
    char *encoding;                            // hex | base64
    char *timestamp_header;                    // this, or one of those below; all NULL = none
    char *timestamp_unit;                      // seconds | milliseconds | iso
    int64_t tolerance_s;
    char *signed_form;      // "{timestamp}.{body}", checked (check_verify.c names the tokens)
    char *algorithm;        // hmac-sha256 | hmac-sha1 | hmac-sha512 | ed25519 | ..
    char *none;             // `verify: none`: anybody is believed
    bool inflated;          // {body} of a compressed one is what it stands for, not what was sent
    char *signature_second; // another header that may carry one
    char *signature_field;  // a JSON pointer in place of a header; of a form "/name"
    char *item_sep, *kv_sep;
    char **keys; // names of the items that are signatures
    size_t n_keys;
    char *timestamp_item, *timestamp_field; // an item of the signature's list; a JSON pointer
    char *key;                              // how the secret becomes the key
    char *id_header, *type_header;
    char *token_header, *token_query, *token_prefix; // the secret itself, in place of a signature
    bool token_basic;
};

enum jwt_algorithm { JWT_NONE, JWT_HS256, JWT_RS256, JWT_ES256 };

// `token` of scheme jwt: a JWT in a header, one claim of which is a digest of the body.
struct token_rule {
    char *header;
    int algorithm;   // enum jwt_algorithm
    char *body_hash; // name of the claim
    char *encoding;  // hex | base64
    int64_t tolerance_s;
};

struct source {
    // What each request asks stands together here: one line of the cache.
    const void *scheme_row; // what policy_known.scheme_row told; NULL = ask for it by name
    struct secret *secrets;
    size_t n_secrets;
    char *handshake_answer; // which handshake is answered; NULL = the scheme's own
    char *name;
    void *row; // scheme custom: what policy_known.row made of `verify`, or NULL
    char *scheme;
    struct custom_verify *verify; // schemes custom and none only
    int id;                       // stored number above 0, given by policy_bind(); 0 = not bound
    bool active;                  // false: its scheme does not run yet
    char *id_ptr, *type_ptr,
            *time_ptr; // JSON pointers: scheme custom, else NULL = the scheme's own
    char **id_more;    // scheme custom: further parts of the id
    size_t n_id_more;
    bool id_digest;        // scheme custom: the id ends with a digest of the event
    char **scope, **batch; // scheme custom: account and mode; where events stand
    size_t n_scope, n_batch;
    char **fingerprint_ignore; // JSON pointers of members that change between tries
    size_t n_fingerprint_ignore;
    size_t body_max;               // bytes; 0 = the host's
    bool compressed;               // a Content-Encoding is undone
    double rate;                   // requests a second and process; 0 = unlimited
    struct secret handshake_token; // what a handshake must name (Meta's verify token, Braintree's
                                   // public key); credential NULL = none
    char *public_url;              // as the provider calls it, for schemes that sign it; or NULL
    char **topics; // aws-sns: TopicArns whose messages are taken, "..:ACCOUNT:*" = all of an
                   // account
    size_t n_topics;
    struct token_rule *token; // scheme jwt only
    char *jwks;               // https URL of the provider's key set; or NULL
    char *receipts;           // channel name, or NULL
    char *provider;           // whose receipts they are; NULL = as the scheme says
    struct event_rule *events;
    size_t n_events;
};

// A place in the index by name. Places are small, so that all stay near the processor; names stand
// one behind the other, so that one is compared while its source is on its way.
struct source_slot {
    uint32_t hash;
    uint32_t nth; // of the sources, from 1; 0 = empty
};
enum { SOURCE_NAME_MAX = 63 };
struct source_name {
    uint8_t len; // more than SOURCE_NAME_MAX = it does not fit here
    char of[SOURCE_NAME_MAX];
};
