#include "receiver/http/answer.h"

#include "common/json/scan.h"

static const struct row {
    int status;
    const char *reason, *code, *title, *outcome, *flags;
} rows[ROW_COUNT] = {
#define ANSWER_ROW(id, status, reason, code, title, outcome, flags)                                \
    [ROW_##id] = {status, reason, code, title, outcome, flags},
#include "receiver/http/answer.def"
#undef ANSWER_ROW
};

enum answer_row answer_row_of(enum answer answer)
{
    static const enum answer_row of[] = {[ANSWER_NONE] = ROW_UNAVAILABLE,
            [ANSWER_OK] = ROW_RECEIVED,
            [ANSWER_OUTCOME] = ROW_OUTCOME,
            [ANSWER_REPLAYED] = ROW_REPLAYED,
            [ANSWER_MISMATCH] = ROW_MISMATCH,
            [ANSWER_UNREADABLE] = ROW_UNREADABLE,
            [ANSWER_IN_FLIGHT] = ROW_IN_FLIGHT,
            [ANSWER_UNAVAILABLE] = ROW_UNAVAILABLE};
    return (size_t)answer < ARRAY_LEN(of) ? of[answer] : ROW_UNAVAILABLE;
}

enum answer_row answer_styled(enum answer_row row, enum reply_style style)
{
    static const enum answer_row received[] = {[STYLE_DEFAULT] = ROW_RECEIVED,
            [STYLE_EMPTY] = ROW_RECEIVED_EMPTY,
            [STYLE_NO_CONTENT] = ROW_RECEIVED_NOTHING,
            [STYLE_ACCEPTED] = ROW_RECEIVED_ACCEPTED,
            [STYLE_UNSUBSCRIBED] = ROW_UNSUBSCRIBED,
            [STYLE_CLIENT_ID] = ROW_RECEIVED,
            [STYLE_REFUSE_498] = ROW_RECEIVED};
    if (row == ROW_RECEIVED && (size_t)style < ARRAY_LEN(received))
        return received[style];
    return row == ROW_UNAUTHORIZED && style == STYLE_REFUSE_498 ? ROW_TOKEN_INVALID : row;
}

// An app request is one event: what became of it is the move where it was judged, else the event's
// own outcome. A repeat carries the stored move; an app's first that left none was unmapped, since
// what is parked without being judged is never stored.
static const char *told_outcome(const struct event *event)
{
    if (event->move != MOVE_NONE)
        return move_outcome_name(event->move);
    return event_outcome_name(event->outcome == EVENT_DUPLICATE ? EVENT_UNMAPPED : event->outcome);
}

static void add_member(struct text *out, const char *name, const char *value)
{
    if (!value)
        return;
    text_fmt(out, ",\"%s\":", name);
    json_quote(out, slice_of(value));
}

static void add_outcome(struct text *out, const struct arrival *arrival)
{
    static const struct event none = {.outcome = EVENT_ACCEPTED};
    const struct event *event = arrival && arrival->n_events ? &arrival->events[0] : &none;
    text_fmt(out, "{\"outcome\":\"%s\"", told_outcome(event));
    add_member(out, "order", event->order_id);
    add_member(out, "event", event->id);
    text_str(out, "}\n");
}

// What an unreadable app request lacks is said: its sender is a service of ours.
static const char *parked_reason(const struct arrival *arrival)
{
    return arrival && arrival->n_events ? arrival->events[0].parked_reason : NULL;
}

static void add_problem(struct text *out, enum answer_row row, const struct arrival *arrival)
{
    text_fmt(out, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"code\":\"%s\"",
            rows[row].title, rows[row].status, rows[row].code);
    if (row == ROW_UNREADABLE)
        add_member(out, "detail", parked_reason(arrival));
    text_str(out, "}\n");
}

static const char *allowed(const char *flags)
{
    if (strchr(flags, 'G'))
        return "GET, POST";
    return strchr(flags, 'A') ? "POST" : NULL;
}

void answer_make(enum answer_row row, const struct arrival *arrival, struct answer_shape *ret_shape,
        struct text *out)
{
    const struct row *from = &rows[row];
    bool good = from->status < 300, bare = strchr(from->flags, 'E') != NULL;
    bool plain = row == ROW_RECEIVED_ACCEPTED || row == ROW_UNSUBSCRIBED;
    const char *type = plain  ? "text/plain"
                       : good ? "application/json"
                              : "application/problem+json";
    *ret_shape = (struct answer_shape){.status = from->status,
            .reason = from->reason,
            .content_type = bare ? NULL : type,
            .close = strchr(from->flags, 'C'),
            .soon = strchr(from->flags, 'S'),
            .retry_after = strchr(from->flags, 'R'),
            .allow = allowed(from->flags),
            .authenticate = strchr(from->flags, 'W'),
            .replayed = strchr(from->flags, 'I')};
    if (row == ROW_RECEIVED)
        text_str(out, "{\"received\":true}\n");
    else if (row == ROW_RECEIVED_ACCEPTED)
        text_str(out, "[accepted]");
    else if (row == ROW_UNSUBSCRIBED)
        text_str(out, "You are unsubscribed.\n");
    else if (good && !bare)
        add_outcome(out, arrival);
    else if (!good)
        add_problem(out, row, arrival);
}

const char *answer_outcome(enum answer_row row, const struct arrival *arrival)
{
    if (rows[row].outcome[0])
        return rows[row].outcome;
    if (!arrival)
        return event_outcome_name(EVENT_PARKED);
    if (arrival->n_events == 0)
        return "empty"; // a batch of none
    const struct event *told = &arrival->events[0];
    for (size_t i = 0; i < arrival->n_events; i++)
        if (arrival->events[i].outcome == EVENT_ACCEPTED)
            told = &arrival->events[i];
    return event_outcome_name(told->outcome);
}

const char *answer_code(enum answer_row row)
{
    return rows[row].code;
}
