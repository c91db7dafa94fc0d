#include "cli/inbox/again.h"

#include "receiver/door.h"
#include "receiver/http/taken.h"
#include "receiver/reject/lines.h"
#include "receiver/verify/scheme.h"

#include <poll.h>

#define HEADERS_MAX 128
#define SECOND_US 1000000
#define LOOK_MS 50

// Without the hidden ones: their values are not those that were sent.
static size_t read_headers(
        struct slice lines, struct received_header headers[HEADERS_MAX], bool *ret_hidden)
{
    struct line line;
    size_t n = 0;
    *ret_hidden = false;
    while (n < HEADERS_MAX && lines_next(&lines, &line)) {
        *ret_hidden |= line.hidden;
        if (!line.hidden)
            headers[n++] = (struct received_header){line.name, line.value};
    }
    return n;
}

static void copy_reason(struct slice reason, char out[AGAIN_REASON_MAX])
{
    size_t len = reason.len < AGAIN_REASON_MAX ? reason.len : AGAIN_REASON_MAX - 1;
    memcpy(out, reason.ptr, len);
    out[len] = '\0';
}

static struct verdict verify(
        const struct source *source, const struct received *received, int64_t *wait_ms)
{
    struct verdict verdict = door_verify(source, received);
    while (verdict.kind == VERDICT_KEY_AWAY && *wait_ms > 0) {
        poll(NULL, 0, LOOK_MS);
        *wait_ms -= LOOK_MS;
        verdict = door_verify(source, received);
    }
    return verdict;
}

static bool is_token(const struct source *source)
{
    struct scheme room;
    const struct scheme *row = scheme_row_of(source, &room);
    return row && (row->kind == SCHEME_TOKEN || row->kind == SCHEME_BEARER);
}

void again_verify(
        const struct pg *pg, int row, const struct again_how *how, struct again *ret_again)
{
    struct received_header headers[HEADERS_MAX];
    *ret_again = (struct again){.id = pg_uuid(pg, 0, row, 0), .received_us = pg_big(pg, 0, row, 1)};
    copy_reason(pg_bytes(pg, 0, row, 2), ret_again->before);
    struct received received = {.method = pg_bytes(pg, 0, row, 3),
            .target = pg_bytes(pg, 0, row, 4),
            .headers = headers,
            .n_headers = read_headers(pg_bytes(pg, 0, row, 5), headers, &ret_again->hidden),
            .body = pg_bytes(pg, 0, row, 6),
            .body_max = how->body_max,
            .now_s = ret_again->received_us / SECOND_US};
    if (pg_bool(pg, 0, row, 7))
        return;
    struct verdict verdict = verify(how->source, &received, how->wait_ms);
    ret_again->hidden |= is_token(how->source);
    ret_again->now = verdict.reason;
    if (verdict.kind != VERDICT_OK)
        return;
    const char *unreadable = NULL;
    ret_again->arrival = taken_arrival(how->source, &received, &verdict, &unreadable);
    if (ret_again->arrival)
        ret_again->arrival->id = ret_again->id;
    else
        ret_again->now = unreadable;
}

// One that finds its own key was admitted by an earlier run.
static enum event_outcome outcome_of(const struct event *event)
{
    bool first = event->outcome == EVENT_ACCEPTED || event->outcome == EVENT_UNMAPPED ||
                 event->outcome == EVENT_PARKED || event->outcome == EVENT_LATE;
    return first && event->age_us > 0 ? EVENT_DUPLICATE : event->outcome;
}

void again_count(const struct arrival *arrival, struct again_outcomes *outcomes)
{
    for (size_t i = 0; i < arrival->n_events; i++)
        outcomes->n[outcome_of(&arrival->events[i])]++;
}

void again_write(const struct again_outcomes *outcomes, struct text *out)
{
    size_t all = 0, before = out->len;
    for (int i = 0; i < AGAIN_OUTCOMES; i++)
        all += outcomes->n[i];
    for (int i = 0; i < AGAIN_OUTCOMES; i++) {
        if (outcomes->n[i] == 0)
            continue;
        text_fmt(out, "%s%s", out->len > before ? ", " : "",
                event_outcome_name((enum event_outcome)i));
        if (all > 1)
            text_fmt(out, " %zu", outcomes->n[i]);
    }
    if (all == 0)
        text_str(out, "none");
}
