#include "receiver/verify/verify.h"

#include "receiver/verify/scheme.h"

const char *verify_reason_name(enum verify_reason reason)
{
    static const char *const names[VERIFY_REASON_COUNT] = {
#define REASON(id, text) [VERIFY_##id] = text,
#include "receiver/verify/reason.def"
#undef REASON
    };
    return (size_t)reason < ARRAY_LEN(names) ? names[reason] : "unknown";
}

// Twice is as good as not at all: readers differ in which they take.
static struct slice told_by(const struct verify_request *request, const char *header)
{
    struct slice value = {NULL, 0}, nothing = {NULL, 0};
    return header && header_find(request, header, &value) == HEADER_ONE ? value : nothing;
}

static struct verify_result run(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    switch (row->kind) {
    case SCHEME_HMAC:
        return engine_verify(row, source, request);
    case SCHEME_TOKEN:
        return token_verify(row, source, request);
    case SCHEME_BEARER:
        return app_verify(source, request);
    case SCHEME_CODE:
        return row->verify(row, source, request);
    case SCHEME_NONE:
        return (struct verify_result){.reason = VERIFY_OK, .secret_index = -1};
    case SCHEME_CUSTOM: // became a row of the others
        break;
    }
    return (struct verify_result){.reason = VERIFY_NO_SECRET, .secret_index = -1};
}

// Something to verify with. A source whose secrets all ended does not fall back to another kind.
static bool has_key(const struct scheme *row, const struct source *source, int64_t now_s)
{
    if (row->kind == SCHEME_NONE)
        return true;
    return secret_first_live(source, now_s) || (row->published && source->n_secrets == 0);
}

bool scheme_has_key(const struct source *source, int64_t now_s)
{
    const struct scheme *row = scheme_row_named(source);
    return row && has_key(row, source, now_s);
}

struct verify_result verify_request(
        const struct source *source, const struct verify_request *request)
{
    struct scheme room;
    const struct scheme *row = scheme_row_of(source, &room);
    __builtin_prefetch(source->secrets); // on its way while the headers are read
    // Where a digest is wanted, no secret that ended makes one: whether there is one at all is
    // asked behind, when the secrets are near.
    if (!row || (row->kind != SCHEME_HMAC && !has_key(row, source, request->now_s)))
        return (struct verify_result){.reason = VERIFY_NO_SECRET, .secret_index = -1};
    row = scheme_spoken(row, request);
    struct verify_result result = run(row, source, request);
    if (result.reason != VERIFY_OK) {
        if (!has_key(row, source, request->now_s))
            result = (struct verify_result){.reason = VERIFY_NO_SECRET, .secret_index = -1};
        return result;
    }
    if (row->id_header)
        result.id = told_by(request, row->id_header);
    if (row->type_header)
        result.type = told_by(request, row->type_header);
    if (row->type_fixed)
        result.type = slice_of(row->type_fixed);
    return result;
}

bool verify_sign(const struct source *source, struct slice body, struct slice event_id,
        int64_t now_s, struct text *out, struct err *err)
{
    struct scheme room;
    const struct scheme *row = scheme_row_of(source, &room);
    if (!row || row->kind == SCHEME_CODE)
        return err_set(err, ERR_INPUT, "scheme \"%s\" of source \"%s\" %s", source->scheme,
                source->name, row ? "is not signed here" : "does not run yet");
    if (row->kind == SCHEME_NONE)
        return true;
    const struct secret *secret = secret_first_live(source, now_s);
    if (!secret)
        return err_set(
                err, ERR_NOTFOUND, "source \"%s\" has no live secret to sign with", source->name);
    if (row->kind == SCHEME_BEARER)
        return app_sign(secret, event_id, out, err);
    if (row->kind == SCHEME_TOKEN)
        return token_sign(row, secret, event_id, out, err);
    struct verify_request request = {.method = SLICE("POST"), .body = body, .now_s = now_s};
    return engine_sign(row, source, &request, event_id, out, err);
}
