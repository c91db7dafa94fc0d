#include "receiver/verify/scheme.h"

static const struct {
    const char *name;
    enum scheme_part_kind kind;
} tokens[] = {{"{timestamp}", PART_TIMESTAMP}, {"{body}", PART_BODY}, {"{id}", PART_ID}};

// The token at the start of form, its length in *ret_len; false when there is none.
static bool token_at(const char *form, enum scheme_part_kind *ret_kind, size_t *ret_len)
{
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        size_t len = strlen(tokens[i].name);
        if (strncmp(form, tokens[i].name, len) == 0) {
            *ret_kind = tokens[i].kind;
            *ret_len = len;
            return true;
        }
    }
    return false;
}

static struct scheme_part part_of(enum scheme_part_kind kind, const char *at, size_t len)
{
    return (struct scheme_part){kind, kind == PART_LITERAL
                                              ? (struct slice){(const unsigned char *)at, len}
                                              : (struct slice){NULL, 0}};
}

// "{timestamp}.{body}" into parts. A brace that starts no known token is refused, not taken as a
// literal: a misspelt {body} must not leave the body unsigned.
static bool form_parts(const char *form, struct scheme *row)
{
    size_t n = 0;
    while (*form) {
        enum scheme_part_kind kind = PART_LITERAL;
        size_t len = strcspn(form, "{}");
        if (len == 0 && !token_at(form, &kind, &len))
            return false;
        if (n == SCHEME_PARTS_MAX)
            return false;
        row->parts[n++] = part_of(kind, form, len);
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

// The three words of the policy that are one of a few.
static bool words_into(const struct custom_verify *verify, struct scheme *row)
{
    static const char *const algorithms[] = {[HMAC_SHA1] = "hmac-sha1",
            [HMAC_SHA256] = "hmac-sha256",
            [HMAC_SHA512] = "hmac-sha512"};
    static const char *const encodings[] = {"hex", "base64"};
    static const char *const units[] = {"seconds", "milliseconds"};
    int algorithm = 0, encoding = 0, unit = 0;
    if (!word_of(verify->algorithm, algorithms, ARRAY_LEN(algorithms), &algorithm) ||
            !word_of(verify->encoding, encodings, ARRAY_LEN(encodings), &encoding))
        return false;
    if (verify->timestamp_header &&
            !word_of(verify->timestamp_unit, units, ARRAY_LEN(units), &unit))
        return false;
    row->algorithm = (enum scheme_algorithm)algorithm;
    row->encoding = encoding == 1 ? ENCODING_BASE64 : ENCODING_HEX;
    row->time.milliseconds = unit == 1;
    return true;
}

bool custom_row(const struct source *source, struct scheme *ret_row)
{
    const struct custom_verify *verify = source->verify;
    if (!verify || !verify->signature_header || !verify->signed_form)
        return false;
    struct scheme row = {
            .name = "custom",
            .kind = SCHEME_HMAC,
            .id = source->id_ptr,
            .type = source->type_ptr,
            .happened = source->time_ptr,
            .header = verify->signature_header,
            .prefix = verify->signature_prefix ? verify->signature_prefix : "",
            .key = SECRET_VERBATIM,
    };
    if (verify->timestamp_header)
        row.time = (struct scheme_time){TIME_HEADER, verify->timestamp_header, false,
                verify->tolerance_s, verify->tolerance_s};
    if (!words_into(verify, &row) || !form_parts(verify->signed_form, &row) || !scheme_sound(&row))
        return false;
    *ret_row = row;
    return true;
}
