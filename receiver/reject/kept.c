#include "receiver/reject/kept.h"

static struct slice keep(struct slice bytes, unsigned char **at)
{
    struct slice kept = {*at, bytes.len};
    if (bytes.len)
        memcpy(*at, bytes.ptr, bytes.len);
    *at += bytes.len;
    return kept;
}

static void copy_text(char *to, size_t room, const char *from)
{
    size_t len = strnlen(from, room - 1);
    memcpy(to, from, len);
    to[len] = '\0';
}

struct kept *kept_request(const struct reject_request *request)
{
    struct slice body = request->body;
    bool cut = body.len > REJECT_BODY_MAX;
    body.len = cut ? REJECT_BODY_MAX : body.len;
    struct kept *kept = xmalloc(sizeof *kept + request->method.len + request->target.len +
                                request->headers.len + body.len);
    *kept = (struct kept){.id = key_random(),
            .source = request->source,
            .reason = request->reason,
            .received_us = request->received_us,
            .last_us = request->received_us,
            .body_bytes = request->body.len,
            .cut = cut};
    if (cut)
        sha256_of(request->body, kept->body_sha256);
    copy_text(kept->label, sizeof kept->label, request->label);
    copy_text(kept->peer, sizeof kept->peer, request->peer);
    unsigned char *at = (unsigned char *)(kept + 1);
    kept->method = keep(request->method, &at);
    kept->target = keep(request->target, &at);
    kept->headers = keep(request->headers, &at);
    kept->body = keep(body, &at);
    return kept;
}

struct kept *kept_tally(const struct tally *tally)
{
    struct kept *kept = xmalloc(sizeof *kept);
    *kept = (struct kept){.id = key_random(),
            .source = tally->source,
            .reason = tally->reason,
            .left_out = tally->n,
            .received_us = tally->first_us,
            .last_us = tally->last_us};
    return kept;
}

size_t kept_weight(const struct kept *kept)
{
    return sizeof *kept + kept->method.len + kept->target.len + kept->headers.len + kept->body.len;
}
