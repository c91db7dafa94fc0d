#include "receiver/quarantine.h"

#include "common/clock.h"
#include "receiver/reject/lines.h"
#include "receiver/verify/scheme.h"

#include <strings.h>

#define SECOND_US ((int64_t)1000000)

static bool is_name(const char *want, struct slice name)
{
    return want && strlen(want) == name.len &&
           strncasecmp(want, (const char *)name.ptr, name.len) == 0;
}

static bool is_token(const struct scheme *row)
{
    return row->kind == SCHEME_TOKEN || row->kind == SCHEME_BEARER;
}

static bool is_signed_part(const struct scheme *row, struct slice name)
{
    for (const struct scheme_part *part = row->parts; part->kind != PART_END; part++)
        if (part->kind == PART_HEADER && part->literal.len == name.len &&
                strncasecmp((const char *)part->literal.ptr, (const char *)name.ptr, name.len) == 0)
            return true;
    return false;
}

// A header that the scheme reads and that is no secret by itself: without it the request could not
// be verified again, or would be another event.
static bool is_read(const struct scheme *row, struct slice name)
{
    if (is_name(row->id_header, name) || is_name(row->type_header, name))
        return true;
    if (is_token(row))
        return false;
    return is_name(row->header, name) || is_name(row->header_second, name) ||
           is_name(row->signed_headers, name) || is_signed_part(row, name) ||
           (row->time.from == TIME_HEADER && is_name(row->time.name, name));
}

static bool is_hidden(const struct scheme *row, struct slice name)
{
    bool named = lines_hide(name);
    for (; row; row = row->also) {
        if (is_read(row, name))
            return false;
        named |= is_token(row) && row->token == TOKEN_HEADER && is_name(row->header, name);
    }
    return named;
}

static void add_lines(const struct received *received, const struct scheme *row, struct text *out)
{
    for (size_t i = 0; i < received->n_headers; i++) {
        struct slice name = received->headers[i].name;
        if (!lines_add(out, name, received->headers[i].value, is_hidden(row, name)))
            return; // more than h2o takes
    }
}

// A token may be a part of the URL: then its query is not kept.
static struct slice target_of(const struct received *received, const struct scheme *row)
{
    struct slice target = received->target;
    const unsigned char *query = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    bool hidden = row && row->kind == SCHEME_TOKEN && row->token == TOKEN_QUERY && query;
    return hidden ? (struct slice){target.ptr, (size_t)(query - target.ptr)} : target;
}

// Of the second by which the request was judged, so that it is judged by the same again.
static int64_t received_us(const struct received *received)
{
    int64_t now_us = clock_now_us();
    bool same = now_us / SECOND_US == received->now_s;
    return same ? now_us : received->now_s * SECOND_US;
}

void quarantine_refused(struct reject *reject, const struct refused *refused)
{
    const struct received *received = refused->received;
    struct scheme room;
    struct reject_request request = {.source = refused->source->id,
            .label = refused->source->name,
            .reason = refused->reason,
            .received_us = received_us(received),
            .method = received->method,
            .body = received->body,
            .peer = refused->peer};
    if (!reject_wants(reject, &request))
        return;
    const struct scheme *row = scheme_row_of(refused->source, &room);
    AUTO_TEXT struct text lines;
    text_init(&lines, LINES_MAX);
    add_lines(received, row, &lines);
    request.target = target_of(received, row);
    request.headers = text_slice(&lines);
    reject_keep(reject, &request);
}
