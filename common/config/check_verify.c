#include "common/config/check_verify.h"

#include <stdio.h>

#define SAY(level, slot, beside, code, ...)                                                        \
    schema_diag(making->load, level, AT_SLOT(slot, beside), code, __VA_ARGS__)
#define REFUSE(slot, ...) SAY(DIAG_ERROR, slot, &verify->signed_form, "verify", __VA_ARGS__)

// What the signed bytes are made of.
struct signed_parts {
    int body, form, timestamp, id, url, json, field, all;
    bool wrong;
};

static bool token_is(struct slice token, const char *name)
{
    return slice_eq(token, slice_of(name));
}

static bool token_begins(struct slice token, const char *start)
{
    return slice_starts(token, slice_of(start)) && token.len > strlen(start) + 1;
}

static void read_token(struct slice token, struct signed_parts *parts)
{
    const struct {
        bool is;
        int *count;
    } rows[] = {{token_is(token, "{body}"), &parts->body},
            {token_is(token, "{form}"), &parts->form},
            {token_is(token, "{timestamp}"), &parts->timestamp},
            {token_is(token, "{id}"), &parts->id}, {token_is(token, "{url}"), &parts->url},
            {token_begins(token, "{json:/"), &parts->json},
            {token_begins(token, "{field:"), &parts->field}, {token_is(token, "{method}"), NULL},
            {token_is(token, "{path}"), NULL}, {token_begins(token, "{header:"), NULL}};
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        known |= rows[i].is;
        if (rows[i].is && rows[i].count)
            ++*rows[i].count;
    }
    parts->wrong |= !known;
}

static struct signed_parts read_signed(const char *form)
{
    struct signed_parts parts = {0};
    for (const char *at = form; *at; parts.all++) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        size_t n = end ? (size_t)(end - at) + 1 : strcspn(at, "{}");
        if (*at == '{' || *at == '}')
            read_token((struct slice){(const unsigned char *)at, n ? n : 1}, &parts);
        at += n ? n : 1;
    }
    return parts;
}

static bool has_timestamp(const struct custom_verify *verify)
{
    return verify->timestamp_header || verify->timestamp_item || verify->timestamp_field;
}

static void check_signed(
        const struct making *making, const struct source *source, const struct signed_parts *parts)
{
    const struct custom_verify *verify = source->verify;
    int whole = parts->body + parts->form, chosen = parts->json + parts->field;
    const struct {
        bool wrong;
        const char *why;
    } rows[] = {{parts->wrong,
                        "signed: only {timestamp}, {body}, {id}, {method}, {url}, {path}, {form}, "
                        "{json:/POINTER}, {field:NAME} and {header:NAME} may stand in braces"},
            {whole > 1 || (whole == 0 && chosen == 0),
                    "signed: {body} must be there once, or the body is not protected"},
            {parts->json && parts->field,
                    "signed: {json:..} and {field:..} are of two kinds of body: name one of them"},
            {parts->timestamp && !has_timestamp(verify),
                    "signed: {timestamp} needs `timestamp: { header: .. }`"},
            {!parts->timestamp && has_timestamp(verify) &&
                            !(verify->timestamp_field && parts->body),
                    "signed: without {timestamp} anyone can renew the timestamp"},
            {parts->url && !source->public_url, "signed: {url} needs 'public_url': the provider "
                                                "signs the URL that it was given"},
            {parts->id && source->n_batch && !verify->id_header,
                    "signed: {id} is one of the whole request, and with 'batch' each event has "
                    "one: name it by id_header"},
            {source->n_batch && whole == 0 && chosen,
                    "signed: 'batch' needs {body} or {form}: of a list only its signed values "
                    "would be protected, and a copy of the signature could carry other events"},
            {verify->id_header && !parts->id && !(parts->body == 1 && parts->all == 1),
                    "signed: add {id}, since id_header is not signed; only where {body} alone is "
                    "signed can a copy under another id be told by its bytes"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].wrong)
            SAY(DIAG_ERROR, &verify->signed_form, NULL, "signed", "%s", rows[i].why);
    }
    if (!parts->wrong && whole == 0 && chosen && !source->n_batch)
        SAY(DIAG_WARNING, &verify->signed_form, NULL, "signed",
                "signed: without {body} only what is named is protected: one signature counts "
                "once, and nothing else of the body should decide anything");
}

static bool one_of(const char *word, const char *a, const char *b)
{
    return word && (strcmp(word, a) == 0 || strcmp(word, b) == 0);
}

static bool cuts(const char *separator, const char *value)
{
    return separator && value && strstr(value, separator);
}

// How the signature's header or field is cut into items.
static void check_items(const struct making *making, const struct custom_verify *verify)
{
    bool header = schema_where(making->load, &verify->signature_header) != NULL;
    bool field = schema_where(making->load, &verify->signature_field) != NULL;
    if (header == field)
        REFUSE(verify->signature_field ? (const void *)&verify->signature_field : &verify->encoding,
                "signature: name its 'header', or the 'field' of the body that it stands in");
    if (verify->signature_second && !header)
        REFUSE(&verify->signature_second, "signature: 'second' is a second header: name 'header'");
    if (verify->n_keys && !verify->kv_sep)
        REFUSE(&verify->keys, "signature: 'keys' needs 'kv_sep', what parts an item's name from "
                              "its value");
    if (verify->n_keys > 2)
        REFUSE(&verify->keys, "signature: at most 2 'keys'");
    if (verify->kv_sep && !verify->n_keys)
        REFUSE(&verify->kv_sep, "signature: 'kv_sep' needs 'keys', the names of the items that are "
                                "signatures");
    if (cuts(verify->item_sep, verify->signature_prefix))
        REFUSE(&verify->signature_prefix, "signature: 'item_sep' cuts the prefix apart: no "
                                          "signature would be found");
    if (verify->timestamp_item && (!verify->item_sep || !verify->kv_sep))
        REFUSE(&verify->timestamp_item, "timestamp: 'item' needs 'item_sep' and 'kv_sep' of the "
                                        "signature, whose list it stands in");
}

static void check_key(const struct making *making, const struct custom_verify *verify)
{
    bool pair = one_of(verify->algorithm, "ecdsa-p256-sha256", "rsa-sha256");
    bool ed25519 = verify->algorithm && strcmp(verify->algorithm, "ed25519") == 0;
    bool said = schema_where(making->load, &verify->key) != NULL;
    if (pair && said)
        REFUSE(&verify->key,
                "'key' means nothing to %s: the secret's file holds the public key, "
                "as PEM or base64",
                verify->algorithm);
    if (ed25519 && !one_of(verify->key, "hex", "base64"))
        REFUSE(said ? (const void *)&verify->key : &verify->algorithm,
                "ed25519 needs `key: hex` or `key: base64`: how the public key is written");
}

static int count_tokens(const struct custom_verify *verify)
{
    return (verify->token_header != NULL) + (verify->token_query != NULL) + verify->token_basic;
}

static bool has_signature(const struct custom_verify *verify)
{
    return verify->signature_header || verify->signature_field || verify->encoding ||
           verify->signed_form || verify->algorithm;
}

static void check_token(const struct making *making, const struct source *source)
{
    const struct custom_verify *verify = source->verify;
    const void *slot = verify->token_header  ? (const void *)&verify->token_header
                       : verify->token_query ? (const void *)&verify->token_query
                                             : (const void *)&verify->token_basic;
    if (count_tokens(verify) > 1)
        SAY(DIAG_ERROR, slot, &source->verify, "verify",
                "token: name one of 'header', 'query' and 'basic'");
    if (has_signature(verify))
        SAY(DIAG_ERROR, slot, &source->verify, "verify",
                "verify is by 'token' or by 'signature', not both");
}

// A place within `verify` that was written.
static const void *any_slot(const struct custom_verify *verify)
{
    const struct {
        const void *slot;
        bool there;
    } rows[] = {{&verify->signed_form, verify->signed_form != NULL},
            {&verify->algorithm, verify->algorithm != NULL},
            {&verify->encoding, verify->encoding != NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].there)
            return rows[i].slot;
    }
    return &verify->signature_header;
}

// The parts of a signature that must be there; what can't be read is told already.
static bool is_complete(const struct making *making, const struct source *source)
{
    const struct custom_verify *verify = source->verify;
    const struct {
        const char *key;
        bool there, read;
    } rows[] = {{"signature",
                        schema_where(making->load, &verify->signature_header) ||
                                schema_where(making->load, &verify->signature_field) ||
                                schema_where(making->load, &verify->encoding),
                        verify->encoding != NULL},
            {"signed", schema_where(making->load, &verify->signed_form) != NULL,
                    verify->signed_form != NULL},
            {"algorithm", schema_where(making->load, &verify->algorithm) != NULL,
                    verify->algorithm != NULL}};
    bool complete = true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!rows[i].there)
            SAY(DIAG_ERROR, any_slot(verify), &source->scheme, "missing-key", "verify has no '%s'",
                    rows[i].key);
        complete &= rows[i].there && rows[i].read;
    }
    return complete;
}

static void check_grammar(const struct making *making, struct source *source)
{
    struct custom_verify *verify = source->verify;
    if (!verify->signature_prefix)
        verify->signature_prefix = xstrdup("");
    if (verify->none)
        SAY(DIAG_ERROR, &verify->none, &source->verify, "verify",
                "scheme custom says how requests are proved: `verify: none` is for scheme none");
    else if (count_tokens(verify))
        check_token(making, source);
    else if (is_complete(making, source)) {
        struct signed_parts parts = read_signed(verify->signed_form);
        check_signed(making, source, &parts);
        check_items(making, verify);
        check_key(making, verify);
    }
}

static void make_row(const struct making *making, struct source *source)
{
    if (!making->known->row)
        return;
    source->row = making->known->row(source);
    if (!source->row)
        SAY(DIAG_ERROR, &source->scheme, &source->name, "verify",
                "source '%s' can't be run: at most 16 pieces may be signed, and 4 pointers of "
                "'scope' and of 'batch' and 5 of 'id_more' be named",
                source->name);
}

static void check_batch(const struct making *making, const struct source *source)
{
    for (size_t i = 0; i < source->n_batch; i++) {
        const char *pattern = source->batch[i];
        if (pattern && pattern[0] != '/' && strcmp(pattern, "body") != 0)
            SAY(DIAG_ERROR, &source->batch[i], &source->scheme, "batch",
                    "batch: '%s' is neither 'body' nor a JSON pointer to an array", pattern);
    }
}

// Of the rows below: id, type, time and id_digest.
enum { FIRST_OF_JWT = 1, TYPE_KEY = 2, LAST_OF_JWT = 4 };

// The keys of a source that says itself how it is read.
static void check_keys(const struct making *making, const struct source *source, const char *scheme)
{
    bool custom = strcmp(scheme, "custom") == 0, none = strcmp(scheme, "none") == 0;
    bool jwt = strcmp(scheme, "jwt") == 0;
    bool header = source->verify && source->verify->id_header;
    // What a topic carries says its type, which the scheme can't know. A program that knows no
    // schemes takes it for one.
    bool topic = !custom && !none && !jwt &&
                 (!making->known->keys || making->known->keys(scheme) == KEYS_TOPICS);
    const struct {
        const char *key;
        const void *slot;
        bool there, needed;
    } rows[] = {{"verify", &source->verify, source->verify != NULL, true},
            {"id", &source->id_ptr, source->id_ptr != NULL,
                    source->n_id_more || (!header && !source->id_digest)},
            {"type", &source->type_ptr, source->type_ptr != NULL,
                    !(source->verify && source->verify->type_header)},
            {"time", &source->time_ptr, source->time_ptr != NULL, false},
            {"id_digest", &source->id_digest, source->id_digest, false},
            {"scope", &source->scope, source->n_scope != 0, false},
            {"batch", &source->batch, source->n_batch != 0, false},
            {"id_more", &source->id_more, source->n_id_more != 0, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool own = custom || none || (jwt && i >= FIRST_OF_JWT && i <= LAST_OF_JWT) ||
                   (topic && i == TYPE_KEY);
        if (own && !topic && rows[i].needed && !rows[i].there)
            SAY(DIAG_ERROR, &source->scheme, &source->name, "custom", "scheme %s needs '%s'%s",
                    scheme, rows[i].key,
                    none && i == 0 ? ": write `verify: none`, since anybody can send to it" : "");
        if (!own && rows[i].there)
            SAY(DIAG_ERROR, rows[i].slot, &source->scheme, "custom",
                    "'%s' is for scheme custom only; scheme '%s' knows its own", rows[i].key,
                    scheme);
    }
}

static void check_none(const struct making *making, const struct source *source)
{
    const struct custom_verify *verify = source->verify;
    if (verify && !schema_where(making->load, &verify->none))
        SAY(DIAG_ERROR, &source->verify, &source->scheme, "verify",
                "scheme none proves nothing: write `verify: none`, or use scheme custom");
    if (verify && verify->none)
        SAY(DIAG_WARNING, &verify->none, &source->verify, "unverified",
                "source '%s' believes anybody who can reach it", source->name);
    if (source->n_secrets)
        SAY(DIAG_ERROR, &source->secrets, &source->name, "verify",
                "scheme none has no secrets: they would protect nothing");
}

void policy_check_verify(const struct making *making, struct source *source)
{
    if (!source->scheme)
        return;
    bool none = strcmp(source->scheme, "none") == 0;
    check_keys(making, source, source->scheme);
    check_batch(making, source);
    if (none)
        check_none(making, source);
    else if (source->verify && strcmp(source->scheme, "custom") == 0)
        check_grammar(making, source);
    // What could not be read is told already, and would be no row.
    if (source->verify && making->diag->errors == making->errors_before)
        make_row(making, source);
}
