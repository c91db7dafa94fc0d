// A row made of the policy's own `verify` (common/config/check_verify.c says what is refused).
#include "receiver/verify/scheme.h"

static const struct {
    const char *name;
    enum scheme_part_kind kind;
} tokens[] = {{"{timestamp}", PART_TIMESTAMP}, {"{body}", PART_BODY}, {"{id}", PART_ID},
        {"{method}", PART_METHOD}, {"{url}", PART_URL}, {"{path}", PART_PATH},
        {"{form}", PART_FORM}};

// Tokens with an argument: what is kept of "{json:/a}" is "/a", of "{field:a}" ":a", whose first
// byte stands for the '/' of a pointer.
static const struct {
    const char *start;
    size_t kept; // from here on
    enum scheme_part_kind kind;
} named[] = {{"{json:/", 6, PART_FIELD}, {"{field:", 6, PART_FIELD}, {"{header:", 8, PART_HEADER}};

static struct scheme_part part_of(enum scheme_part_kind kind, const char *at, size_t len)
{
    return (struct scheme_part){kind, {(const unsigned char *)at, len}};
}

// The token at the start of form, its length in *ret_len; false when there is none.
static bool token_at(const char *form, struct scheme_part *ret_part, size_t *ret_len)
{
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        *ret_len = strlen(tokens[i].name);
        if (strncmp(form, tokens[i].name, *ret_len) == 0) {
            *ret_part = (struct scheme_part){.kind = tokens[i].kind};
            return true;
        }
    }
    const char *end = strchr(form, '}');
    for (size_t i = 0; end && i < ARRAY_LEN(named); i++) {
        size_t start = strlen(named[i].start);
        *ret_len = (size_t)(end - form) + 1;
        if (strncmp(form, named[i].start, start) == 0 && *ret_len > start + 1) {
            *ret_part = part_of(named[i].kind, form + named[i].kept, *ret_len - named[i].kept - 1);
            return true;
        }
    }
    return false;
}

// "{timestamp}.{body}" into parts. A brace that starts no known token is refused, not taken as a
// literal: a misspelt {body} must not leave the body unsigned.
static bool form_parts(const char *form, struct scheme *row)
{
    for (size_t n = 0; *form; n++) {
        struct scheme_part part;
        size_t len = strcspn(form, "{}");
        if (n == SCHEME_PARTS_MAX)
            return false;
        if (len)
            part = part_of(PART_LITERAL, form, len);
        else if (!token_at(form, &part, &len))
            return false;
        row->form |= part.kind == PART_FIELD && part.literal.ptr[0] == ':';
        row->parts[n] = part;
        form += len;
    }
    return true;
}

static bool word_of(const char *word, const char *const names[], size_t n, int *ret_index)
{
    for (size_t i = 0; word && i < n; i++) {
        if (strcmp(word, names[i]) == 0) {
            *ret_index = (int)i;
            return true;
        }
    }
    return false;
}

// The words of the policy that are one of a few.
static bool words_into(const struct custom_verify *verify, struct scheme *row)
{
    static const char *const algorithms[] = {[HMAC_SHA1] = "hmac-sha1",
            [HMAC_SHA256] = "hmac-sha256",
            [HMAC_SHA512] = "hmac-sha512",
            [SIGN_ED25519] = "ed25519",
            [SIGN_ECDSA_P256] = "ecdsa-p256-sha256",
            [SIGN_RSA_SHA256] = "rsa-sha256"};
    static const char *const keys[] = {[SECRET_VERBATIM] = "verbatim",
            [SECRET_WHSEC] = "whsec",
            [SECRET_HEX] = "hex",
            [SECRET_BASE64] = "base64",
            [SECRET_SHA1] = "sha1",
            [SECRET_NFKD] = "nfkd"};
    static const char *const encodings[] = {"hex", "base64"};
    static const char *const units[] = {"seconds", "milliseconds", "iso"};
    int algorithm = 0, encoding = 0, unit = 0, key = 0;
    if (!word_of(verify->algorithm, algorithms, ARRAY_LEN(algorithms), &algorithm) ||
            !word_of(verify->encoding, encodings, ARRAY_LEN(encodings), &encoding))
        return false;
    if (verify->key && !word_of(verify->key, keys, ARRAY_LEN(keys), &key))
        return false;
    if (row->time.from != TIME_NONE &&
            !word_of(verify->timestamp_unit, units, ARRAY_LEN(units), &unit))
        return false;
    row->algorithm = (enum scheme_algorithm)algorithm;
    row->key = algorithm > SIGN_ED25519 ? SECRET_PEM : (enum scheme_key)key;
    row->encoding = encoding == 1 ? ENCODING_BASE64 : ENCODING_HEX;
    row->time.milliseconds = unit == 1;
    row->iso_time = unit == 2;
    return true;
}

static void time_into(const struct custom_verify *verify, struct scheme *row)
{
    const struct {
        const char *name;
        enum scheme_time_from from;
    } places[] = {{verify->timestamp_header, TIME_HEADER}, {verify->timestamp_item, TIME_ITEM},
            {verify->timestamp_field, TIME_FIELD}};
    for (size_t i = 0; i < ARRAY_LEN(places) && row->time.from == TIME_NONE; i++) {
        if (places[i].name)
            row->time = (struct scheme_time){places[i].from, places[i].name, false,
                    verify->tolerance_s, verify->tolerance_s};
    }
}

static bool copy_list(char *const *from, size_t n, const char **to, size_t max)
{
    for (size_t i = 0; i < n && n <= max; i++)
        to[i] = from[i];
    return n <= max;
}

// How the signature is found.
static bool signature_into(const struct custom_verify *verify, struct scheme *row)
{
    bool field = verify->signature_field != NULL;
    row->from = field ? SIGNATURE_FIELD : SIGNATURE_HEADER;
    row->header = field ? verify->signature_field : verify->signature_header;
    row->header_second = verify->signature_second;
    row->item_sep = verify->item_sep;
    row->kv_sep = verify->kv_sep;
    row->prefix = verify->signature_prefix ? verify->signature_prefix : "";
    bool named_items = !verify->kv_sep || verify->n_keys;
    return named_items && copy_list(verify->keys, verify->n_keys, row->keys, SCHEME_KEYS_MAX);
}

static bool signed_row(const struct custom_verify *verify, struct scheme *row)
{
    row->kind = SCHEME_HMAC;
    time_into(verify, row);
    if (!verify->signed_form || !signature_into(verify, row) || !words_into(verify, row) ||
            !form_parts(verify->signed_form, row))
        return false;
    row->once = !scheme_has_part(row, PART_BODY) && !scheme_has_part(row, PART_FORM) &&
                scheme_has_part(row, PART_FIELD);
    return scheme_sound(row);
}

static bool token_row(const struct custom_verify *verify, struct scheme *row)
{
    row->kind = SCHEME_TOKEN;
    row->prefix = verify->token_prefix ? verify->token_prefix : "";
    row->token = verify->token_header  ? TOKEN_HEADER
                 : verify->token_query ? TOKEN_QUERY
                                       : TOKEN_BASIC;
    row->header = verify->token_header  ? verify->token_header
                  : verify->token_query ? verify->token_query
                                        : "Authorization";
    return true;
}

// "body" is the body itself, whose pointer is empty.
static bool batch_into(const struct source *source, struct scheme *row)
{
    if (!copy_list(source->batch, source->n_batch, row->batch, SCHEME_BATCH_MAX))
        return false;
    for (size_t i = 0; row->batch[i]; i++) {
        if (strcmp(row->batch[i], "body") == 0)
            row->batch[i] = "";
    }
    return true;
}

static bool proof_into(const struct custom_verify *verify, struct scheme *row)
{
    if (verify->none) {
        row->kind = SCHEME_NONE;
        return true;
    }
    bool token = verify->token_header || verify->token_query || verify->token_basic;
    return token ? token_row(verify, row) : signed_row(verify, row);
}

bool custom_row(const struct source *source, struct scheme *ret_row)
{
    const struct custom_verify *verify = source->verify;
    if (!verify)
        return false;
    struct scheme row = {
            .name = source->scheme,
            .id = verify->id_header ? NULL : source->id_ptr,
            .id_header = verify->id_header,
            .id_digest = source->id_digest,
            .type = source->type_ptr,
            .type_header = verify->type_header,
            .happened = source->time_ptr,
    };
    bool none = verify->none != NULL, custom = strcmp(source->scheme, "custom") == 0;
    if (none == custom || !copy_list(source->scope, source->n_scope, row.scope, SCHEME_SCOPE_MAX) ||
            !copy_list(source->id_more, source->n_id_more, row.id_more, SCHEME_ID_MORE) ||
            !batch_into(source, &row) || !proof_into(verify, &row))
        return false;
    *ret_row = row;
    return true;
}

void *scheme_made(const struct source *source)
{
    struct scheme row;
    if (!custom_row(source, &row))
        return NULL;
    struct scheme *made = xmalloc(sizeof *made);
    *made = row;
    return made;
}
