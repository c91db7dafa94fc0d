#include "receiver/verify/claim.h"

#include "common/json/scan.h"
#include <stdio.h>
#include <strings.h>

// Most schemes fill none of these.
static void drop(struct text *text)
{
    if (text->ptr)
        text_fini(text);
}

void claim_fini(struct claim *claim)
{
    drop(&claim->id_text);
    drop(&claim->form);
    drop(&claim->path);
    drop(&claim->signed_headers);
    form_fini(&claim->fields);
    for (size_t i = 0; i < ARRAY_LEN(claim->urls); i++)
        drop(&claim->urls[i]);
    for (size_t i = 0; i < ARRAY_LEN(claim->texts); i++)
        drop(&claim->texts[i]);
}

static enum header_found find_named(
        const struct verify_request *request, struct slice name, struct slice *ret_value)
{
    enum header_found found = HEADER_NONE;
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct verify_header *header = &request->headers[i];
        if (header->name.len != name.len ||
                strncasecmp((const char *)header->name.ptr, (const char *)name.ptr, name.len) != 0)
            continue;
        if (found != HEADER_NONE)
            return HEADER_MANY;
        found = HEADER_ONE;
        *ret_value = header->value;
    }
    return found;
}

enum header_found header_find(
        const struct verify_request *request, const char *name, struct slice *ret_value)
{
    return find_named(request, slice_of(name), ret_value);
}

bool header_value_ok(struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < 0x20 || value.ptr[i] == 0x7f)
            return false;
    }
    return true;
}

static bool readable(struct slice value)
{
    return value.len <= SCHEME_HEADER_MAX && (value.len == 0 || !memchr(value.ptr, 0, value.len));
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
    if (!readable(value))
        return VERIFY_BAD_HEADER;
    *ret_value = value;
    return VERIFY_OK;
}

bool slice_cut(struct slice *text, const char *sep, struct slice *ret_head)
{
    size_t len = strlen(sep);
    const unsigned char *at = text->len ? memmem(text->ptr, text->len, sep, len) : NULL;
    if (!at)
        return false;
    *ret_head = (struct slice){text->ptr, (size_t)(at - text->ptr)};
    *text = slice_from(*text, ret_head->len + len);
    return true;
}

static bool is_signature_key(const struct scheme *row, struct slice name)
{
    for (size_t i = 0; row->keys[i]; i++) {
        if (slice_eq(name, slice_of(row->keys[i])))
            return true;
    }
    return !row->keys[0];
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
    claim->ed25519[claim->n_signatures] = row->algorithm == SIGN_ED25519 ||
                                          (row->ed25519 && slice_eq(name, slice_of(row->ed25519)));
    claim->signatures[claim->n_signatures++] = slice_from(value, prefix.len);
    return VERIFY_OK;
}

static enum verify_reason read_item(
        const struct scheme *row, struct slice item, struct claim *claim)
{
    struct slice name = {NULL, 0};
    while (row->spaced && slice_starts(item, SLICE(" ")))
        item = slice_from(item, 1);
    if (row->time.from == TIME_FIRST && !claim->timestamp.ptr) {
        claim->timestamp = item;
        return VERIFY_OK;
    }
    if (!row->kv_sep)
        return add_signature(row, name, item, claim);
    if (!slice_cut(&item, row->kv_sep, &name))
        return row->time.from == TIME_ITEM ? VERIFY_BAD_HEADER : VERIFY_OK;
    if (row->time.from == TIME_ITEM && slice_eq(name, slice_of(row->time.name))) {
        // Parsers differ in which of two they take, so neither is.
        if (claim->timestamp.ptr)
            return VERIFY_BAD_HEADER;
        claim->timestamp = item;
        return VERIFY_OK;
    }
    return is_signature_key(row, name) ? add_signature(row, name, item, claim) : VERIFY_OK;
}

static enum verify_reason read_signatures(
        const struct scheme *row, struct slice value, struct claim *claim)
{
    struct slice item;
    while (row->item_sep && slice_cut(&value, row->item_sep, &item)) {
        enum verify_reason reason = read_item(row, item, claim);
        if (reason != VERIFY_OK)
            return reason;
    }
    return read_item(row, value, claim);
}

// One header or the other, or both; each at most once.
static enum verify_reason read_headers(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    enum verify_reason found = VERIFY_NO_HEADER;
    const char *const names[] = {row->header, row->header_second};
    for (size_t i = 0; i < ARRAY_LEN(names) && names[i]; i++) {
        struct slice value = {NULL, 0};
        enum verify_reason reason = header_one(request, names[i], VERIFY_NO_HEADER, &value);
        if (reason == VERIFY_OK)
            reason = read_signatures(row, value, claim);
        if (reason != VERIFY_OK && reason != VERIFY_NO_HEADER)
            return reason;
        if (reason == VERIFY_OK)
            found = VERIFY_OK;
    }
    return found;
}

// `header`1, `header`2 ..: as many as there are, none left out.
static enum verify_reason read_numbered(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    enum verify_reason reason = VERIFY_NO_HEADER;
    for (int i = 1; i <= SCHEME_NUMBERED_MAX; i++) {
        char name[80];
        struct slice value = {NULL, 0};
        snprintf(name, sizeof name, "%s%d", row->header, i);
        enum verify_reason found = header_one(request, name, VERIFY_NO_HEADER, &value);
        if (found == VERIFY_NO_HEADER)
            return reason;
        reason = found == VERIFY_OK ? read_signatures(row, value, claim) : found;
        if (reason != VERIFY_OK)
            return reason;
    }
    return reason;
}

static enum verify_reason read_field(const struct scheme *row, struct claim *claim)
{
    struct slice value = claim->values[VALUE_SIGNATURE];
    if (value.len == 0)
        return VERIFY_NO_HEADER;
    return readable(value) ? read_signatures(row, value, claim) : VERIFY_BAD_HEADER;
}

static enum verify_reason read_all_signatures(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    enum verify_reason reason;
    if (row->from == SIGNATURE_FIELD)
        reason = read_field(row, claim);
    else
        reason = row->from == SIGNATURE_NUMBERED ? read_numbered(row, request, claim)
                                                 : read_headers(row, request, claim);
    return reason == VERIFY_OK && claim->n_signatures == 0 ? VERIFY_NO_VERSION : reason;
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
    if (!scheme_has_part(row, PART_ID))
        return VERIFY_OK;
    if (row->id_header)
        return header_one(request, row->id_header, VERIFY_NO_HEADER, &claim->id);
    return read_body_id(row, request, claim);
}

// "key=..,algorithm=HMAC_SHA256": nobody can choose a weaker digest by it, since each needs the
// secret.
static enum verify_reason read_settings(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    claim->algorithm = row->algorithm;
    struct slice rest = {NULL, 0}, item, name;
    if (!row->settings)
        return VERIFY_OK;
    enum header_found found = header_find(request, row->settings, &rest);
    if (found == HEADER_MANY)
        return VERIFY_REPEATED_HEADER;
    for (bool more = found == HEADER_ONE; more;) {
        more = slice_cut(&rest, ",", &item);
        item = more ? item : rest;
        if (!slice_cut(&item, "=", &name) || !slice_eq(name, SLICE("algorithm")))
            continue;
        if (slice_eq(item, SLICE("HMAC_SHA256")))
            claim->algorithm = HMAC_SHA256;
        else if (!slice_eq(item, SLICE("HMAC_SHA1")))
            return VERIFY_NO_VERSION;
    }
    return VERIFY_OK;
}

enum verify_reason claim_read(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim)
{
    enum verify_reason reason = claim_read_fields(row, claim);
    if (reason == VERIFY_OK)
        reason = read_all_signatures(row, request, claim);
    if (reason == VERIFY_OK)
        reason = claim_read_time(row, request, claim);
    if (reason == VERIFY_OK)
        reason = claim_read_id(row, request, claim);
    if (reason == VERIFY_OK)
        reason = read_settings(row, request, claim);
    return reason == VERIFY_OK ? claim_make_parts(row, source, request, claim) : reason;
}

static struct slice header_of(const struct verify_request *request, struct slice name)
{
    struct slice value = {NULL, 0}, nothing = {NULL, 0};
    return find_named(request, name, &value) == HEADER_ONE ? value : nothing;
}

static struct slice piece_of(const struct scheme_part *part, size_t at, const struct claim *claim,
        const struct verify_request *request, size_t variant)
{
    switch (part->kind) {
    case PART_TIMESTAMP:
        return claim->timestamp;
    case PART_BODY:
        return request->body;
    case PART_ID:
        return claim->id;
    case PART_METHOD:
        return request->method;
    case PART_URL:
        return text_slice(&claim->urls[variant]);
    case PART_PATH:
        return text_slice(&claim->path);
    case PART_FORM:
        return text_slice(&claim->form);
    case PART_FIELD:
        return claim->values[at];
    case PART_HEADER:
        return header_of(request, part->literal);
    case PART_SIGNED_HEADERS:
        return text_slice(&claim->signed_headers);
    case PART_LITERAL:
    case PART_END:
        break;
    }
    return part->literal;
}

struct signed_bytes claim_bytes(const struct scheme *row, const struct claim *claim,
        const struct verify_request *request, size_t variant)
{
    struct signed_bytes made;
    for (made.n = 0; row->parts[made.n].kind != PART_END; made.n++)
        made.pieces[made.n] = piece_of(&row->parts[made.n], made.n, claim, request, variant);
    if (row->lost_line_end && variant == 1)
        made.pieces[made.n++] = SLICE("\n");
    return made;
}
