// Finds rows, and says what they say.
#include "receiver/verify/rows.h"

#include <pthread.h>

static const struct scheme_table *const tables[] = {&rows_body, &rows_timed, &rows_standard,
        &rows_url, &rows_fields, &rows_public, &rows_token, &rows_code};

// Every name of the catalogue, whether it runs or not.
static const struct catalogue {
    const char *name;
    int64_t horizon_s;
} catalogue[] = {
#define SCHEME(name, horizon_s) {name, horizon_s},
#include "receiver/verify/catalogue.def"
#undef SCHEME
};

// The rows by name, made once.
static const struct scheme *sorted[ARRAY_LEN(catalogue)];
static size_t n_sorted;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_rows(const void *a, const void *b)
{
    const struct scheme *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

static void sort_rows(void)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        for (size_t j = 0; j < tables[i]->n && n_sorted < ARRAY_LEN(sorted); j++)
            sorted[n_sorted++] = &tables[i]->rows[j];
    }
    qsort(sorted, n_sorted, sizeof sorted[0], compare_rows);
}

const struct scheme *scheme_row(const char *name)
{
    pthread_once(&once, sort_rows);
    const struct scheme wanted = {.name = name}, *key = &wanted;
    const struct scheme **found =
            name ? bsearch(&key, sorted, n_sorted, sizeof sorted[0], compare_rows) : NULL;
    return found ? *found : NULL;
}

const void *scheme_known_row(const char *name)
{
    return scheme_row(name);
}

const struct scheme *scheme_row_named(const struct source *source)
{
    return source->scheme_row ? source->scheme_row : scheme_row(source->scheme);
}

static const struct catalogue *catalogue_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(catalogue); i++) {
        if (strcmp(catalogue[i].name, name) == 0)
            return &catalogue[i];
    }
    return NULL;
}

// A row of code without its code only says what is known of it.
static bool row_runs(const struct scheme *row)
{
    return row && (row->kind != SCHEME_CODE || row->verify);
}

bool scheme_known(const char *name, bool *ret_active)
{
    if (!catalogue_find(name))
        return false;
    if (ret_active)
        *ret_active = row_runs(scheme_row(name));
    return true;
}

const char *scheme_at(size_t i)
{
    return i < ARRAY_LEN(catalogue) ? catalogue[i].name : NULL;
}

int64_t scheme_horizon_s(const char *name)
{
    const struct catalogue *entry = catalogue_find(name);
    return entry ? entry->horizon_s : 0;
}

const struct scheme *scheme_row_of(const struct source *source, struct scheme *room)
{
    const struct scheme *row = scheme_row_named(source);
    if (!row_runs(row))
        return NULL;
    if (row->kind != SCHEME_CUSTOM && row->kind != SCHEME_NONE)
        return row;
    if (source->row)
        return source->row;
    return custom_row(source, room) ? room : NULL;
}

const struct scheme *scheme_of(const struct source *source)
{
    struct scheme room;
    const struct scheme *row = scheme_row_of(source, &room);
    return row == &room ? scheme_row_named(source) : row;
}

bool scheme_is_app(const struct scheme *scheme)
{
    return scheme->kind == SCHEME_BEARER;
}

bool scheme_unverified(const struct source *source)
{
    struct scheme room;
    const struct scheme *row = scheme_row_of(source, &room);
    return row && row->kind == SCHEME_NONE;
}

// The policy's own pointer goes first: a source may know better where things stand.
const char *scheme_id_pointer(const struct scheme *scheme, const struct source *source)
{
    return scheme->id_header ? NULL : source->id_ptr ? source->id_ptr : scheme->id;
}

const char *scheme_type_pointer(const struct scheme *scheme, const struct source *source)
{
    return source->type_ptr ? source->type_ptr : scheme->type;
}

const char *scheme_type_more(const struct scheme *scheme)
{
    return scheme->type_more;
}

bool scheme_type_of_batch(const struct scheme *scheme)
{
    return scheme->type_of_batch;
}

const char *scheme_time_pointer(const struct scheme *scheme, const struct source *source)
{
    return source->time_ptr ? source->time_ptr : scheme->happened;
}

const char *const *scheme_scope_pointers(const struct scheme *scheme)
{
    return scheme->scope;
}

bool scheme_has_part(const struct scheme *row, enum scheme_part_kind kind)
{
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        if (row->parts[i].kind == kind)
            return true;
    }
    return false;
}

bool scheme_signs_url(const char *name)
{
    const struct scheme *row = scheme_row(name);
    return row && scheme_has_part(row, PART_URL);
}

enum policy_keys scheme_keys(const char *name)
{
    const struct scheme *row = scheme_row(name);
    if (row && row->kind == SCHEME_NONE)
        return KEYS_ANYBODY;
    if (!row || !row->published)
        return KEYS_SECRETS;
    return row->handshake == HANDSHAKE_SNS ? KEYS_TOPICS : KEYS_SET;
}

bool scheme_id_unsigned(const struct scheme *scheme)
{
    if (scheme->once)
        return true;
    return scheme->kind == SCHEME_HMAC && scheme->id_header && !scheme_has_part(scheme, PART_ID);
}

const char *scheme_id_header(const struct scheme *scheme)
{
    return scheme->id_header;
}

const char *scheme_type_header(const struct scheme *scheme)
{
    return scheme->type_header;
}

bool scheme_type_told(const struct scheme *scheme)
{
    return scheme->type_header || scheme->type_fixed;
}

const char *const *scheme_id_more(const struct scheme *scheme)
{
    return scheme->id_more;
}

bool scheme_id_digest(const struct scheme *scheme)
{
    return scheme->id_digest;
}

bool scheme_id_each(const struct scheme *scheme)
{
    return scheme->id_each;
}

const char *const *scheme_volatiles(const struct scheme *scheme)
{
    return scheme->volatiles;
}

const char *scheme_inner(const struct scheme *scheme)
{
    return scheme->inner;
}

bool scheme_inner_xml(const struct scheme *scheme)
{
    return scheme->inner_xml;
}

const char *const *scheme_batch(const struct scheme *scheme)
{
    return scheme->batch;
}

bool scheme_signs_inflated(const struct scheme *scheme, const struct source *source)
{
    return source->verify ? source->verify->inflated : scheme->inflated;
}

enum scheme_answer scheme_answer(const struct scheme *scheme)
{
    return scheme->answer;
}

enum scheme_refusal scheme_refusal(const struct scheme *scheme)
{
    return scheme->refusal;
}

enum scheme_handshake scheme_handshake(const struct scheme *scheme)
{
    return scheme->handshake;
}

const struct scheme *scheme_spoken(const struct scheme *row, const struct verify_request *request)
{
    struct slice value;
    bool speaks = !row->also || header_find(request, row->header, &value) != HEADER_NONE ||
                  header_find(request, row->also->header, &value) == HEADER_NONE;
    return speaks ? row : row->also;
}

// Of the fields in each member, or of a body's own, only what stands in them is believed.
static bool signs_fields_only(const struct scheme *row)
{
    return scheme_has_part(row, PART_FIELD) && !scheme_has_part(row, PART_BODY) &&
           !scheme_has_part(row, PART_FORM);
}

static bool signs_the_event(const struct scheme *row)
{
    return scheme_has_part(row, PART_BODY) || scheme_has_part(row, PART_FORM) ||
           signs_fields_only(row) || row->once;
}

bool scheme_sound(const struct scheme *row)
{
    bool timed = scheme_has_part(row, PART_TIMESTAMP) || row->time.from == TIME_FIELD ||
                 row->signed_headers;
    if (!row->header || !signs_the_event(row) ||
            (scheme_has_part(row, PART_ID) && !row->id_header && !row->id))
        return false;
    bool body_only = row->parts[0].kind == PART_BODY && row->parts[1].kind == PART_END;
    if (scheme_id_unsigned(row) && !body_only && !row->once)
        return false;
    if (row->scope[0] && signs_fields_only(row) && !row->once)
        return false;
    return timed == (row->time.from != TIME_NONE);
}
