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

// One block: the struct, the body, the idempotency key.
struct arrival *arrival_new(struct slice source, struct slice body, struct slice idempotency_key)
{
    struct arrival *arrival = xmalloc(sizeof *arrival + body.len + idempotency_key.len);
    *arrival = (struct arrival){.id = key_random(), .secret_index = -1};
    size_t n = source.len < sizeof arrival->source - 1 ? source.len : sizeof arrival->source - 1;
    memcpy(arrival->source, source.ptr, n);
    unsigned char *room = (unsigned char *)(arrival + 1);
    if (body.len)
        memcpy(room, body.ptr, body.len);
    arrival->body = (struct slice){room, body.len};
    if (idempotency_key.len)
        memcpy(room + body.len, idempotency_key.ptr, idempotency_key.len);
    arrival->idempotency_key = (struct slice){room + body.len, idempotency_key.len};
    return arrival;
}

void arrival_drop_events(struct arrival *arrival)
{
    for (size_t i = 0; i < arrival->n_events; i++) {
        struct event *event = &arrival->events[i];
        free(event->scope);
        free(event->id);
        free(event->type);
        free(event->order_id);
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
    free(arrival->headers);
    free(arrival);
}
