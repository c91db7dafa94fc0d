#include "receiver/arrival.h"

const char *event_outcome_name(enum event_outcome outcome)
{
    static const char *const names[] = {[EVENT_NONE] = "none",
            [EVENT_ACCEPTED] = "accepted",
            [EVENT_DUPLICATE] = "duplicate",
            [EVENT_MISMATCH] = "mismatch",
            [EVENT_REPLAY] = "replay",
            [EVENT_LATE] = "late",
            [EVENT_PARKED] = "parked",
            [EVENT_UNMAPPED] = "unmapped"};
    return (size_t)outcome < ARRAY_LEN(names) ? names[outcome] : "none";
}

const char *move_outcome_name(enum move_outcome outcome)
{
    static const char *const names[] = {[MOVE_NONE] = "none",
            [MOVE_APPLIED] = "applied",
            [MOVE_ALREADY_DONE] = "already_done",
            [MOVE_STALE] = "stale",
            [MOVE_EARLY] = "early",
            [MOVE_CONFLICT] = "conflict",
            [MOVE_UNKNOWN_ORDER] = "unknown_order"};
    return (size_t)outcome < ARRAY_LEN(names) ? names[outcome] : "none";
}

const char *receipt_kind_name(enum receipt_kind kind)
{
    static const char *const names[] = {[RECEIPT_NONE] = "none",
            [RECEIPT_ACCEPTED] = "accepted",
            [RECEIPT_DELIVERED] = "delivered",
            [RECEIPT_TEMPORARY] = "temporary",
            [RECEIPT_REFUSED] = "refused",
            [RECEIPT_BOUNCED] = "bounced",
            [RECEIPT_COMPLAINED] = "complained",
            [RECEIPT_UNSUBSCRIBED] = "unsubscribed"};
    return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "invalid";
}

// Copies bytes to *at and moves it behind them.
static struct slice keep(struct slice bytes, unsigned char **at)
{
    struct slice kept = {*at, bytes.len};
    if (bytes.len)
        memcpy(*at, bytes.ptr, bytes.len);
    *at += bytes.len;
    return kept;
}

// One block: the struct, the body, what the headers say.
struct arrival *arrival_new(
        struct slice source, struct slice body, struct slice header_id, struct slice header_type)
{
    struct arrival *arrival = xmalloc(sizeof *arrival + body.len + header_id.len + header_type.len);
    *arrival = (struct arrival){.id = key_random()};
    size_t n = source.len < sizeof arrival->source - 1 ? source.len : sizeof arrival->source - 1;
    memcpy(arrival->source, source.ptr, n);
    unsigned char *at = (unsigned char *)(arrival + 1);
    arrival->body = keep(body, &at);
    arrival->header_id = keep(header_id, &at);
    arrival->header_type = keep(header_type, &at);
    return arrival;
}

void event_clear_meaning(struct event *event)
{
    event->rule = NULL;
    event->to = -1;
    event->has_sequence = false;
    event->sequence = 0;
    free(steal(&event->order_id));
    free(steal(&event->receipt));
    free(event->contact);
    free(event->data);
    event->contact = xstrdup("{}");
    event->data = xstrdup("{}");
}

void arrival_drop_events(struct arrival *arrival)
{
    for (size_t i = 0; i < arrival->n_events; i++) {
        struct event *event = &arrival->events[i];
        free(event->scope);
        free(event->id);
        free(event->type);
        free(event->order_id);
        free(event->receipt);
        free(event->contact);
        free(event->data);
    }
    free(arrival->events);
    arrival->events = NULL;
    arrival->n_events = 0;
}

void arrival_free(struct arrival *arrival)
{
    if (!arrival)
        return;
    arrival_drop_events(arrival);
    free(arrival->marks);
    free(arrival->headers);
    free(arrival->query);
    free(arrival->secret);
    free(arrival);
}
