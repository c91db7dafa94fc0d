#include "cli/story/story.h"

#include "cli/format.h"
#include "cli/story_sql.h"
#include "common/clock.h"
#include "dispatcher/delivery.h"
#include "receiver/accept/settle.h"
#include "receiver/arrival.h"

#include <stdarg.h>
#include <stdio.h>

#define FLIGHT_MS 12000
#define CELL_MAX 600

// One flight's results while they are turned into lines.
struct reading {
    struct story *story;
    struct pg *pg;
    int base;
};

static char *PRINTF_LIKE(1, 2) cell(const char *fmt, ...)
{
    char text[CELL_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return xstrdup(text);
}

// A text column as a cell; blank when it is NULL.
static char *cell_of(const struct pg *pg, int row, int col)
{
    struct slice value = pg_null(pg, 0, row, col) ? SLICE("") : pg_bytes(pg, 0, row, col);
    value.len = value.len < CELL_MAX ? value.len : CELL_MAX;
    return slice_dup(value);
}

// Of what one transaction did at one moment, the path's order is told.
static int rank_of(const char *hop)
{
    static const char *const hops[] = {
            "inbox", "move", "waits", "notification", "claim", "provider", "receipt", "delivery"};
    int rank = 0;
    while (rank < (int)ARRAY_LEN(hops) && strcmp(hops[rank], hop) != 0)
        rank++;
    return rank;
}

static void add(struct story *story, struct story_line line)
{
    if (story->n_lines == story->room) {
        story->room = story->room ? story->room * 2 : 32;
        story->lines = xrealloc(story->lines, story->room * sizeof *story->lines);
    }
    line.nth = rank_of(line.hop) * 100000 + (int)story->n_lines;
    story->lines[story->n_lines++] = line;
}

static bool fly(const struct reading *reading, struct err *err)
{
    return pg_fly(reading->pg, clock_mono_ms() + FLIGHT_MS, err);
}

static void ask_order(const struct reading *reading, int stmt)
{
    const struct story *story = reading->story;
    const char *order = story->order;
    int bucket = order ? key_bucket(key_order(slice_of(order)))
                       : (story->n_events ? story->events[0].bucket : 0);
    pg_add(reading->pg, reading->base + stmt);
    pg_p_int(reading->pg, bucket);
    pg_p_text(reading->pg, slice_of(order));
    pg_p_text(reading->pg, slice_of(story->only_event));
}

static void ask_events(const struct reading *reading, int stmt)
{
    const struct story *story = reading->story;
    struct pg *pg = reading->pg;
    pg_add(pg, reading->base + stmt);
    pg_p_ints(pg);
    for (size_t i = 0; i < story->n_events; i++)
        pg_e_int(pg, story->events[i].bucket);
    pg_p_ints(pg);
    for (size_t i = 0; i < story->n_events; i++)
        pg_e_int(pg, story->events[i].source);
    pg_p_texts(pg);
    for (size_t i = 0; i < story->n_events; i++)
        pg_e_bytes(pg, slice_of(story->events[i].scope));
    pg_p_texts(pg);
    for (size_t i = 0; i < story->n_events; i++)
        pg_e_bytes(pg, slice_of(story->events[i].id));
}

static void ask_notes(const struct reading *reading, int stmt)
{
    const struct story *story = reading->story;
    pg_add(reading->pg, reading->base + stmt);
    pg_p_ints(reading->pg);
    for (size_t i = 0; i < story->n_notes; i++)
        pg_e_int(reading->pg, story->notes[i].bucket);
    pg_p_uuids(reading->pg);
    for (size_t i = 0; i < story->n_notes; i++)
        pg_e_uuid(reading->pg, story->notes[i].id);
}

// --- Events and what they did to the order

static void name_event(const struct reading *reading, int row, int source, int name, int scope)
{
    const struct pg *pg = reading->pg;
    struct key key = key_event(pg_bytes(pg, 0, row, name), pg_bytes(pg, 0, row, scope),
            pg_bytes(pg, 0, row, scope + 1));
    story_add_event(reading->story, (struct story_event){.bucket = key_bucket(key),
                                            .source = pg_int(pg, 0, row, source),
                                            .scope = slice_dup(pg_bytes(pg, 0, row, scope)),
                                            .id = slice_dup(pg_bytes(pg, 0, row, scope + 1))});
}

static void name_notes(const struct reading *reading, int row)
{
    struct story *story = reading->story;
    for (size_t i = 0; i < pg_array_len(reading->pg, 0, row, 10); i++) {
        struct slice bytes = pg_array_bytes(reading->pg, 0, row, 10, i);
        struct story_note note = {0};
        if (bytes.len != KEY_BYTES)
            continue;
        memcpy(note.id.bytes, bytes.ptr, KEY_BYTES);
        note.bucket =
                story->order ? key_bucket(key_order(slice_of(story->order))) : key_bucket(note.id);
        if (story->kind != OF_NOTIFICATION)
            story_add_note(story, note);
    }
}

static void move_line(const struct reading *reading, int row)
{
    struct story *story = reading->story;
    const struct pg *pg = reading->pg;
    enum move_outcome outcome = (enum move_outcome)pg_int(pg, 0, row, 4);
    AUTO_FREE char *from = cell_of(pg, row, 5);
    AUTO_FREE char *to = cell_of(pg, row, 6);
    name_event(reading, row, 0, 1, 2);
    name_notes(reading, row);
    if (!story->order && !*to)
        return; // an event that is about no order
    story->count.moves += outcome == MOVE_APPLIED;
    add(story, (struct story_line){.at_us = pg_big(pg, 0, row, 9),
                       .hop = "move",
                       .subject = cell("order %s", story->order ? story->order : "-"),
                       .what = cell("%s -> %s", *from ? from : "(new)", to),
                       .outcome = xstrdup(move_outcome_name(outcome)),
                       .detail = cell("version %d, policy v%d", pg_int(pg, 0, row, 7),
                               pg_int(pg, 0, row, 8))});
}

static void waiting_line(const struct reading *reading, int row)
{
    struct story *story = reading->story;
    const struct pg *pg = reading->pg;
    enum move_outcome reason = (enum move_outcome)pg_int(pg, 0, row, 6);
    AUTO_FREE char *to = cell_of(pg, row, 5);
    name_event(reading, row, 0, 1, 2);
    story->count.waiting++;
    add(story, (struct story_line){.at_us = pg_big(pg, 0, row, 7),
                       .hop = "waits",
                       .subject = cell_of(pg, row, 3),
                       .what = cell("-> %s", to),
                       .outcome = xstrdup("waiting"),
                       .detail = xstrdup(move_outcome_name(reason))});
}

static void event_line(const struct reading *reading, int row)
{
    struct story *story = reading->story;
    const struct pg *pg = reading->pg;
    enum event_outcome outcome = (enum event_outcome)pg_int(pg, 0, row, 3);
    AUTO_FREE char *source = cell_of(pg, row, 1);
    AUTO_FREE char *type = cell_of(pg, row, 4);
    AUTO_FREE char *secret = cell_of(pg, row, 5);
    AUTO_FREE char *reason = cell_of(pg, row, 6);
    story->count.copies++;
    // One without a reason waits for its order: `waiting` has it, as long as it does.
    story->count.parked +=
            outcome == EVENT_PARKED && *reason && strcmp(reason, EVENT_NOT_KEPT) != 0;
    add(story, (struct story_line){.at_us = pg_big(pg, 0, row, 2),
                       .hop = "inbox",
                       .subject = cell_of(pg, row, 0),
                       .what = cell("%s %s", source, type),
                       .outcome = xstrdup(event_outcome_name(outcome)),
                       .detail = cell("%s%s%s%s", *secret ? "secret " : "", secret,
                               *reason ? " " : "", reason)});
}

static void repeat_line(const struct reading *reading, int row)
{
    struct story *story = reading->story;
    const struct pg *pg = reading->pg;
    char ages[2 * FORMAT_MAX];
    int n = pg_int(pg, 0, row, 3);
    enum event_outcome outcome = (enum event_outcome)pg_int(pg, 0, row, 2);
    story->count.copies += n;
    story->count.caught += n;
    format_age_range(pg_big(pg, 0, row, 4), pg_big(pg, 0, row, 5), ages);
    add(story, (struct story_line){.at_us = pg_big(pg, 0, row, 6),
                       .hop = "inbox",
                       .subject = cell_of(pg, row, 0),
                       .what = cell_of(pg, row, 1),
                       .outcome = cell("%s x%d", event_outcome_name(outcome), n),
                       .detail = cell("caught, %s old", ages)});
}

// --- Messages

static void note_line(const struct reading *reading, int row)
{
    const struct pg *pg = reading->pg;
    char hex[KEY_HEX];
    key_hex(pg_uuid(pg, 0, row, 0), hex);
    AUTO_FREE char *once = cell_of(pg, row, 3);
    add(reading->story, (struct story_line){.at_us = pg_big(pg, 0, row, 4),
                                .hop = "notification",
                                .subject = steal(&once),
                                .what = cell_of(pg, row, 1),
                                .outcome = xstrdup("created"),
                                .detail = cell("%s, policy v%d", hex, pg_int(pg, 0, row, 2))});
}

static void count_delivery(struct story_count *count, enum delivery_state state, int channel)
{
    static const struct {
        enum delivery_state state;
        size_t member;
    } members[] = {{DELIVERY_DUE, offsetof(struct story_count, due)},
            {DELIVERY_WIRE, offsetof(struct story_count, due)},
            {DELIVERY_ACCEPTED, offsetof(struct story_count, accepted)},
            {DELIVERY_DELIVERED, offsetof(struct story_count, accepted)},
            {DELIVERY_COMPLAINED, offsetof(struct story_count, accepted)},
            {DELIVERY_UNKNOWN, offsetof(struct story_count, unknown)},
            {DELIVERY_WITHHELD, offsetof(struct story_count, other)},
            {DELIVERY_SUPERSEDED, offsetof(struct story_count, other)},
            {DELIVERY_CANCELLED, offsetof(struct story_count, other)}};
    size_t member = offsetof(struct story_count, failed);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (members[i].state == state)
            member = members[i].member;
    int *counter = (int *)(void *)((char *)count + member);
    (*counter)++;
    count->messages++;
    count->mails += channel == CHANNEL_EMAIL;
}

// What waits: when it is tried, and why not before.
static char *delivery_detail(const struct pg *pg, int row, const char *reason)
{
    char at[32];
    if (pg_null(pg, 0, row, 12))
        return cell(
                "%s%s", reason, pg_bool(pg, 0, row, 13) ? "; its address is suppressed now" : "");
    return cell("%s try %s%s%s", pg_int(pg, 0, row, 3) > 0 ? "next" : "first",
            clock_rfc3339(pg_big(pg, 0, row, 12), at), *reason ? ": " : "", reason);
}

static void delivery_line(const struct reading *reading, int row)
{
    struct story *story = reading->story;
    const struct pg *pg = reading->pg;
    int channel = pg_int(pg, 0, row, 1), tries = pg_int(pg, 0, row, 3);
    enum delivery_state state = (enum delivery_state)pg_int(pg, 0, row, 2);
    AUTO_FREE char *once = cell_of(pg, row, 0);
    AUTO_FREE char *reason = cell_of(pg, row, 7);
    AUTO_FREE char *address = format_recipient(channel, pg_bytes(pg, 0, row, 6));
    bool most_once = pg_int(pg, 0, row, 5) == AT_MOST_ONCE;
    count_delivery(&story->count, state, channel);
    story->count.possible_duplicates += pg_int(pg, 0, row, 4);
    if (!pg_null(pg, 0, row, 10))
        add(story,
                (struct story_line){.at_us = pg_big(pg, 0, row, 10),
                        .hop = "claim",
                        .subject = xstrdup(once),
                        .what = cell("%s to %s", channel_name((enum channel_kind)channel), address),
                        .outcome = xstrdup("on the wire"),
                        .detail = cell("attempt %d, %s", tries,
                                most_once ? "at-most-once" : "at-least-once")});
    if (state == DELIVERY_WIRE || (state == DELIVERY_ACCEPTED && tries > 0))
        return; // its claim or attempt says so
    add(story, (struct story_line){.at_us = pg_big(pg, 0, row, 9),
                       .hop = "delivery",
                       .subject = steal(&once),
                       .what = cell("%s to %s", channel_name((enum channel_kind)channel), address),
                       .outcome = xstrdup(delivery_state_name(state)),
                       .detail = delivery_detail(pg, row, reason)});
}

static void attempt_line(const struct reading *reading, int row)
{
    const struct pg *pg = reading->pg;
    AUTO_FREE char *enhanced = cell_of(pg, row, 5);
    AUTO_FREE char *detail = cell_of(pg, row, 6);
    int code = pg_null(pg, 0, row, 4) ? 0 : pg_int(pg, 0, row, 4);
    bool doubtful = pg_bool(pg, 0, row, 8);
    AUTO_FREE char *provider = cell_of(pg, row, 10);
    char number[16];
    snprintf(number, sizeof number, "%d", code);
    bool told_already = strncmp(detail, number, strlen(number)) == 0;
    AUTO_FREE char *told = told_already || code == 0
                                   ? cell("%s%s", detail, doubtful ? " (possible duplicate)" : "")
                                   : cell("%s %s%s%s%s", number, enhanced, *enhanced ? " " : "",
                                             detail, doubtful ? " (possible duplicate)" : "");
    add(reading->story, (struct story_line){.at_us = pg_big(pg, 0, row, 9),
                                .hop = "provider",
                                .subject = cell_of(pg, row, 0),
                                .what = cell("attempt %d%s%s, %d ms", pg_int(pg, 0, row, 2),
                                        *provider ? " by " : "", provider,
                                        pg_null(pg, 0, row, 7) ? 0 : pg_int(pg, 0, row, 7)),
                                .outcome = xstrdup(attempt_outcome_name(
                                        (enum attempt_outcome)pg_int(pg, 0, row, 3))),
                                .detail = steal(&told)});
}

static void receipt_line(const struct reading *reading, int row)
{
    const struct pg *pg = reading->pg;
    AUTO_FREE char *source = cell_of(pg, row, 1);
    AUTO_FREE char *event = cell_of(pg, row, 7);
    AUTO_FREE char *said = cell_of(pg, row, 8);
    int from = pg_int(pg, 0, row, 4), to = pg_int(pg, 0, row, 5);
    add(reading->story,
            (struct story_line){.at_us = pg_big(pg, 0, row, 9),
                    .hop = "receipt",
                    .subject = cell_of(pg, row, 0),
                    .what = cell("%s %s, %s", source, event,
                            receipt_kind_name((enum receipt_kind)pg_int(pg, 0, row, 2))),
                    .outcome = from == to ? xstrdup(settle_outcome_name(
                                                    (enum settle_outcome)pg_int(pg, 0, row, 3)))
                                          : cell("%s -> %s",
                                                    delivery_state_name((enum delivery_state)from),
                                                    delivery_state_name((enum delivery_state)to)),
                    .detail = steal(&said)});
}

bool story_read(struct story *story, struct pg *pg, int base, struct err *err)
{
    // Later parts need what earlier ones name: moves name events and notifications.
    static const struct {
        int stmt;
        void (*ask)(const struct reading *reading, int stmt);
        void (*line)(const struct reading *reading, int row);
    } parts[] = {
            {STORY_MOVES, ask_order, move_line},
            {STORY_WAITING, ask_order, waiting_line},
            {STORY_EVENTS, ask_events, event_line},
            {STORY_REPEATS, ask_events, repeat_line},
            {STORY_NOTIFICATIONS, ask_notes, note_line},
            {STORY_DELIVERIES, ask_notes, delivery_line},
            {STORY_ATTEMPTS, ask_notes, attempt_line},
            {STORY_RECEIPTS, ask_notes, receipt_line},
    };
    const struct reading reading = {story, pg, base};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        parts[i].ask(&reading, parts[i].stmt);
        if (!fly(&reading, err))
            return false;
        for (int row = 0; row < pg_rows(pg, 0); row++)
            parts[i].line(&reading, row);
    }
    return true;
}
