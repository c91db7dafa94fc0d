// policy.h: what the admin decided, as plain read-only structs: sources, the orders' flow,
// channels, messages, limits.
//
// A policy is made from texts (the files of `pawl policy apply`, or the rows of one version in the
// database), checked whole, and never changed afterwards; processes share it by reference
// (policy_ref/policy_unref, atomic).
#pragma once
#include "common/config/diag.h"
#include "common/config/policy_source.h"
#include "common/err.h"

// Numbers that are stored: never renumber.
enum channel_kind {
    CHANNEL_NONE = 0,
    CHANNEL_EMAIL = 1,
    CHANNEL_SMS = 2,
    CHANNEL_PUSH = 3,
    CHANNEL_COUNT = 4
};
enum delivery_order { AT_MOST_ONCE = 1, AT_LEAST_ONCE = 2 };
enum priority { PRIORITY_HIGH = 0, PRIORITY_NORMAL = 1, PRIORITY_LOW = 2, PRIORITY_COUNT = 3 };

const char *channel_name(enum channel_kind kind); // "email"; "none" for what is not a channel
enum channel_kind channel_by_name(const char *name);

// A lane is what a claim asks for: channel x priority, as one stored number.
static inline int lane_of(enum channel_kind channel, enum priority priority)
{
    return (int)channel * 10 + (int)priority;
}

struct state {
    char *name;
    int id;      // stored number, given by policy_bind()
    bool create; // an event to this state may create an unknown order
};

#define FLOW_STATES_MAX 64 // the checker refuses more

// The orders' flow: path states come first, in their order, then the ones aside.
struct flow {
    struct state *states;
    size_t n_states, n_path;
    bool *may; // may[from * n_states + to]: a direct step is allowed
    int64_t park_s;
};

// DRIVER_OTHER: known by name, does not run yet. DRIVER_HTTP: driver_name says which.
enum driver { DRIVER_SMTP = 1, DRIVER_OTHER = 2, DRIVER_HTTP = 3 };
enum provider_tls { TLS_UNSAID = 0, TLS_STARTTLS = 1, TLS_IMPLICIT = 2, TLS_NONE = 3 };

// One name and the text that stands for it.
struct pair {
    char *name, *value;
};

// Driver `http`: the request to a gateway, as the admin wrote it. url and values hold placeholders:
// {to} and so on.
#define GATEWAY_PLACEHOLDERS(X) X(to) X(from) X(text) X(key) X(coding) X(token)
#define GATEWAY_SUCCESS_MAX 16
#define GATEWAY_ID_MAX 255
struct gateway {
    char *method; // POST | PUT | GET
    struct pair *headers, *form;
    size_t n_headers, n_form;
    char *json;   // the body, in place of form; placeholders only inside its strings
    int *success; // statuses that mean "taken"; none = 200, 201, 202
    size_t n_success;
    char *id; // JSON pointer to the gateway's own id in its reply, or NULL
};

struct provider {
    char *driver_name;
    char *name; // unique in its channel, stored with tries and deliveries
    enum driver driver;
    // smtp: smtp:// (plain, loopback only, or STARTTLS demanded) or smtps://. Drivers over HTTP:
    // the API's base, NULL = the provider's own; http:// for loopback only
    char *url, *user;
    struct secret password; // the one secret: password, token or key; credential NULL = none
    // What drivers over HTTP need besides; policy_drivers.c has a row for each.
    char *account; // ses: access key id, twilio: account id, sinch: plan id, vonage: application id
    char *project; // fcm
    char *region;  // ses
    char *config_set;      // ses, may be NULL
    struct secret session; // ses: of temporary credentials; credential NULL = none
    char *team, *key_id;   // apns: who signs the token
    char *topic;           // apns: the app's bundle id
    char *subject;         // webpush: mailto: or https: of who runs this
    char *callback;        // URL for status webhooks, or NULL
    struct gateway *http;  // driver http only
    int tls;               // `tls: starttls|none|implicit` as written, enum provider_tls
    bool starttls;         // what follows: STARTTLS is demanded (implicit TLS is smtps://)
    bool plain;            // no TLS: only allowed for loopback
    char *ca;              // file with the CA certificates, or NULL = the system's
    bool private_net;      // `private: true`: its address may be a private one
    double rate;           // a second, over all dispatchers; 0 = unlimited
    int concurrency;       // tries at once in one dispatcher; 0 = the default
    int64_t settle_s;      // how far behind its search may be; 0 = it has none
};

struct channel {
    enum channel_kind kind;
    bool configured, active; // active: at least one provider runs
    char *from;
    double rate; // a second, over all dispatchers; 0 = unlimited
    struct provider *providers;
    size_t n_providers;
};
// The first provider that runs, NULL = none. What one try is given to, dispatcher/route decides.
const struct provider *channel_provider(const struct channel *channel);
// Can it be given a delivery with this target? One of push must be of the device's kind, with which
// its target begins ("webpush-3f..").
bool provider_takes(const struct provider *provider, enum channel_kind channel, const char *target);

struct step {
    enum channel_kind channel;
    int64_t after_s;                  // 0 = at once
    char *unless;                     // "accepted(push)" or NULL
    enum channel_kind unless_channel; // what it names, CHANNEL_NONE without it
    bool unless_delivered;            // delivered(..), else accepted(..)
    bool active;                      // false: this step makes no delivery and is counted
};

struct cap {
    int most;
    int64_t in_s;
    char *per;             // recipient | order
    bool across, withhold; // across: channels; then: withhold (else defer)
};

#define MESSAGE_ATTACHMENTS_MAX 10 // the checker refuses more

struct message {
    char *name;
    int id; // stored number, given by policy_bind()
    char *about;
    int when;   // index into flow.states; -1 = only by `notify`
    char *once; // Mustache source of the once key
    enum delivery_order delivery;
    struct step *steps;
    size_t n_steps;
    char *collapse;   // Mustache source or NULL
    int64_t *wait_ms; // the retry ladder; its last rung repeats until `for`
    size_t n_wait;
    int jitter_percent;
    int64_t retry_for_s, expires_s; // 0 = no retry; never
    enum priority priority;
    struct cap *caps;
    size_t n_caps;
    char *quiet_from, *quiet_to; // "21:00" or NULL
    int64_t quiet_drop_after_s;  // 0 = however long
    const char *timezone;        // its policy's, borrowed
    bool exempt;
    bool unsubscribe;   // its mails carry the link of one-click unsubscribe
    char **attachments; // of its mails: Mustache sources of paths below the host's folder
    size_t n_attachments;
    const struct cap *limits; // the policy's, unless it is exempt; borrowed
    size_t n_limits;
};

// One text a policy is made of. path is as given, for messages; for templates relative:
// "payment-receipt/email.en.text.mustache".
struct policy_text {
    char *path, *body;
    size_t len;
};

// One-click unsubscribe: where links lead to (the receiver's public listener), and what signs them:
// the first live secret, and any live one is believed.
struct unsubscribe {
    char *url;
    struct secret *secrets;
    size_t n_secrets;
};

struct policy {
    int refs, version; // version 0 = not stored
    char sha256[65];
    char *timezone, *locale;
    int64_t keep_keys_s, keep_bodies_s;
    struct source *sources;
    size_t n_sources;
    struct source_slot *by_name; // the same by their names' hash; NULL = not indexed
    size_t n_slots;              // of by_name, a power of two
    struct source_name *names;   // of the sources, in their order; as by_name
    struct flow flow;
    struct channel channels[CHANNEL_COUNT]; // by enum channel_kind
    struct message *messages;
    size_t n_messages;
    struct unsubscribe unsubscribe;
    struct cap *limits;
    size_t n_limits;
    struct policy_text *files, *templates;
    size_t n_files, n_templates;
    char *inactive; // "place: what; place: what" that does not run yet, "" when all runs
};

// What a source's scheme verifies with, besides secrets.
enum policy_keys {
    KEYS_SECRETS, // nothing
    KEYS_TOPICS,  // published certificates, of all accounts: `topics` says which are meant
    KEYS_SET,     // the key set at `jwks`
    KEYS_ANYBODY, // nothing: scheme none
};

// What the programs around know and the checker needs; all may be NULL.
struct policy_known {
    // Does this scheme exist (in the catalogue of 60), and does it run in this version?
    bool (*scheme)(const char *name, bool *ret_active);
    // The name of scheme i, NULL past the last: for "did you mean". May be NULL.
    const char *(*scheme_at)(size_t i);
    // Checks a Mustache source; false + err (with "line:col: why"). Used for once, collapse and
    // every template.
    bool (*template_ok)(const char *src, size_t len, struct err *err);
    // Can it become this part of a message: a "subject" is one line, "data" a JSON object? False +
    // err as of template_ok. NULL: not checked, as for what is stored already.
    bool (*template_part_ok)(const char *src, size_t len, const char *part, struct err *err);
    // Calls seen for each value that a template writes outside of its sections. NULL: not checked,
    // as for what is stored already.
    void (*template_values)(const char *src, size_t len,
            void (*seen)(void *ctx, struct slice name, int line, int column), void *ctx);
    // The same for each partial and parent that a template names.
    void (*template_partials)(const char *src, size_t len,
            void (*seen)(void *ctx, struct slice name, int line, int column), void *ctx);
    // How long after an event its provider may still send it, in seconds; 0 = unknown.
    int64_t (*horizon_s)(const char *scheme);
    // What the verifier makes of a source with `verify`, as one block for free(); NULL when its
    // `verify` makes no sense. It borrows from the source.
    void *(*row)(const struct source *source);
    // The verifier's row of a scheme, for ever: kept so that no request asks by name. May be NULL.
    const void *(*scheme_row)(const char *scheme);
    // Does it sign the URL, so that its sources need public_url?
    bool (*signs_url)(const char *scheme);
    enum policy_keys (*keys)(const char *scheme);
    // Whose receipts a source of this scheme brings, NULL = the policy must say it; the channel of
    // a provider's receipts, CHANNEL_NONE = it sends none.
    const char *(*receipts_of)(const char *scheme);
    enum channel_kind (*receipts_channel)(const char *provider);
    // Not stored yet: what is checked since a version was stored must not make it unreadable.
    bool is_new;
    // When it is checked, unix seconds; 0 = dates are not compared with it.
    int64_t now_s;
    // The host file is known, and names no folder of attachments.
    bool no_attachments;
    // How long a driver's provider recognises a repeated key, in seconds; 0 = it does not. NULL:
    // not checked, as for what is stored already.
    int64_t (*key_window_s)(enum channel_kind channel, const char *driver);
    // Is its handshake answered only with `handshake: { token: .. }`?
    bool (*handshake_token)(const char *scheme);
};

// Makes a policy of texts it copies; their order does not matter. All findings go to diag (errors,
// warnings, and `not active yet` notes); NULL when there was an error among them. Free with
// policy_unref().
MUST_CHECK struct policy *policy_new(const struct policy_text *files, size_t n_files,
        const struct policy_text *templates, size_t n_templates, const struct policy_known *known,
        struct diag *diag);
struct policy *policy_ref(struct policy *policy);
void policy_unref(struct policy *policy); // NULL is fine
static inline void policy_unref_held(struct policy **policy)
{
    policy_unref(*policy);
}
#define AUTO_POLICY __attribute__((cleanup(policy_unref_held)))

// Appends the effective policy in words, short, for people.
void policy_describe(const struct policy *policy, struct text *out);

// Where a partial or parent that a message's texts name is looked for, in this order: in the
// message's own folder, in layouts/, in partials/. Writes the index-th path (from 0); false when
// there are no more or it does not fit.
bool policy_partial_path(
        const char *message, struct slice name, unsigned index, char *ret_path, size_t size);

// Makes the index that policy_source() asks; policy_new() has done it.
void policy_index(struct policy *policy);
// Finds by name; NULL when there is none.
const struct source *policy_source(const struct policy *policy, struct slice name);
const struct event_rule *source_rule(const struct source *source, struct slice type);
const struct message *policy_message_by_id(const struct policy *policy, int id);
const struct step *message_step(
        const struct message *message, enum channel_kind channel); // or NULL
const struct source *policy_source_by_id(const struct policy *policy, int id);
bool policy_has_provider(const struct policy *policy, const char *name); // of any channel
int flow_state_by_id(const struct flow *flow, int id);                   // index, -1 when none

// Reads the files that the host file names (globs) relative to base_dir, and all `*.mustache` below
// dir (one that does not exist has none). A name without a pattern must exist. Bounded: 1 MiB and
// 256 files, 256 KiB and 4096 templates. Free with policy_texts_free().
MUST_CHECK bool policy_read_files(const char *base_dir, char *const *patterns, size_t n_patterns,
        struct policy_text **ret_files, size_t *ret_n, struct err *err);
MUST_CHECK bool policy_read_templates(
        const char *dir, struct policy_text **ret_texts, size_t *ret_n, struct err *err);
void policy_texts_free(struct policy_text *texts, size_t n);

// Stored numbers of names: the rows of pawl.names (kind, id, name). Every source, state and message
// of the policy must be bound before it is used with the database; false names the first that is
// not.
enum name_kind { NAME_SOURCE = 1, NAME_STATE = 2, NAME_MESSAGE = 3 };
void policy_bind(struct policy *policy, enum name_kind kind, const char *name, int id);
MUST_CHECK bool policy_bound(const struct policy *policy, struct err *err);

// Loads the secrets of all sources (receiver), of all channels (dispatcher) or both from dir. A
// missing or empty file, or one that others can read (its code: secret-mode), is an error naming
// the file and the source; all that can be loaded are. Sources that do not run yet and providers
// that are not used are left out. secret_reload is done by loading a new policy.
enum secrets_of {
    SECRETS_OF_SOURCES = 1,
    SECRETS_OF_CHANNELS = 2,
    SECRETS_OF_ALL = SECRETS_OF_SOURCES | SECRETS_OF_CHANNELS
};
MUST_CHECK bool secrets_load(
        struct policy *policy, const char *dir, enum secrets_of which, struct diag *diag);

struct schema;
extern const struct schema policy_schema; // for the page docs/policy.md and its test
