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

// A header that the scheme reads and that is no secret by itself: without it the request could not
// be verified again, or would be another event.
static bool is_read(const struct scheme *row, struct slice name)
{
    for (; row; row = row->also) {
        bool is_token = row->kind == SCHEME_BEARER || row->kind == SCHEME_TOKEN;
        if (is_name(row->id_header, name) || is_name(row->type_header, name))
            return true;
        if (!is_token && is_name(row->header, name))
            return true;
        if (row->time.from == TIME_HEADER && is_name(row->time.name, name))
            return true;
    }
    return false;
}

static void add_lines(const struct received *received, const struct scheme *row, struct text *out)
{
    for (size_t i = 0; i < received->n_headers; i++) {
        struct slice name = received->headers[i].name;
        bool hidden = lines_hide(name) && !is_read(row, name);
        if (!lines_add(out, name, received->headers[i].value, hidden))
            return; // more than h2o takes
    }
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
    struct scheme made;
    const struct scheme *row = scheme_of(refused->source);
    struct reject_request request = {.source = refused->source->id,
            .label = refused->source->name,
            .reason = refused->reason,
            .received_us = received_us(received),
            .method = received->method,
            .target = received->target,
            .body = received->body,
            .peer = refused->peer};
    if (!reject_wants(reject, &request))
        return;
    if (row && row->kind == SCHEME_CUSTOM)
        row = custom_row(refused->source, &made) ? &made : NULL;
    AUTO_TEXT struct text lines;
    text_init(&lines, LINES_MAX);
    add_lines(received, row, &lines);
    request.headers = text_slice(&lines);
    reject_keep(reject, &request);
}
