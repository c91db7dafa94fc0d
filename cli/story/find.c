#include "cli/story/story.h"

#include "cli/story_sql.h"
#include "common/clock.h"

#include <stdio.h>

#define FLIGHT_MS 12000

static bool fly(struct pg *pg, struct err *err)
{
    return pg_fly(pg, clock_mono_ms() + FLIGHT_MS, err);
}

static void all_buckets(struct pg *pg)
{
    pg_p_ints(pg);
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        pg_e_int(pg, bucket);
}

static char *text_at(const struct pg *pg, int row, int col)
{
    return pg_null(pg, 0, row, col) ? NULL : slice_dup(pg_bytes(pg, 0, row, col));
}

static bool find_order(struct story *story, struct pg *pg, int base, const char *id,
        bool *ret_found, struct err *err)
{
    pg_add(pg, base + STORY_ORDER_ROW);
    pg_p_int(pg, key_bucket(key_order(slice_of(id))));
    pg_p_text(pg, slice_of(id));
    if (!fly(pg, err))
        return false;
    *ret_found = pg_rows(pg, 0) > 0;
    if (!*ret_found)
        return true;
    story->has_order = true;
    story->state = text_at(pg, 0, 0);
    story->version = pg_int(pg, 0, 0, 1);
    if (!story->order)
        story->order = xstrdup(id);
    return true;
}

static void take_event(struct story *story, struct pg *pg, int row)
{
    story_add_event(story, (struct story_event){.bucket = pg_int(pg, 0, row, 0),
                                   .source = pg_int(pg, 0, row, 1),
                                   .scope = text_at(pg, row, 2),
                                   .id = text_at(pg, row, 3)});
}

// A number's id is kept with a '#' before its digits (json_id).
static bool find_event(struct story *story, struct pg *pg, int base, const char *ref,
        bool *ret_found, struct err *err)
{
    char number[300];
    snprintf(number, sizeof number, "#%s", ref);
    pg_add(pg, base + STORY_EVENT);
    all_buckets(pg);
    pg_p_texts(pg);
    pg_e_bytes(pg, slice_of(ref));
    pg_e_bytes(pg, slice_of(number));
    if (!fly(pg, err))
        return false;
    *ret_found = pg_rows(pg, 0) > 0;
    if (!*ret_found)
        return true;
    story->kind = OF_EVENT;
    for (int i = 0; i < pg_rows(pg, 0); i++)
        take_event(story, pg, i);
    story->only_event = text_at(pg, 0, 3);
    story->order = text_at(pg, 0, 4);
    return true;
}

static bool find_note(struct story *story, struct pg *pg, int base, struct key id, bool *ret_found,
        struct err *err)
{
    pg_add(pg, base + STORY_NOTIFICATION);
    all_buckets(pg);
    pg_p_uuid(pg, id);
    if (!fly(pg, err))
        return false;
    *ret_found = pg_rows(pg, 0) > 0;
    if (!*ret_found)
        return true;
    story->kind = OF_NOTIFICATION;
    story_add_note(story, (struct story_note){pg_int(pg, 0, 0, 0), id});
    story->only_event = text_at(pg, 0, 3);
    story->order = text_at(pg, 0, 4);
    struct key key = key_event(pg_bytes(pg, 0, 0, 5), pg_bytes(pg, 0, 0, 2), pg_bytes(pg, 0, 0, 3));
    story_add_event(story, (struct story_event){.bucket = key_bucket(key),
                                   .source = pg_int(pg, 0, 0, 1),
                                   .scope = text_at(pg, 0, 2),
                                   .id = text_at(pg, 0, 3)});
    return true;
}

struct message_ref {
    struct slice id;
    int64_t since_s;
};

static struct slice without_angles(const char *ref)
{
    struct slice id = slice_of(ref);
    if (id.len > 2 && id.ptr[0] == '<' && id.ptr[id.len - 1] == '>')
        id = (struct slice){id.ptr + 1, id.len - 2};
    return id;
}

static bool find_message(struct story *story, struct pg *pg, int base,
        const struct message_ref *ref, bool *ret_found, struct err *err)
{
    static const int statements[] = {STORY_PROVIDER_ID, STORY_MESSAGE_ID};
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        pg_add(pg, base + statements[i]);
        pg_p_text(pg, ref->id);
        pg_p_big(pg, ref->since_s);
        if (!fly(pg, err))
            return false;
        if (pg_rows(pg, 0) > 0)
            return find_note(story, pg, base, pg_uuid(pg, 0, 0, 0), ret_found, err);
    }
    return true;
}

bool story_find(struct story *story, struct pg *pg, int base, const char *ref, int64_t since_s,
        struct err *err)
{
    bool found = false, known = false;
    struct key id;
    // The cheapest look-up first.
    if (!find_order(story, pg, base, ref, &found, err))
        return false;
    if (found)
        return true;
    if (key_from_hex(slice_of(ref), &id) && !find_note(story, pg, base, id, &found, err))
        return false;
    if (!found && !find_event(story, pg, base, ref, &found, err))
        return false;
    // The once key: the id is its hash.
    if (!found && !find_note(story, pg, base, key_notification(slice_of(ref)), &found, err))
        return false;
    const struct message_ref message = {without_angles(ref), since_s};
    if (!found && !find_message(story, pg, base, &message, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOTFOUND,
                "no order, event, notification, once key or message is called '%.120s'", ref);
    return !story->order || find_order(story, pg, base, story->order, &known, err);
}
