// scheme.h: what a scheme's row of data can say; rows_*.c hold the rows, engine.c runs them.
//
// A new provider is a new row and its vectors. Only what no row can say gets a file of its own
// (app.c, token.c, and what rows_code.c names).
#pragma once
#include "receiver/verify/verify.h"

enum {
    SCHEME_PARTS_MAX = 16,       // pieces of what is signed
    SCHEME_KEYS_MAX = 2,         // names that a signature may have in a list
    SCHEME_SCOPE_MAX = 4,        // pointers that make the scope
    SCHEME_ID_MORE = 5,          // pointers behind the first that make an id
    SCHEME_BATCH_MAX = 4,        // patterns of where the events of one request stand
    SCHEME_VOLATILE_MAX = 4,     // members that change between tries
    SCHEME_VARIANTS_MAX = 4,     // spellings of the signed bytes that are tried
    SCHEME_CANDIDATES_MAX = 8,   // signatures tried of one request; more = refused
    SCHEME_NUMBERED_MAX = 100,   // numbered headers that are looked for
    SCHEME_MEMBERS_MAX = 1000,   // members that are signed one by one; more = refused
    SCHEME_HEADER_MAX = 4096,    // bytes of a header's value that is read
    SCHEME_DIGEST_MAX = 64,      // bytes of the longest digest
    SCHEME_SIGNATURE_MAX = 1024, // of the longest signature, by RSA with 8192 bits
    SCHEME_TIME_DIGITS_MAX = 15  // of a timestamp, milliseconds included
};

enum scheme_kind {
    SCHEME_HMAC,   // a keyed digest of the signed parts, or a signature over them
    SCHEME_BEARER, // `app`: the secret as `Authorization: Bearer`, an Idempotency-Key beside it
    SCHEME_CUSTOM, // becomes a row of SCHEME_HMAC or SCHEME_TOKEN by the policy's `verify`
    SCHEME_TOKEN,  // the secret itself, where the provider puts it; nothing is signed
    SCHEME_NONE,   // nothing to check: runs only where the policy says `verify: none`
    SCHEME_CODE,   // what no row can say: its `verify` decides
};

enum scheme_algorithm {
    HMAC_SHA1,
    HMAC_SHA256,
    HMAC_SHA512,
    ALGORITHM_PUBLIC, // from here on the source's secret is the provider's public key
    SIGN_ED25519 = ALGORITHM_PUBLIC, // RFC 8032
    SIGN_ECDSA_P256,                 // over SHA-256, DER
    SIGN_RSA_SHA256,                 // PKCS #1 v1.5
};
enum scheme_encoding {
    ENCODING_HEX_LOWER, // for providers whose own library compares the text
    ENCODING_HEX,       // either case
    ENCODING_BASE64,    // standard alphabet, padded, canonical
};
// How the secret's file becomes the key.
enum scheme_key {
    SECRET_VERBATIM, // every byte of the secret, a prefix included
    SECRET_WHSEC,    // base64 behind an optional "whsec_"
    SECRET_HEX,
    SECRET_BASE64,
    SECRET_SHA1, // the SHA-1 of its bytes
    SECRET_NFKD, // its text in Unicode's form NFKD, as UTF-8
    SECRET_PEM,  // a public key: PEM, or the base64 of its DER form (SubjectPublicKeyInfo)
};

enum scheme_part_kind {
    PART_END,
    PART_LITERAL,
    PART_TIMESTAMP,
    PART_BODY,
    PART_ID,
    PART_METHOD,
    PART_URL,            // the source's public_url with the request target's query
    PART_PATH,           // the path of it, spelt as Contentful does
    PART_FORM,           // the body's pairs: sorted, each once, name and value one behind the other
    PART_FIELD,          // the value at `literal`, a pointer; one that is absent is empty
    PART_HEADER,         // the value of the header `literal`; one that is absent is empty
    PART_SIGNED_HEADERS, // those that the header `signed_headers` lists, as Contentful does
};
struct scheme_part {
    enum scheme_part_kind kind;
    struct slice literal; // of PART_LITERAL, PART_FIELD and PART_HEADER
};

enum scheme_time_from {
    TIME_NONE,
    TIME_ITEM,   // a named item of the signature header's list
    TIME_FIRST,  // the list's first item, which has no name
    TIME_HEADER, // a header of its own
    TIME_FIELD,  // a value of the body, by pointer
};
struct scheme_time {
    enum scheme_time_from from;
    const char *name;         // of the item or header; the pointer
    bool milliseconds;        // since 1970; else seconds
    int64_t past_s, future_s; // how far from now it may be
};

// Where the signature stands.
enum scheme_signature_from {
    SIGNATURE_HEADER,   // `header`, and `header_second` where there is one
    SIGNATURE_NUMBERED, // `header` and 1, 2, 3 .. behind it
    SIGNATURE_FIELD,    // a value of the body, by the pointer `header`
};

// Where the token of a SCHEME_TOKEN stands.
enum scheme_token {
    TOKEN_HEADER, // `header`, behind `prefix`
    TOKEN_QUERY,  // the parameter `header` of the URL
    TOKEN_BASIC,  // Authorization: Basic; the secret is "user:password"
    TOKEN_MEMBER, // the value at the pointer `header` of each member of the batch
};

struct scheme {
    const char *name;
    enum scheme_kind kind;

    // Which event it is. Pointers are JSON pointers, NULL = nowhere; a form counts as a flat
    // object of texts.
    const char *id, *type, *happened;
    const char *id_more[SCHEME_ID_MORE + 1]; // further pointers: the id is all, joined with ':'
    bool id_digest; // the id ends with 32 hex digits of the sha256 of the member's bytes: the
                    // provider has none that is stable
    bool id_each;   // and with the request's own: each request is an event, since the same bytes
                    // again say that something changed again
    const char *id_header;   // the event's id; signed if and only if there is a PART_ID
    const char *type_header; // the event's type, never signed; with `type` it is HEADER.TYPE
    const char *type_fixed;  // the event's type where the provider has none: always the same
    const char *type_more;   // a second pointer: the type is TYPE.MORE
    bool type_of_batch;      // the type is the name of the array that the member stands in
    const char *scope[SCHEME_SCOPE_MAX + 1]; // ends with NULL
    // Where the events of one request stand; ends with NULL, empty = the body is one event. A
    // pattern is a JSON pointer to an array, "" = the body itself is the array; a segment `*` is
    // every element ("/entry/*/changes/*/value/messages"). id, id_more, type and happened are then
    // pointers into the member, as all of the policy's are; scope is one into the whole body.
    const char *batch[SCHEME_BATCH_MAX + 1];
    // A text in the body that may be a JSON document itself (AWS SNS): pointers lead into it. The
    // policy may then say where the type stands.
    const char *inner;
    bool inner_xml; // and it is base64 of XML (Braintree)
    // Members (of a batch's member) that the provider changes between tries of one event: the
    // fingerprint leaves them out. Ends with NULL.
    const char *volatiles[SCHEME_VOLATILE_MAX + 1];

    bool inflated; // what is signed is the body with its Content-Encoding undone; else as sent
    enum scheme_answer answer;
    enum scheme_refusal refusal;
    enum scheme_handshake handshake;
    bool once;      // verify_result.once says what must come only once
    bool published; // without secrets its keys are those that the provider publishes
    int jwt;        // enum jwt_algorithm; the claim body_hash then holds the body's digest
    // SCHEME_CODE only; NULL = it does not run. At least one secret of source is live, or it is
    // `published` and has none. Returns what verify_request() does.
    struct verify_result (*verify)(const struct scheme *row, const struct source *source,
            const struct verify_request *request);
    struct scheme_said { // the same for people, which no field below can say
        const char *signature, *what, *algorithm, *key, *time;
    } said;
    enum scheme_token token; // SCHEME_TOKEN only

    // Where the signature is, and how it is written.
    enum scheme_signature_from from;
    const char *header;        // carries the signature
    const char *header_second; // may carry another
    const char *item_sep;      // between items; NULL = the whole value is one item
    bool spaced;               // blanks before an item are passed over
    const char *kv_sep;        // between an item's name and its value; NULL = items have no name
    const char *keys[SCHEME_KEYS_MAX + 1]; // names of items that are signatures; empty = any
    const char *prefix;                    // before each signature, "" = none
    struct scheme_time time;
    bool iso_time; // the time is RFC 3339 in place of a number

    // What is signed, and by what.
    struct scheme_part parts[SCHEME_PARTS_MAX + 1]; // ends with PART_END
    const char *loose; // the one field that may hold what stands between fields: else what is
                       // signed could be cut into other values; NULL = not looked at
    enum scheme_algorithm algorithm;
    enum scheme_encoding encoding;
    enum scheme_key key;
    const char *ed25519;        // which of `keys` is an ed25519 signature, beside the algorithm's
    const char *settings;       // a header that may name the algorithm (Twilio)
    const char *signed_headers; // a header that lists what PART_SIGNED_HEADERS is
    const char *body_hash;      // query parameter: hex sha256 of a body that is no form
    bool form;                  // fields are the body's form, "/name"; else they are JSON
    bool each;                  // signature and fields stand in each member of batch[0]; all count
    bool decoded_url;           // the URL is tried with some escapes decoded too (HubSpot)
    bool lost_line_end;         // a line end behind the last part may have been lost (Braintree)
    const struct scheme *also;  // the same scheme by other header names
};

// The row of a scheme, by its name; NULL when there is none.
const struct scheme *scheme_row(const char *name);

const struct scheme *scheme_row_named(const struct source *source); // the same of its scheme

// The row that a source runs by: of its scheme, or made of its policy's `verify`, in *room. NULL
// when it does not run.
const struct scheme *scheme_row_of(const struct source *source, struct scheme *room);

// The row can be trusted: it signs the body or chosen fields of it, it reads a timestamp exactly
// when it signs one, and an id outside what is signed only where that is the body and nothing else
// (see verify_result.unsigned_id). Where it signs fields that may come again, no scope is outside.
bool scheme_sound(const struct scheme *row);
bool scheme_has_part(const struct scheme *row, enum scheme_part_kind kind);

// The row by whose header names the request speaks: row itself, unless its signature's header is
// missing and `also` has one.
const struct scheme *scheme_spoken(const struct scheme *row, const struct verify_request *request);

// Makes a row of the policy's `verify`; it borrows the source's texts. False when the texts don't
// make a sound row: such a source never verifies anything.
MUST_CHECK bool custom_row(const struct source *source, struct scheme *ret_row);

const struct secret *secret_first_live(const struct source *source, int64_t now_s); // or NULL

// A header by its name in any case. Set *ret_value only for HEADER_ONE.
enum header_found { HEADER_NONE, HEADER_ONE, HEADER_MANY };
enum header_found header_find(
        const struct verify_request *request, const char *name, struct slice *ret_value);

// No control character: nothing that could end the header line and start one of its own.
bool header_value_ok(struct slice value);

// The part of a request target behind its '?', with it; empty when there is none.
struct slice target_query(struct slice target);

// Runs a row of kind SCHEME_HMAC.
struct verify_result engine_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);
// Signs with the first live secret (sign.c).
MUST_CHECK bool engine_sign(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct slice event_id, struct text *out,
        struct err *err);

// Runs a row of kind SCHEME_TOKEN.
struct verify_result token_verify(const struct scheme *row, const struct source *source,
        const struct verify_request *request);
MUST_CHECK bool token_sign(const struct scheme *row, const struct secret *secret,
        struct slice event_id, struct text *out, struct err *err);
// The first live secret that equals the token, -1 = none: digests of one length are compared, in
// constant time, so the time says nothing of a secret or its length.
int token_match(const struct source *source, struct slice token, int64_t now_s);

// `app`: the token, then the Idempotency-Key.
struct verify_result app_verify(const struct source *source, const struct verify_request *request);
MUST_CHECK bool app_sign(
        const struct secret *secret, struct slice event_id, struct text *out, struct err *err);
