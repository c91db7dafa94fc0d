// The rows that a batch's judgements leave: moves, notifications, deliveries, due.
#include "receiver/accept/accept_sql.h"
#include "receiver/accept/devices.h"
#include "receiver/accept/rows.h"
#include "receiver/accept/values.h"

#define RECIPIENT_MAX 255
#define ADDRESS_MAX 320 // RFC 5321 4.5.3.1: 64 + "@" + 255

static void put_text(struct pg *pg, const char *text)
{
    pg_e_bytes(pg, text ? slice_of(text) : (struct slice){NULL, 0});
}

// Which notes came of which judgement: lists, in the order of the notes.
struct owed {
    size_t *first; // by judgement; SIZE_MAX = none
    size_t *next;  // by note
};

static struct owed owed_of(const struct batch *batch)
{
    struct owed owed = {.first = xmalloc((batch->judgements.n + batch->n_notes) * sizeof(size_t))};
    owed.next = owed.first + batch->judgements.n;
    for (size_t j = 0; j < batch->judgements.n; j++)
        owed.first[j] = SIZE_MAX;
    for (size_t i = batch->n_notes; i-- > 0;) {
        size_t judgement = batch->notes[i].judgement;
        owed.next[i] = owed.first[judgement];
        owed.first[judgement] = i;
    }
    return owed;
}

// The notifications that came of a judgement, as an array literal; NULL when there are none.
static void put_made(
        struct pg *pg, const struct batch *batch, const struct owed *owed, size_t judgement)
{
    AUTO_TEXT struct text literal;
    text_init(&literal, 64 * 1024);
    for (size_t i = owed->first[judgement]; i != SIZE_MAX; i = owed->next[i]) {
        char hex[KEY_HEX];
        if (!batch->notes[i].made)
            continue;
        key_hex(batch->notes[i].id, hex);
        text_fmt(&literal, "%s%s", literal.len ? "," : "{", hex);
    }
    if (literal.len == 0) {
        pg_e_null(pg);
        return;
    }
    text_char(&literal, '}');
    pg_e_bytes(pg, text_slice(&literal));
}

static const struct order_run *run_of(const struct batch *batch, const struct judgement *row)
{
    return row->order == SIZE_MAX ? NULL : &batch->orders[row->order];
}

static int bucket_of(const struct batch *batch, const struct judgement *row)
{
    const struct order_run *run = run_of(batch, row);
    if (run)
        return run->bucket;
    const struct source *source = policy_source_by_id(batch->policy, row->event.source);
    return key_bucket(
            key_event(slice_of(source->name), slice_of(row->event.scope), slice_of(row->event.id)));
}

#define MOVES(begin, put)                                                                          \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < batch->judgements.n; i_++) {                                      \
            const struct judgement *row = &batch->judgements.rows[i_];                             \
            (void)row;                                                                             \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

void rows_moves(struct pg *pg, const struct batch *batch)
{
    struct owed owed = owed_of(batch);
    pg_add(pg, ACCEPT_MOVES);
    MOVES(pg_p_ints, pg_e_int(pg, bucket_of(batch, row)));
    MOVES(pg_p_ints, pg_e_int(pg, row->event.source));
    MOVES(pg_p_ints, pg_e_int(pg, (int)row->outcome));
    MOVES(pg_p_ints, pg_e_int(pg, row->from_id));
    MOVES(pg_p_ints, pg_e_int(pg, row->event.to_id));
    MOVES(pg_p_ints, pg_e_int(pg, row->version));
    MOVES(pg_p_ints, pg_e_int(pg, (int)i_));
    MOVES(pg_p_texts, put_text(pg, run_of(batch, row) ? run_of(batch, row)->id : NULL));
    MOVES(pg_p_texts, put_text(pg, row->event.id));
    MOVES(pg_p_texts, put_text(pg, row->event.scope));
    MOVES(pg_p_bigs, row->event.has_sequence ? pg_e_big(pg, row->event.sequence) : pg_e_null(pg));
    MOVES(pg_p_texts, put_made(pg, batch, &owed, i_));
    pg_p_int(pg, batch->policy->version);
    free(owed.first);
}

#define NOTES(begin, put)                                                                          \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < batch->n_notes; i_++) {                                           \
            const struct note *note = &batch->notes[i_];                                           \
            const struct judgement *row = &batch->judgements.rows[note->judgement];                \
            const struct order_run *run = run_of(batch, row);                                      \
            (void)row, (void)run;                                                                  \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

void rows_notifications(struct pg *pg, const struct batch *batch)
{
    pg_add(pg, ACCEPT_NOTIFICATIONS);
    NOTES(pg_p_ints, pg_e_int(pg, note->bucket));
    NOTES(pg_p_ints, pg_e_int(pg, note->message->id));
    NOTES(pg_p_ints, pg_e_int(pg, run ? row->version : 0));
    NOTES(pg_p_uuids, pg_e_uuid(pg, note->id));
    NOTES(pg_p_ints, pg_e_int(pg, row->event.source));
    NOTES(pg_p_texts, put_text(pg, note->once));
    NOTES(pg_p_texts, put_text(pg, run ? run->id : NULL));
    NOTES(pg_p_texts, put_text(pg, row->event.id));
    NOTES(pg_p_texts, put_text(pg, row->event.scope));
    NOTES(pg_p_texts, put_text(pg, note->data));
    pg_p_int(pg, batch->policy->version);
}

// One delivery to be made.
struct fresh {
    const struct note *note;
    const struct step *step;
    char *address; // owned, NULL = there is none
    char *zone, *recipient;
    const char *reason; // why it is withheld at once; NULL = it is due
    char target[DEVICE_TARGET_ROOM];
};

struct freshes {
    struct fresh *rows;
    size_t n;
};

static const char *const address_member[CHANNEL_COUNT] = {
        [CHANNEL_EMAIL] = "email", [CHANNEL_SMS] = "phone"};

static struct fresh *add_fresh(
        struct freshes *list, const struct note *note, const struct step *step, char *address)
{
    list->rows = xrealloc(list->rows, (list->n + 1) * sizeof *list->rows);
    struct fresh *fresh = &list->rows[list->n++];
    *fresh = (struct fresh){.note = note,
            .step = step,
            .address = address,
            .zone = values_text(note->contact, "timezone", 64),
            .recipient = values_id(note->contact, "id", RECIPIENT_MAX),
            .reason = address ? NULL : "no address"};
    return fresh;
}

static bool any_takes(const struct channel *channel, const char *target)
{
    for (size_t i = 0; i < channel->n_providers; i++)
        if (provider_takes(&channel->providers[i], channel->kind, target))
            return true;
    return false;
}

// One each; where there is none, one that says so.
static void add_devices(struct freshes *list, const struct policy *policy, const struct note *note,
        const struct step *step)
{
    struct device *devices = NULL;
    size_t n = devices_read(note->contact, &devices);
    for (size_t i = 0; i < n; i++) {
        struct fresh *fresh = add_fresh(list, note, step, steal(&devices[i].address));
        memcpy(fresh->target, devices[i].target, sizeof fresh->target);
        if (!any_takes(&policy->channels[CHANNEL_PUSH], fresh->target))
            fresh->reason = "no provider for this kind of device";
    }
    if (n == 0)
        add_fresh(list, note, step, NULL);
    devices_free(devices, n);
}

static struct freshes list_fresh(const struct batch *batch)
{
    struct freshes list = {0};
    for (size_t i = 0; i < batch->n_notes; i++) {
        const struct note *note = &batch->notes[i];
        for (size_t s = 0; note->made && s < note->message->n_steps; s++) {
            const struct step *step = &note->message->steps[s];
            if (!step->active)
                continue;
            if (step->channel == CHANNEL_PUSH)
                add_devices(&list, batch->policy, note, step);
            else
                add_fresh(&list, note, step,
                        values_text(note->contact, address_member[step->channel], ADDRESS_MAX));
        }
    }
    return list;
}

static void put_ms(struct pg *pg, int64_t seconds)
{
    if (seconds > 0)
        pg_e_big(pg, seconds * 1000);
    else
        pg_e_null(pg);
}

#define FRESH(begin, put)                                                                          \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < n; i_++) {                                                        \
            const struct fresh *fresh = &list[i_];                                                 \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

// Stored states of a delivery: the numbers of dispatcher/delivery.h, which the receiver does not
// include.
enum { STATE_DUE = 0, STATE_WITHHELD = 5 };

// Its time for tries begins when it is due first.
static int64_t retry_ends_s(const struct fresh *fresh)
{
    int64_t for_s = fresh->note->message->retry_for_s;
    return for_s > 0 ? fresh->step->after_s + for_s : 0;
}

// Of the order, as its notification remembers it; 0 without one.
static int version_of(const struct batch *batch, const struct note *note)
{
    const struct judgement *row = &batch->judgements.rows[note->judgement];
    return row->order == SIZE_MAX ? 0 : row->version;
}

static void rows_fresh(struct pg *pg, const struct batch *batch, const struct fresh *list, size_t n)
{
    pg_add(pg, ACCEPT_DELIVERIES);
    FRESH(pg_p_ints, pg_e_int(pg, fresh->note->bucket));
    FRESH(pg_p_ints, pg_e_int(pg, (int)fresh->step->channel));
    FRESH(pg_p_uuids, pg_e_uuid(pg, fresh->note->id));
    FRESH(pg_p_ints, pg_e_int(pg, fresh->reason ? STATE_WITHHELD : STATE_DUE));
    FRESH(pg_p_ints, pg_e_int(pg, (int)fresh->note->message->delivery));
    FRESH(pg_p_ints, pg_e_int(pg, lane_of(fresh->step->channel, fresh->note->message->priority)));
    FRESH(pg_p_texts, put_text(pg, fresh->address ? fresh->address : ""));
    FRESH(pg_p_texts, put_text(pg, fresh->zone));
    FRESH(pg_p_texts, put_text(pg, fresh->reason));
    FRESH(pg_p_bigs, put_ms(pg, fresh->note->message->expires_s));
    FRESH(pg_p_bigs, put_ms(pg, retry_ends_s(fresh)));
    FRESH(pg_p_texts, pg_e_bytes(pg, slice_of(fresh->target)));
    FRESH(pg_p_texts, put_text(pg, fresh->note->collapse));
    FRESH(pg_p_texts, put_text(pg, fresh->recipient));
    FRESH(pg_p_ints, pg_e_int(pg, version_of(batch, fresh->note)));
}

static void rows_due(struct pg *pg, const struct fresh *list, size_t n)
{
    pg_add(pg, ACCEPT_DUE);
#define DUE(begin, put) FRESH(begin, if (!fresh->reason) put)
    DUE(pg_p_ints, pg_e_int(pg, fresh->note->bucket));
    DUE(pg_p_ints, pg_e_int(pg, lane_of(fresh->step->channel, fresh->note->message->priority)));
    DUE(pg_p_uuids, pg_e_uuid(pg, fresh->note->id));
    DUE(pg_p_ints, pg_e_int(pg, (int)fresh->step->channel));
    DUE(pg_p_bigs, pg_e_big(pg, fresh->step->after_s * 1000));
    DUE(pg_p_texts, pg_e_bytes(pg, slice_of(fresh->target)));
#undef DUE
}

void rows_deliveries(struct pg *pg, const struct batch *batch)
{
    struct freshes list = list_fresh(batch);
    if (list.n > 0) {
        rows_fresh(pg, batch, list.rows, list.n);
        rows_due(pg, list.rows, list.n);
    }
    for (size_t i = 0; i < list.n; i++) {
        free(list.rows[i].address);
        free(list.rows[i].zone);
        free(list.rows[i].recipient);
    }
    free(list.rows);
}
