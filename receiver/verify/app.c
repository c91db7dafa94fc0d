#include "receiver/verify/scheme.h"

#include "common/utf8.h"

#include <strings.h>

enum { APP_ID_MAX = 255 }; // bytes of an Idempotency-Key

// RFC 6750 §2.1; the scheme's name in any case (RFC 9110 §11.1).
static enum verify_reason read_token(const struct verify_request *request, struct slice *ret_token)
{
    struct slice value = {NULL, 0}, scheme = SLICE("Bearer ");
    enum header_found found = header_find(request, "Authorization", &value);
    if (found == HEADER_MANY)
        return VERIFY_REPEATED_HEADER;
    if (found == HEADER_NONE || value.len == 0)
        return VERIFY_NO_HEADER;
    if (value.len > SCHEME_HEADER_MAX || value.len <= scheme.len ||
            strncasecmp((const char *)value.ptr, (const char *)scheme.ptr, scheme.len) != 0)
        return VERIFY_BAD_HEADER;
    *ret_token = (struct slice){value.ptr + scheme.len, value.len - scheme.len};
    return VERIFY_OK;
}

static bool id_ok(struct slice id)
{
    return id.len >= 1 && id.len <= APP_ID_MAX && utf8_is_printable_ascii(id);
}

struct verify_result app_verify(const struct source *source, const struct verify_request *request)
{
    struct slice token = {NULL, 0}, id = {NULL, 0};
    enum verify_reason reason = read_token(request, &token);
    if (reason != VERIFY_OK)
        return (struct verify_result){.reason = reason, .secret_index = -1};
    int match = token_match(source, token, request->now_s);
    if (match < 0)
        return (struct verify_result){.reason = VERIFY_NO_MATCH, .secret_index = -1};
    bool named = header_find(request, "Idempotency-Key", &id) == HEADER_ONE && id_ok(id);
    reason = named ? VERIFY_OK : VERIFY_NO_ID;
    return (struct verify_result){.reason = reason, .secret_index = match};
}

bool app_sign(const struct secret *secret, struct slice event_id, struct text *out, struct err *err)
{
    if (!id_ok(event_id))
        return err_set(
                err, ERR_INPUT, "an event id is 1 to %d printable ASCII characters", APP_ID_MAX);
    if (!header_value_ok(secret->value))
        return err_set(err, ERR_INPUT,
                "secret \"%s\" can't be a bearer token: it holds a control "
                "character",
                secret->credential);
    text_str(out, "Authorization: Bearer ");
    text_add(out, secret->value);
    text_str(out, "\r\nIdempotency-Key: ");
    text_add(out, event_id);
    text_str(out, "\r\n");
    return !out->overflow || err_set(err, ERR_INPUT, "the headers are too long");
}
