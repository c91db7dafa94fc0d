// The table of the policy files. Drivers have a table of their own: policy_drivers.c.
#include "common/config/policy_drivers.h"
#include "common/config/policy_made.h"

#define AT(type, member) offsetof(struct type, member)
#define LIST_IN(type, member)                                                                      \
    .shape = LIST, .offset = AT(type, member), .count_offset = AT(type, n_##member)
#define MAP_IN(type, member)                                                                       \
    .shape = MAP_OF, .offset = AT(type, member), .count_offset = AT(type, n_##member)
#define TABLE(keys_) .keys = (keys_), .n_keys = ARRAY_LEN(keys_)
#define DAYS INT64_C(86400)

static const struct schema_word channel_words[] = {
        {"email", CHANNEL_EMAIL}, {"sms", CHANNEL_SMS}, {"push", CHANNEL_PUSH}, {NULL, 0}};
static const struct schema_word contact_words[] = {{"id", 0}, {"email", 0}, {"phone", 0},
        {"push", 0}, {"locale", 0}, {"timezone", 0}, {NULL, 0}};
static const struct schema_word encoding_words[] = {{"hex", 0}, {"base64", 0}, {NULL, 0}};
static const struct schema_word unit_words[] = {
        {"seconds", 0}, {"milliseconds", 0}, {"iso", 0}, {NULL, 0}};
static const struct schema_word algorithm_words[] = {{"hmac-sha256", 0}, {"hmac-sha1", 0},
        {"hmac-sha512", 0}, {"ed25519", 0}, {"ecdsa-p256-sha256", 0}, {"rsa-sha256", 0}, {NULL, 0}};
static const struct schema_word key_words[] = {{"verbatim", 0}, {"hex", 0}, {"base64", 0},
        {"whsec", 0}, {"sha1", 0}, {"nfkd", 0}, {NULL, 0}};
static const struct schema_word none_words[] = {{"none", 0}, {NULL, 0}};
// Those of receiver/verify/handshake.c; a test compares them.
static const struct schema_word handshake_words[] = {{"slack", 0}, {"zoom", 0}, {"meta", 0},
        {"x", 0}, {"dropbox", 0}, {"ms-graph", 0}, {"discord", 0}, {"braintree", 0}, {"asana", 0},
        {"okta", 0}, {"trello", 0}, {"adobe", 0}, {NULL, 0}};
static const struct schema_word jwt_words[] = {
        {"HS256", JWT_HS256}, {"RS256", JWT_RS256}, {"ES256", JWT_ES256}, {NULL, 0}};
static const struct schema_word delivery_words[] = {
        {"at-most-once", AT_MOST_ONCE}, {"at-least-once", AT_LEAST_ONCE}, {NULL, 0}};
static const struct schema_word priority_words[] = {
        {"high", PRIORITY_HIGH}, {"normal", PRIORITY_NORMAL}, {"low", PRIORITY_LOW}, {NULL, 0}};
static const struct schema_word per_words[] = {{"recipient", 0}, {"order", 0}, {NULL, 0}};
static const struct schema_word across_words[] = {{"channels", 1}, {NULL, 0}};
static const struct schema_word then_words[] = {{"withhold", 1}, {"defer", 0}, {NULL, 0}};

// clang-format off
static const struct schema_key keep_keys[] = {
        {.name = "keys", .type = S_SECONDS, .offset = AT(policy, keep_keys_s), .min = 3600, .max = 60 * DAYS, .fallback = "45d", .about = "how late a repeat is still caught; at most 60d"},
        {.name = "bodies", .type = S_SECONDS, .offset = AT(policy, keep_bodies_s), .min = 3600, .max = 28 * DAYS, .fallback = "14d", .about = "how long raw bodies stay readable; at most 28d and never longer than keys"},
};
static const struct schema keep_schema = {.name = "keep", TABLE(keep_keys)};

static const struct schema_key defaults_keys[] = {
        {.name = "timezone", .type = S_ZONE, .offset = AT(policy, timezone), .fallback = "UTC", .about = "where the recipient's is not known"},
        {.name = "locale", .type = S_LOCALE, .offset = AT(policy, locale), .fallback = "en", .about = "the texts every message must have"},
        {.name = "keep", .type = S_MAP, .of = &keep_schema, .about = "retention"},
};
static const struct schema defaults_schema = {.name = "defaults", TABLE(defaults_keys)};

static const struct schema_key secret_keys[] = {
        {.name = "secret", .type = S_CREDENTIAL, .required = true, .offset = AT(secret, credential), .about = "the secret's file"},
        {.name = "from", .type = S_DATE, .offset = AT(secret, from), .about = "first UTC day it is accepted"},
        {.name = "until", .type = S_DATE_END, .offset = AT(secret, until), .about = "last UTC day it is accepted"},
        {.name = "note", .type = S_TEXT, .offset = AT(secret, note), .about = "for people"},
};
static const struct schema secret_schema = {.name = "secret", .size = sizeof(struct secret), TABLE(secret_keys), .shorthand = &secret_keys[0]};

static const struct schema_key ignore_keys[] = {
        {.name = "ignore", .type = S_POINTER, LIST_IN(source, fingerprint_ignore), .about = "members that change between tries of one event"},
};
static const struct schema fingerprint_schema = {.name = "fingerprint", TABLE(ignore_keys)};

static const struct schema_key handshake_keys[] = {
        {.name = "token", .type = S_CREDENTIAL, .offset = AT(source, handshake_token.credential), .about = "what it must name: Meta's verify token, Braintree's public key, Adobe's client id"},
        {.name = "answer", .type = S_WORD, .words = handshake_words, .offset = AT(source, handshake_answer), .about = "whose handshake; default: the scheme's own"},
};
static const struct schema handshake_schema = {.name = "handshake", TABLE(handshake_keys)};

static const struct schema_key signature_keys[] = {
        {.name = "header", .type = S_HEADER, .offset = AT(custom_verify, signature_header), .about = "where the signature is"},
        {.name = "second", .type = S_HEADER, .offset = AT(custom_verify, signature_second), .about = "a second header that may carry one"},
        {.name = "field", .type = S_POINTER, .offset = AT(custom_verify, signature_field), .about = "where it is in the body, in place of a header; of a form /NAME"},
        {.name = "item_sep", .type = S_TEXT, .offset = AT(custom_verify, item_sep), .about = "what parts items; absent: it is one"},
        {.name = "kv_sep", .type = S_TEXT, .offset = AT(custom_verify, kv_sep), .about = "what parts an item's name from its value"},
        {.name = "keys", .type = S_TEXT, LIST_IN(custom_verify, keys), .about = "names of the items that are signatures; at most 2"},
        {.name = "prefix", .type = S_TEXT, .offset = AT(custom_verify, signature_prefix), .about = "what stands before it"},
        {.name = "encoding", .type = S_WORD, .words = encoding_words, .required = true, .offset = AT(custom_verify, encoding), .about = "how its bytes are written"},
};
static const struct schema signature_schema = {.name = "signature", TABLE(signature_keys)};

static const struct schema_key timestamp_keys[] = {
        {.name = "header", .type = S_HEADER, .offset = AT(custom_verify, timestamp_header), .about = "where the time of sending is"},
        {.name = "item", .type = S_TEXT, .offset = AT(custom_verify, timestamp_item), .about = "or the name of an item of the signature's list"},
        {.name = "field", .type = S_POINTER, .offset = AT(custom_verify, timestamp_field), .about = "or where it is in the body; of a form /NAME"},
        {.name = "unit", .type = S_WORD, .words = unit_words, .offset = AT(custom_verify, timestamp_unit), .fallback = "seconds", .about = "since 1970; iso: RFC 3339"},
        {.name = "tolerance", .type = S_SECONDS, .offset = AT(custom_verify, tolerance_s), .min = 1, .max = DAYS, .fallback = "300s", .about = "how far it may be off"},
};
static const struct schema timestamp_schema = {.name = "timestamp", TABLE(timestamp_keys)};

static const struct schema_key token_keys[] = {
        {.name = "header", .type = S_HEADER, .offset = AT(custom_verify, token_header), .about = "the header whose value is the secret"},
        {.name = "prefix", .type = S_TEXT, .offset = AT(custom_verify, token_prefix), .about = "what stands before it there"},
        {.name = "query", .type = S_TEXT, .offset = AT(custom_verify, token_query), .about = "or the parameter of the URL that is"},
        {.name = "basic", .type = S_BOOL, .offset = AT(custom_verify, token_basic), .fallback = "false", .about = "or Authorization: Basic; the secret is user:password"},
};
static const struct schema token_schema = {.name = "token", TABLE(token_keys)};

static const struct schema_key verify_keys[] = {
        {.name = "signature", .type = S_MAP, .of = &signature_schema, .about = "where and how it is written"},
        {.name = "timestamp", .type = S_MAP, .of = &timestamp_schema, .about = "absent: none is signed"},
        {.name = "signed", .type = S_TEXT, .offset = AT(custom_verify, signed_form), .about = "the signed bytes, of literal text and {timestamp} {body} {id} {method} {url} {path} {form} {json:/POINTER} {field:NAME} {header:NAME}"},
        {.name = "algorithm", .type = S_WORD, .words = algorithm_words, .offset = AT(custom_verify, algorithm), .about = "how it is made"},
        {.name = "key", .type = S_WORD, .words = key_words, .offset = AT(custom_verify, key), .about = "how the secret's file becomes the key; default verbatim"},
        {.name = "id_header", .type = S_HEADER, .offset = AT(custom_verify, id_header), .about = "the event's id, in place of id"},
        {.name = "type_header", .type = S_HEADER, .offset = AT(custom_verify, type_header), .about = "the event's type, before what type finds; never signed"},
        {.name = "token", .type = S_MAP, .of = &token_schema, .about = "the secret itself, in place of a signature"},
        {.name = "inflated", .type = S_BOOL, .offset = AT(custom_verify, inflated), .fallback = "false", .about = "{body} of a compressed body is what it stands for; else the bytes as sent"},
};
static const struct schema_key none_row = {.name = "verify", .type = S_WORD, .words = none_words, .offset = AT(custom_verify, none)};
static const struct schema verify_schema = {.name = "verify", .size = sizeof(struct custom_verify), TABLE(verify_keys), .shorthand = &none_row};

static const struct schema_key pointer_row = {.name = "pointer", .type = S_POINTER, .offset = AT(field, pointer)};
static const struct schema contact_schema = {.name = "contact", .size = sizeof(struct field), .shorthand = &pointer_row, .name_type = S_WORD, .name_words = contact_words, .name_offset = AT(field, name)};
static const struct schema data_schema = {.name = "data", .size = sizeof(struct field), .shorthand = &pointer_row, .name_type = S_FIELD, .name_offset = AT(field, name)};

static const struct schema_key map_state_row = {.name = "map", .type = S_REF, .ref = REF_STATE, .offset = AT(map_entry, to)};
static const struct schema map_schema = {.name = "map", .size = sizeof(struct map_entry), .shorthand = &map_state_row, .name_type = S_TEXT, .name_offset = AT(map_entry, value)};
static const struct schema_key to_keys[] = {
        {.name = "by", .type = S_POINTER, .required = true, .offset = AT(event_rule, by), .about = "where the deciding value is"},
        {.name = "map", .type = S_MAP, .of = &map_schema, MAP_IN(event_rule, map), .required = true, .least = 1, .about = "value to state"},
};
static const struct schema_key to_state_row = {.name = "to", .type = S_REF, .ref = REF_STATE, .offset = AT(event_rule, to)};
static const struct schema to_schema = {.name = "to", TABLE(to_keys), .shorthand = &to_state_row};

static const struct schema_key event_keys[] = {
        {.name = "order", .type = S_POINTER, .offset = AT(event_rule, order), .about = "where the order's id is"},
        {.name = "to", .type = S_MAP, .of = &to_schema, .about = "the state it moves to, or { by, map }"},
        {.name = "sequence", .type = S_POINTER, .offset = AT(event_rule, sequence), .about = "a rising number: applied only if above the order's last one from this source"},
        {.name = "notify", .type = S_REF, .ref = REF_MESSAGE, .offset = AT(event_rule, notify), .about = "a message that needs no order"},
        {.name = "contact", .type = S_MAP, .of = &contact_schema, MAP_IN(event_rule, contact), .about = "id email phone push locale timezone"},
        {.name = "data", .type = S_MAP, .of = &data_schema, MAP_IN(event_rule, data), .about = "names the templates use"},
};
static const struct schema event_schema = {.name = "event", .size = sizeof(struct event_rule), TABLE(event_keys), .name_type = S_TEXT, .name_offset = AT(event_rule, type)};

static const struct schema_key jwt_keys[] = {
        {.name = "header", .type = S_HEADER, .offset = AT(token_rule, header), .fallback = "Authorization", .about = "the header that carries it, perhaps behind Bearer"},
        {.name = "algorithm", .type = S_ENUM, .words = jwt_words, .required = true, .offset = AT(token_rule, algorithm), .about = "the only one that is taken, whatever the token says"},
        {.name = "body_hash", .type = S_FIELD, .required = true, .offset = AT(token_rule, body_hash), .about = "the claim that holds the body's SHA-256"},
        {.name = "encoding", .type = S_WORD, .words = encoding_words, .offset = AT(token_rule, encoding), .fallback = "hex", .about = "how it is written there"},
        {.name = "tolerance", .type = S_SECONDS, .offset = AT(token_rule, tolerance_s), .min = 1, .max = DAYS, .fallback = "300s", .about = "how old its iat may be, and how far ahead"},
};
static const struct schema jwt_schema = {.name = "token", .size = sizeof(struct token_rule), TABLE(jwt_keys)};

static const struct schema_key source_keys[] = {
        {.name = "scheme", .type = S_IDENT, .required = true, .offset = AT(source, scheme), .about = "how it signs: a row of the scheme catalogue, custom or app"},
        {.name = "secrets", .type = S_MAP, .of = &secret_schema, LIST_IN(source, secrets), .about = "every live one is tried"},
        {.name = "verify", .type = S_MAP, .shape = BOXED, .of = &verify_schema, .offset = AT(source, verify), .about = "how a request is proved; scheme custom, and none for scheme none"},
        {.name = "id", .type = S_POINTER, .offset = AT(source, id_ptr), .about = "the event's id; scheme custom only"},
        {.name = "id_more", .type = S_POINTER, LIST_IN(source, id_more), .about = "further parts of the id, at most 5; scheme custom only"},
        {.name = "id_digest", .type = S_BOOL, .offset = AT(source, id_digest), .fallback = "false", .about = "the id ends with a digest of the event, or is one where there is no id; scheme custom only"},
        {.name = "type", .type = S_POINTER, .offset = AT(source, type_ptr), .about = "the event's type; schemes custom, none and jwt, and aws-sns, whose Message it may lead into"},
        {.name = "time", .type = S_POINTER, .offset = AT(source, time_ptr), .about = "the event's own time: older than keep.keys = late; scheme custom only"},
        {.name = "scope", .type = S_POINTER, LIST_IN(source, scope), .about = "account and mode: ids are told apart by them; scheme custom only"},
        {.name = "batch", .type = S_TEXT, LIST_IN(source, batch), .about = "where the events of one request stand: pointers to arrays, body = the body itself, a segment * = every element; scheme custom only"},
        {.name = "fingerprint", .type = S_MAP, .of = &fingerprint_schema, .about = "what makes two bodies the same"},
        {.name = "handshake", .type = S_MAP, .of = &handshake_schema, .about = "how the provider's question before it sends is answered"},
        {.name = "body_max", .type = S_SIZE, .offset = AT(source, body_max), .min = 1, .max = 64 << 20, .about = "default: the host file's"},
        {.name = "compressed", .type = S_BOOL, .offset = AT(source, compressed), .fallback = "false", .about = "bodies may be gzip or deflate; else they are refused"},
        {.name = "rate", .type = S_RATE, .offset = AT(source, rate), .about = "requests to one process above it get 429"},
        {.name = "public_url", .type = S_WEB_URL, .offset = AT(source, public_url), .about = "the URL the provider signs"},
        {.name = "topics", .type = S_TOPIC, LIST_IN(source, topics), .about = "aws-sns: TopicArns that are taken, `arn:..:ACCOUNT:*` is all of an account"},
        {.name = "token", .type = S_MAP, .shape = BOXED, .of = &jwt_schema, .offset = AT(source, token), .about = "the JWT that proves a request; scheme jwt only"},
        {.name = "jwks", .type = S_HTTPS_URL, .offset = AT(source, jwks), .about = "https URL of the provider's key set, where no secret holds the key"},
        {.name = "receipts", .type = S_WORD, .words = channel_words, .offset = AT(source, receipts), .about = "its events are receipts of this channel: they move deliveries forward"},
        {.name = "provider", .type = S_IDENT, .offset = AT(source, provider), .about = "whose receipts they are, where the scheme does not say it (custom, jwt): sinch, vonage .."},
        {.name = "events", .type = S_MAP, .of = &event_schema, MAP_IN(source, events), .about = "what each type means; others are stored as unmapped"},
};
static const struct schema source_schema = {.name = "source", .size = sizeof(struct source), TABLE(source_keys), .name_type = S_SOURCE, .name_offset = AT(source, name)};

static const struct schema_key aside_keys[] = {
        {.name = "from", .type = S_IDENT, LIST_IN(aside_rule, from), .required = true, .least = 1, .about = "states it may follow"},
};
static const struct schema aside_schema = {.name = "aside", .size = sizeof(struct aside_rule), TABLE(aside_keys), .name_type = S_IDENT, .name_offset = AT(aside_rule, state)};
static const struct schema_key missed_row = {.name = "skip", .type = S_IDENT, LIST_IN(skip_rule, missed), .least = 1};
static const struct schema skip_schema = {.name = "skip", .size = sizeof(struct skip_rule), .shorthand = &missed_row, .name_type = S_IDENT, .name_offset = AT(skip_rule, state)};

static const struct schema_key orders_keys[] = {
        {.name = "path", .type = S_IDENT, LIST_IN(policy_made, path), .required = true, .least = 1, .about = "the states in their order"},
        {.name = "aside", .type = S_MAP, .of = &aside_schema, MAP_IN(policy_made, aside), .about = "states that leave the path"},
        {.name = "skip", .type = S_MAP, .of = &skip_schema, MAP_IN(policy_made, skip), .about = "for a state, the steps before it that may be missed"},
        {.name = "create", .type = S_IDENT, LIST_IN(policy_made, create), .about = "states whose events may create an order"},
        {.name = "park", .type = S_SECONDS, .offset = AT(policy_made, policy.flow.park_s), .min = 60, .max = 60 * DAYS, .fallback = "7d", .about = "an early event waits this long"},
};
static const struct schema orders_schema = {.name = "orders", TABLE(orders_keys)};

static const struct schema_key channels_keys[] = {
        {.name = "email", .type = S_MAP, .of = &email_channel_schema, .offset = AT(policy, channels[CHANNEL_EMAIL]), .about = "mail"},
        {.name = "sms", .type = S_MAP, .of = &sms_channel_schema, .offset = AT(policy, channels[CHANNEL_SMS]), .about = "text messages"},
        {.name = "push", .type = S_MAP, .of = &push_channel_schema, .offset = AT(policy, channels[CHANNEL_PUSH]), .about = "devices and browsers"},
};
static const struct schema channels_schema = {.name = "channels", TABLE(channels_keys)};

static const struct schema_key step_keys[] = {
        {.name = "channel", .type = S_ENUM, .words = channel_words, .required = true, .offset = AT(step, channel), .about = "email sms push"},
        {.name = "after", .type = S_SECONDS, .offset = AT(step, after_s), .min = 1, .max = 30 * DAYS, .about = "wait so long"},
        {.name = "unless", .type = S_TEXT, .offset = AT(step, unless), .about = "accepted(CHANNEL) or delivered(CHANNEL) of an earlier step"},
};
static const struct schema step_schema = {.name = "step", .size = sizeof(struct step), TABLE(step_keys), .shorthand = &step_keys[0]};

static const struct schema_key cap_keys[] = {
        {.name = "most", .type = S_INT, .required = true, .min = 1, .max = 1000, .offset = AT(cap, most), .about = "so many"},
        {.name = "in", .type = S_SECONDS, .required = true, .min = 1, .max = 400 * DAYS, .offset = AT(cap, in_s), .about = "in any window of this length"},
        {.name = "per", .type = S_WORD, .words = per_words, .required = true, .offset = AT(cap, per), .about = "recipient or order"},
        {.name = "across", .type = S_FLAG, .words = across_words, .offset = AT(cap, across), .about = "channels: counted over all of them"},
        {.name = "then", .type = S_FLAG, .words = then_words, .offset = AT(cap, withhold), .fallback = "withhold", .about = "withhold or defer what is too much"},
};
static const struct schema cap_schema = {.name = "cap", .size = sizeof(struct cap), TABLE(cap_keys)};

static const struct schema_key retry_keys[] = {
        {.name = "wait", .type = S_MS, .shape = LIST, .offset = AT(message, wait_ms), .count_offset = AT(message, n_wait), .required = true, .least = 1, .min = 1, .max = 30 * DAYS * 1000, .about = "the ladder; its last rung repeats"},
        {.name = "jitter", .type = S_PERCENT, .offset = AT(message, jitter_percent), .fallback = "20%", .about = "each wait is off by up to this"},
        {.name = "for", .type = S_SECONDS, .required = true, .offset = AT(message, retry_for_s), .min = 1, .max = 30 * DAYS, .about = "no further try after this"},
};
static const struct schema retry_schema = {.name = "retry", TABLE(retry_keys)};

static const struct schema_key quiet_keys[] = {
        {.name = "from", .type = S_WALL, .required = true, .offset = AT(message, quiet_from), .about = "begin"},
        {.name = "to", .type = S_WALL, .required = true, .offset = AT(message, quiet_to), .about = "end"},
        {.name = "drop_after", .type = S_SECONDS, .offset = AT(message, quiet_drop_after_s), .min = 1, .max = 2 * DAYS, .about = "not sent if it would wait longer"},
};
static const struct schema quiet_schema = {.name = "quiet", TABLE(quiet_keys)};

static const struct schema_key message_keys[] = {
        {.name = "about", .type = S_TEXT, .offset = AT(message, about), .about = "for people"},
        {.name = "when", .type = S_REF, .ref = REF_STATE, .offset = AT(message, when), .about = "an applied move to this state; absent: only by notify"},
        {.name = "once", .type = S_TEXT, .required = true, .offset = AT(message, once), .about = "unique for ever; of {{order.id}} and {{event.id}}"},
        {.name = "delivery", .type = S_ENUM, .words = delivery_words, .required = true, .offset = AT(message, delivery), .about = "in doubt: at-most-once does not send again, at-least-once does"},
        {.name = "send", .type = S_MAP, .of = &step_schema, LIST_IN(message, steps), .required = true, .least = 1, .about = "channels"},
        {.name = "collapse", .type = S_TEXT, .offset = AT(message, collapse), .about = "a newer message of this id and channel replaces an older one; with {{order.id}}"},
        {.name = "retry", .type = S_MAP, .of = &retry_schema, .about = "absent: one try"},
        {.name = "expires", .type = S_SECONDS, .offset = AT(message, expires_s), .min = 1, .max = 60 * DAYS, .about = "not sent later than this; absent: never"},
        {.name = "priority", .type = S_ENUM, .words = priority_words, .offset = AT(message, priority), .fallback = "normal", .about = "high normal low"},
        {.name = "cap", .type = S_MAP, .of = &cap_schema, LIST_IN(message, caps), .about = "no more than this of this message"},
        {.name = "quiet", .type = S_MAP, .of = &quiet_schema, .about = "hours in which it waits"},
        {.name = "unsubscribe", .type = S_BOOL, .offset = AT(message, unsubscribe), .fallback = "false", .about = "its mails carry a one-click unsubscribe link"},
        {.name = "attachments", .type = S_TEXT, LIST_IN(message, attachments), .about = "files that its mails carry: paths below the host file's dispatcher.attachments, with {{order.id}}; at most 10"},
};
static const struct schema message_schema = {.name = "message", .size = sizeof(struct message), TABLE(message_keys), .name_type = S_IDENT, .name_offset = AT(message, name)};

static const struct schema_key unsubscribe_keys[] = {
        {.name = "url", .type = S_HTTPS_URL, .offset = AT(policy, unsubscribe.url), .required = true, .about = "public base of the receiver: links are URL/unsubscribe/TOKEN"},
        {.name = "secrets", .type = S_MAP, .of = &secret_schema, .shape = LIST, .offset = AT(policy, unsubscribe.secrets), .count_offset = AT(policy, unsubscribe.n_secrets), .required = true, .least = 1, .about = "the first live one signs links, any live one is believed"},
};
static const struct schema unsubscribe_schema = {.name = "unsubscribe", TABLE(unsubscribe_keys)};

static const struct schema_key policy_keys[] = {
        {.name = "pawl", .type = S_TEXT, .offset = NOWHERE, .about = "1, the version of this format; required in every file"},
        {.name = "defaults", .type = S_MAP, .of = &defaults_schema, .about = "what holds where nothing else is said"},
        {.name = "sources", .type = S_MAP, .of = &source_schema, MAP_IN(policy, sources), .about = "endpoints: POST /hooks/{source}"},
        {.name = "orders", .type = S_MAP, .of = &orders_schema, .about = "the flow"},
        {.name = "channels", .type = S_MAP, .of = &channels_schema, .about = "how messages leave"},
        {.name = "messages", .type = S_MAP, .of = &message_schema, MAP_IN(policy, messages), .about = "what recipients are told"},
        {.name = "unsubscribe", .type = S_MAP, .of = &unsubscribe_schema, .about = "one-click unsubscribe (RFC 8058)"},
        {.name = "limits", .type = S_MAP, .of = &cap_schema, LIST_IN(policy, limits), .about = "caps over all messages"},
        {.name = "exempt", .type = S_IDENT, LIST_IN(policy_made, exempt), .about = "messages that limits do not hold"},
};
// clang-format on

const struct schema policy_schema = {
        .name = "policy", .size = sizeof(struct policy_made), TABLE(policy_keys)};
