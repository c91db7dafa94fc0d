#include "receiver/http/taken.h"

#include "common/clock.h"
#include "receiver/http/coded.h"
#include "receiver/http/kept.h"

#include <strings.h>

static struct slice find_header(const struct received *received, const char *name)
{
    for (size_t i = 0; i < received->n_headers; i++)
        if (slice_eq(received->headers[i].name, slice_of(name))) // h2o gives lower case
            return received->headers[i].value;
    return (struct slice){NULL, 0};
}

// By the content type, its parameters aside (RFC 9110 §8.3.1).
static bool is_form(const struct received *received)
{
    struct slice type = find_header(received, "content-type");
    static const char form[] = "application/x-www-form-urlencoded";
    size_t len = sizeof form - 1;
    if (type.len < len || strncasecmp((const char *)type.ptr, form, len) != 0)
        return false;
    return type.len == len || strchr("; \t", type.ptr[len]);
}

static char *query_of(struct slice target)
{
    const unsigned char *mark = memchr(target.ptr, '?', target.len);
    size_t skip = mark ? (size_t)(mark - target.ptr) + 1 : target.len;
    return slice_dup((struct slice){target.ptr + skip, target.len - skip});
}

// The header by which the policy's own rule proves a request: its name may say nothing of that.
static const char *proof_header(const struct source *source)
{
    const struct custom_verify *verify = source->verify;
    if (!verify)
        return NULL;
    return verify->token_header ? verify->token_header : verify->signature_header;
}

// Its name: by the time it is stored another policy may be active, whose secrets are others.
static char *secret_name(const struct source *source, int index)
{
    bool any = index >= 0 && (size_t)index < source->n_secrets;
    return any ? xstrdup(source->secrets[index].credential) : NULL;
}

struct arrival *taken_arrival(const struct source *source, const struct received *received,
        const struct verdict *verdict, const char **ret_reason)
{
    AUTO_TEXT struct text hold = {.max = 0};
    struct slice body;
    *ret_reason = coded_open(source, received, &hold, &body);
    if (*ret_reason)
        return NULL;
    struct arrival *arrival = arrival_new(slice_of(source->name), body, verdict->id, verdict->type);
    arrival->form = !verdict->app && is_form(received); // curl -d says form of all
    arrival->headers = kept_headers(received->headers, received->n_headers, proof_header(source));
    if (source->receipts)
        arrival->query = query_of(received->target);
    arrival->received_us = clock_now_us();
    arrival->secret = secret_name(source, verdict->secret_index);
    arrival->has_once = verdict->has_once;
    memcpy(arrival->once, verdict->once, sizeof arrival->once);
    return arrival;
}
