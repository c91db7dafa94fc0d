#include "receiver/verify/claim.h"

#include "common/json/scan.h"
#include <strings.h>

void claim_fini(struct claim *claim)
{
    text_fini(&claim->id_text);
    text_fini(&claim->form);
    for (size_t i = 0; i < ARRAY_LEN(claim->urls); i++)
        text_fini(&claim->urls[i]);
}

enum header_found header_find(
        const struct verify_request *request, const char *name, struct slice *ret_value)
{
    enum header_found found = HEADER_NONE;
    size_t len = strlen(name);
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct verify_header *header = &request->headers[i];
        if (header->name.len != len || strncasecmp((const char *)header->name.ptr, name, len) != 0)
            continue;
        if (found != HEADER_NONE)
            return HEADER_MANY;
        found = HEADER_ONE;
        *ret_value = header->value;
    }
    return found;
}

bool header_value_ok(struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < 0x20 || value.ptr[i] == 0x7f)
            return false;
    }
    return true;
}

enum verify_reason header_one(const struct verify_request *request, const char *name,
        enum verify_reason absent, struct slice *ret_value)
{
    struct slice value = {NULL, 0};
    enum header_found found = header_find(request, name, &value);
    if (found == HEADER_MANY)
        return VERIFY_REPEATED_HEADER;
    if (found == HEADER_NONE || value.len == 0)
        return absent;
    if (value.len > SCHEME_HEADER_MAX || memchr(value.ptr, 0, value.len))
        return VERIFY_BAD_HEADER;
    *ret_value = value;
    return VERIFY_OK;
}

static struct slice skip(struct slice text, size_t n)
{
    return (struct slice){text.ptr + n, text.len - n};
}

// Cuts text at the first sep: *ret_head is what stands before it, text becomes what stands behind.
static bool cut(struct slice *text, const char *sep, struct slice *ret_head)
{
    size_t len = strlen(sep);
    const unsigned char *at = memmem(text->ptr, text->len, sep, len);
    if (!at)
        return false;
    *ret_head = (struct slice){text->ptr, (size_t)(at - text->ptr)};
    *text = skip(*text, ret_head->len + len);
    return true;
}

static bool is_signature_key(const struct scheme *row, struct slice name)
{
    for (size_t i = 0; row->keys[i]; i++) {
        if (slice_eq(name, slice_of(row->keys[i])))
            return true;
    }
    return false;
}

// An item without the row's prefix is of a version that is not known: passed over, like v0.
static enum verify_reason add_signature(
        const struct scheme *row, struct slice name, struct slice value, struct claim *claim)
{
    struct slice prefix = slice_of(row->prefix);
    if (!slice_starts(value, prefix))
        return VERIFY_OK;
    if (claim->n_signatures == SCHEME_CANDIDATES_MAX)
        return VERIFY_BAD_HEADER;
    claim->ed25519[claim->n_signatures] = row->ed25519 && slice_eq(name, slice_of(row->ed25519));
    claim->signatures[claim->n_signatures++] = skip(value, prefix.len);
    return VERIFY_OK;
}

static enum verify_reason read_item(
        const struct scheme *row, struct slice item, struct claim *claim)
{
    struct slice name = {NULL, 0};
    if (!row->kv_sep)
        return add_signature(row, name, item, claim);
    if (!cut(&item, row->kv_sep, &name))
        return row->time.from == TIME_ITEM ? VERIFY_BAD_HEADER : VERIFY_OK;
    if (is_signature_key(row, name))
        return add_signature(row, name, item, claim);
    if (row->time.from != TIME_ITEM || !slice_eq(name, slice_of(row->time.name)))
        return VERIFY_OK;
    // Parsers differ in which of two they take, so neither is.
    if (claim->timestamp.ptr)
        return VERIFY_BAD_HEADER;
    claim->timestamp = item;
    return VERIFY_OK;
}

static enum verify_reason read_signatures(
        const struct scheme *row, struct slice value, struct claim *claim)
{
    struct slice item;
    while (row->item_sep && cut(&value, row->item_sep, &item)) {
        enum verify_reason reason = read_item(row, item, claim);
        if (reason != VERIFY_OK)
            return reason;
    }
    enum verify_reason reason = read_item(row, value, claim);
    if (reason != VERIFY_OK)
        return reason;
    return claim->n_signatures ? VERIFY_OK : VERIFY_NO_VERSION;
}

// Digits only and no leading zero: "12abc", "+12", "1e9" and " 12" are read differently by
// different libraries.
static bool read_decimal(struct slice text, int64_t *ret_value)
{
    if (text.len == 0 || text.len > SCHEME_TIME_DIGITS_MAX || text.ptr[0] == '0')
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (text.ptr[i] - '0');
    }
    *ret_value = value;
    return true;
}

static enum verify_reason read_time(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    if (row->time.from == TIME_NONE)
        return VERIFY_OK;
    if (row->time.from == TIME_HEADER) {
        enum verify_reason reason =
                header_one(request, row->time.name, VERIFY_NO_TIME, &claim->timestamp);
        if (reason != VERIFY_OK)
            return reason;
    }
    if (!claim->timestamp.ptr)
        return VERIFY_NO_TIME;
    int64_t value = 0;
    if (!read_decimal(claim->timestamp, &value))
        return VERIFY_BAD_TIME;
    claim->at_s = row->time.milliseconds ? value / 1000 : value;
    return VERIFY_OK;
}

// The id as the body says it: nothing of it is believed before the digest is right.
static enum verify_reason read_body_id(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    struct json_result found = {0};
    text_init(&claim->id_text, JSON_ID_MAX);
    if (!row->id || !json_find(request->body, &row->id, 1, &found, NULL) ||
            found.found != JSON_FOUND || !json_plain(found.token, &claim->id_text, NULL))
        return VERIFY_NO_MATCH;
    claim->id = text_slice(&claim->id_text);
    return VERIFY_OK;
}

enum verify_reason claim_read_id(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        if (row->parts[i].kind != PART_ID)
            continue;
        if (row->id_header)
            return header_one(request, row->id_header, VERIFY_NO_HEADER, &claim->id);
        return read_body_id(row, request, claim);
    }
    return VERIFY_OK;
}

enum verify_reason claim_read(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim)
{
    struct slice value;
    enum verify_reason reason = header_one(request, row->header, VERIFY_NO_HEADER, &value);
    if (reason == VERIFY_OK)
        reason = read_signatures(row, value, claim);
    if (reason == VERIFY_OK)
        reason = read_time(row, request, claim);
    if (reason == VERIFY_OK)
        reason = claim_read_id(row, request, claim);
    return reason == VERIFY_OK ? claim_make_parts(row, source, request, claim) : reason;
}
