// Forgeries of a request of every provider: each is made of one that is accepted in the same
// breath, by changing what is signed, or what says that it is.
#include "common/form.h"
#include "tests/unit/receiver/verify/cases.h"

#include "tests/test.h"
#include <strings.h>

#define VECTORS "tests/vectors/signatures/"

enum {
    FORGED_LEAST = 300,
    BODY_BITS_LEAST = 60,
    FIELDS_BITS_MAX = 500,
    SIGNATURE_TAIL = 24,
    BESIDE = 16
};

struct forge {
    struct sig_case *original;
    const struct scheme *row;
    int n;
};

static void refuse(struct forge *forge, const struct verify_request *forged, const char *how)
{
    const struct source *source = &forge->original->source;
    if (forge->n++ % BESIDE == 0)
        assert_row(verify_request(source, &forge->original->request).reason == VERIFY_OK,
                forge->original->name);
    if (verify_request(source, forged).reason == VERIFY_OK)
        fail_msg("%s: accepted a forgery: %s", forge->original->name, how);
}

// --- What a body says of the fields that are signed, by another reader than the engine's

static const json_t *pointed(const json_t *json, struct slice pointer)
{
    AUTO_FREE char *path = slice_dup(pointer);
    for (char *rest = path, *name; json && (name = strsep(&rest, "/"));) {
        if (*name)
            json = json_object_get(json, name);
    }
    return json;
}

static bool same_value(const json_t *a, const json_t *b, struct slice pointer)
{
    const json_t *one = pointed(a, pointer), *other = pointed(b, pointer);
    return one == other || json_equal(one, other);
}

static bool same_fields(const struct scheme *row, const json_t *a, const json_t *b)
{
    bool same = same_value(a, b, slice_of(row->header));
    if (row->time.from == TIME_FIELD)
        same &= same_value(a, b, slice_of(row->time.name));
    for (const struct scheme_part *part = row->parts; part->kind != PART_END; part++) {
        if (part->kind == PART_FIELD)
            same &= same_value(a, b, part->literal);
    }
    return same;
}

static bool same_members(const struct scheme *row, const json_t *a, const json_t *b)
{
    const json_t *these = pointed(a, slice_of(row->batch[0]));
    const json_t *those = pointed(b, slice_of(row->batch[0]));
    bool same = json_array_size(these) == json_array_size(those);
    for (size_t i = 0; same && i < json_array_size(these); i++)
        same = same_fields(row, json_array_get(these, i), json_array_get(those, i));
    return same;
}

static struct slice pair_of(const struct form *form, struct slice pointer)
{
    struct slice name = {pointer.ptr + 1, pointer.len - 1}, nothing = {NULL, 0};
    for (size_t i = 0; i < form->n; i++) {
        if (slice_eq(form->pairs[i].name, name))
            return form->pairs[i].value;
    }
    return nothing;
}

// A changed value that means the same: hex digits in another case.
static bool equivalent(const struct scheme *row, struct slice a, struct slice b)
{
    return row->kind == SCHEME_HMAC && row->encoding == ENCODING_HEX && a.len == b.len &&
           strncasecmp((const char *)a.ptr, (const char *)b.ptr, a.len) == 0;
}

static bool same_form(const struct scheme *row, struct slice a, struct slice b)
{
    AUTO_FORM struct form these = {.n = 0};
    AUTO_FORM struct form those = {.n = 0};
    if (!form_parse(a, &these, NULL) || !form_parse(b, &those, NULL))
        return false;
    struct slice sign = slice_of(row->header), time = slice_of(row->time.name);
    struct slice one = pair_of(&these, sign), other = pair_of(&those, sign);
    bool same = slice_eq(one, other) || equivalent(row, one, other);
    // The name of a signature's item is not signed.
    if (row->kv_sep &&
            slice_eq(pair_of(&these, SLICE("/bt_payload")), pair_of(&those, SLICE("/bt_payload"))))
        return true;
    if (row->time.from == TIME_FIELD)
        same &= slice_eq(pair_of(&these, time), pair_of(&those, time));
    for (const struct scheme_part *part = row->parts; part->kind != PART_END; part++) {
        if (part->kind == PART_FIELD)
            same &= slice_eq(pair_of(&these, part->literal), pair_of(&those, part->literal));
    }
    return same;
}

// The change touches nothing that is signed: no forgery.
static bool says_the_same(const struct scheme *row, struct slice a, struct slice b)
{
    if (row->jwt || scheme_has_part(row, PART_BODY) || scheme_has_part(row, PART_FORM))
        return false;
    if (row->form)
        return same_form(row, a, b);
    json_t *one = json_loadb((const char *)a.ptr, a.len, JSON_DECODE_ANY, NULL);
    json_t *other = json_loadb((const char *)b.ptr, b.len, JSON_DECODE_ANY, NULL);
    bool same = one && other &&
                (row->each ? same_members(row, one, other) : same_fields(row, one, other));
    json_decref(one);
    json_decref(other);
    return same;
}

// --- The forgeries

static void forge_body(struct forge *forge)
{
    struct verify_request forged = forge->original->request;
    struct slice body = forged.body;
    AUTO_FREE unsigned char *copy = xmalloc(body.len + 1);
    // Where only fields are signed, most bits are no forgery.
    size_t most = FIELDS_BITS_MAX;
    if (scheme_has_part(forge->row, PART_BODY))
        most = forge->n + BODY_BITS_LEAST < FORGED_LEAST ? (size_t)(FORGED_LEAST - forge->n)
                                                         : BODY_BITS_LEAST;
    size_t bits = 8 * body.len, step = bits > most ? bits / most : 1;
    for (size_t bit = 0; bit < bits; bit += step) {
        memcpy(copy, body.ptr, body.len);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        forged.body = (struct slice){copy, body.len};
        if (!says_the_same(forge->row, body, forged.body))
            refuse(forge, &forged, "a bit of the body");
    }
    if (!scheme_has_part(forge->row, PART_BODY))
        return;
    memcpy(copy, body.ptr, body.len);
    copy[body.len] = '\n';
    forged.body = (struct slice){copy, body.len + 1};
    refuse(forge, &forged, "a line end behind the body");
}

static void forge_value(struct forge *forge, size_t which, size_t begin)
{
    struct verify_header headers[CASE_HEADERS_MAX];
    struct verify_request forged = forge->original->request;
    struct slice value = forged.headers[which].value;
    AUTO_FREE unsigned char *copy = xmalloc(value.len + 1);
    memcpy(headers, forged.headers, sizeof headers);
    forged.headers = headers;
    for (size_t bit = 8 * begin; bit < 8 * value.len; bit++) {
        memcpy(copy, value.ptr, value.len);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        headers[which].value = (struct slice){copy, value.len};
        if (!equivalent(forge->row, value, headers[which].value))
            refuse(forge, &forged, "a bit of a header");
    }
    for (size_t len = begin; len < value.len; len++) {
        headers[which].value = (struct slice){value.ptr, len};
        refuse(forge, &forged, "a header cut");
        memcpy(copy, value.ptr, len);
        copy[len] = 'A';
        memcpy(copy + len + 1, value.ptr + len, value.len - len);
        headers[which].value = (struct slice){copy, value.len + 1};
        refuse(forge, &forged, "a byte put into a header");
    }
    headers[which].name = SLICE("X-Another");
    refuse(forge, &forged, "a header renamed");
}

static bool named(struct slice name, const char *wanted)
{
    return wanted && name.len == strlen(wanted) &&
           strncasecmp((const char *)name.ptr, wanted, name.len) == 0;
}

// Where the value begins to be signed, or to be a signature; its length when it is neither.
static size_t forgeable_from(const struct scheme *row, const struct verify_header *header)
{
    bool signature = row->from != SIGNATURE_FIELD &&
                     (named(header->name, row->header) || named(header->name, row->header_second) ||
                             (row->from == SIGNATURE_NUMBERED &&
                                     slice_starts(header->name, slice_of(row->header))));
    bool whole = (row->time.from == TIME_HEADER && named(header->name, row->time.name)) ||
                 (scheme_has_part(row, PART_ID) && named(header->name, row->id_header));
    for (const struct scheme_part *part = row->parts; part->kind != PART_END; part++)
        whole |= part->kind == PART_HEADER &&
                 strncasecmp((const char *)part->literal.ptr, (const char *)header->name.ptr,
                         header->name.len) == 0;
    if (row->kind == SCHEME_TOKEN && signature)
        return row->token == TOKEN_BASIC ? 6 : strlen(row->prefix);
    if (signature)
        return header->value.len > SIGNATURE_TAIL ? header->value.len - SIGNATURE_TAIL : 0;
    return whole ? 0 : header->value.len;
}

static void forge_headers(struct forge *forge)
{
    const struct verify_request *request = &forge->original->request;
    for (size_t i = 0; i < request->n_headers; i++) {
        size_t begin = forgeable_from(forge->row, &request->headers[i]);
        if (begin < request->headers[i].value.len)
            forge_value(forge, i, begin);
    }
}

// A bit of the method, or of the query.
static void forge_slice(
        struct forge *forge, struct slice *slot, struct verify_request *forged, size_t begin)
{
    struct slice text = *slot;
    AUTO_FREE unsigned char *copy = xmalloc(text.len + 1);
    for (size_t bit = 8 * begin; bit < 8 * text.len; bit++) {
        memcpy(copy, text.ptr, text.len);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        *slot = (struct slice){copy, text.len};
        refuse(forge, forged, "a bit of the request line");
    }
    *slot = text;
}

static void forge_line(struct forge *forge)
{
    struct verify_request forged = forge->original->request;
    bool query = scheme_has_part(forge->row, PART_URL) ||
                 (forge->row->kind == SCHEME_TOKEN && forge->row->token == TOKEN_QUERY);
    size_t begin = forged.target.len - target_query(forged.target).len;
    while (query && forge->row->kind == SCHEME_TOKEN && forged.target.ptr[begin++] != '=')
        if (begin == forged.target.len)
            break;
    if (scheme_has_part(forge->row, PART_METHOD))
        forge_slice(forge, &forged.method, &forged, 0);
    if (query && begin < forged.target.len)
        forge_slice(forge, &forged.target, &forged, begin);
}

static void forge_secret(struct forge *forge)
{
    struct sig_case *original = forge->original;
    struct slice held = original->secrets[0].value;
    AUTO_FREE unsigned char *copy = xmalloc(held.len);
    memcpy(copy, held.ptr, held.len);
    copy[held.len / 2] ^= 3;
    original->secrets[0].value = (struct slice){copy, held.len};
    assert_row(verify_request(&original->source, &original->request).reason != VERIFY_OK,
            original->name);
    original->secrets[0].value = held;
    assert_row(verify_request(&original->source, &original->request).reason == VERIFY_OK,
            original->name);
}

// Not a case of its own: several candidates or secrets, of which one may be changed.
static bool is_plain(const struct sig_case *signed_case)
{
    static const char *const others[] = {"/list-two", "/second-header"};
    const char *name = strchr(signed_case->name, '/');
    bool plain = strcmp(signed_case->provider, "custom") == 0 || strcmp(name, "/ok") == 0 ||
                 strcmp(name, "/three") == 0;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        plain &= strcmp(name, others[i]) != 0;
    return plain && signed_case->accept && signed_case->source.n_secrets == 1;
}

static void forge_all(struct sig_case *signed_case, void *user)
{
    int *n = user;
    struct scheme room;
    const struct scheme *row = scheme_row_of(&signed_case->source, &room);
    if (!row || !is_plain(signed_case))
        return;
    struct forge forge = {signed_case, scheme_spoken(row, &signed_case->request), 0};
    forge_headers(&forge);
    forge_line(&forge);
    if (forge.row->kind == SCHEME_HMAC || forge.row->jwt)
        forge_body(&forge); // last: as many as are lacking
    forge_secret(&forge);
    bool by_member = forge.row->kind == SCHEME_TOKEN && forge.row->token == TOKEN_MEMBER;
    if (forge.n < FORGED_LEAST && !by_member)
        fail_msg("%s: only %d forgeries", signed_case->name, forge.n);
    ++*n;
}

static void refuses_every_forgery_of_every_provider(void **state)
{
    (void)state;
    int n = 0;
    assert_true(cases_each(VECTORS "providers.jsonl", forge_all, &n) > 0);
    assert_true(n >= 70);
}

static void refuses_every_forgery_of_the_policys_grammar(void **state)
{
    (void)state;
    int n = 0;
    assert_true(cases_each(VECTORS "grammars.jsonl", forge_all, &n) > 0);
    assert_true(n >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(refuses_every_forgery_of_every_provider),
            cmocka_unit_test(refuses_every_forgery_of_the_policys_grammar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
