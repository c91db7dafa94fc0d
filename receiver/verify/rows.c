#include "receiver/verify/scheme.h"

// The schemes that run. Facts: the provider's own documentation and library, named at each row.
static const struct scheme rows[] = {
        // https://docs.stripe.com/webhooks#verify-manually; stripe-node src/Webhooks.ts. The
        // library has no bound into the future; a clock that far off is refused here.
        {
                .name = "stripe",
                .kind = SCHEME_HMAC,
                .id = "/id",
                .type = "/type",
                .happened = "/created",
                .scope = {"/account", "/livemode"},
                .header = "Stripe-Signature",
                .item_sep = ",",
                .kv_sep = "=",
                .keys = {"v1"},
                .prefix = "",
                .time = {TIME_ITEM, "t", false, 300, 300},
                .parts = {{.kind = PART_TIMESTAMP}, {PART_LITERAL, {(const unsigned char *)".", 1}},
                        {.kind = PART_BODY}},
                .algorithm = HMAC_SHA256,
                .encoding = ENCODING_HEX_LOWER,
                .key = SECRET_VERBATIM,
        },
        {.name = "custom", .kind = SCHEME_CUSTOM},
        {.name = "app", .kind = SCHEME_BEARER, .type = "/type"},
};

// Every name of the catalogue, whether it runs or not.
static const struct catalogue {
    const char *name;
    int64_t horizon_s;
} catalogue[] = {
#define SCHEME(name, horizon_s) {name, horizon_s},
#include "receiver/verify/catalogue.def"
#undef SCHEME
};

const struct scheme *scheme_row(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

static const struct catalogue *catalogue_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(catalogue); i++) {
        if (strcmp(catalogue[i].name, name) == 0)
            return &catalogue[i];
    }
    return NULL;
}

bool scheme_known(const char *name, bool *ret_active)
{
    if (!catalogue_find(name))
        return false;
    if (ret_active)
        *ret_active = scheme_row(name) != NULL;
    return true;
}

int64_t scheme_horizon_s(const char *name)
{
    const struct catalogue *entry = catalogue_find(name);
    return entry ? entry->horizon_s : 0;
}

const struct scheme *scheme_of(const struct source *source)
{
    const struct scheme *row = scheme_row(source->scheme);
    struct scheme made;
    if (row && row->kind == SCHEME_CUSTOM && !custom_row(source, &made))
        return NULL;
    return row;
}

bool scheme_is_app(const struct scheme *scheme)
{
    return scheme->kind == SCHEME_BEARER;
}

// The policy's own pointer goes first: a source may know better where things stand.
const char *scheme_id_pointer(const struct scheme *scheme, const struct source *source)
{
    return scheme_is_app(scheme) ? NULL : source->id_ptr ? source->id_ptr : scheme->id;
}

const char *scheme_type_pointer(const struct scheme *scheme, const struct source *source)
{
    return source->type_ptr ? source->type_ptr : scheme->type;
}

const char *scheme_time_pointer(const struct scheme *scheme, const struct source *source)
{
    return source->time_ptr ? source->time_ptr : scheme->happened;
}

const char *const *scheme_scope_pointers(const struct scheme *scheme)
{
    return scheme->scope;
}

bool scheme_sound(const struct scheme *row)
{
    bool body = false, timestamp = false, id = false;
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        body = body || row->parts[i].kind == PART_BODY;
        timestamp = timestamp || row->parts[i].kind == PART_TIMESTAMP;
        id = id || row->parts[i].kind == PART_ID;
    }
    if (!row->header || !body || (id && !row->id_header && !row->id))
        return false;
    return timestamp == (row->time.from != TIME_NONE);
}
