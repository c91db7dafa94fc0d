#include "receiver/accept/read.h"

#include "receiver/accept/read_batch.h"
#include "receiver/accept/read_more.h"
#include "receiver/accept/read_parts.h"

enum { IGNORED_MAX = 64 };

// What changes between tries by the scheme.
static size_t volatiles(const struct reading *reading, const char *pointers[IGNORED_MAX])
{
    const char *const *list = reading->pointers->volatiles;
    size_t n = 0;
    for (; list && list[n] && n < IGNORED_MAX; n++)
        pointers[n] = list[n];
    return n;
}

// And by the policy.
static size_t ignored(const struct reading *reading, const char *pointers[IGNORED_MAX])
{
    const struct source *source = reading->source;
    size_t n = volatiles(reading, pointers);
    for (size_t i = 0; source && i < source->n_fingerprint_ignore && n < IGNORED_MAX; i++)
        pointers[n++] = source->fingerprint_ignore[i];
    return n;
}

static void digest_without(
        struct slice bytes, const char *const pointers[], size_t n, unsigned char ret_digest[32])
{
    AUTO_TEXT struct text kept = {.max = bytes.len};
    if (n && json_without(bytes, pointers, n, &kept, NULL))
        bytes = text_slice(&kept);
    sha256_of(bytes, ret_digest);
}

// Of the bytes as they came: the body's, or the member's.
static void fingerprint(struct slice bytes, const struct reading *reading, struct event *event)
{
    const char *pointers[IGNORED_MAX];
    size_t n = reading ? ignored(reading, pointers) : 0;
    digest_without(bytes, pointers, n, event->fingerprint);
}

static char *arrival_id(const struct reading *reading)
{
    char hex[KEY_HEX];
    struct text id;
    key_hex(reading->arrival->id, hex);
    text_init(&id, EVENT_ID_MAX);
    text_fmt(&id, "arrival:%s", hex);
    if (reading->member)
        text_fmt(&id, ":%zu", reading->place);
    return text_steal(&id);
}

static const char *read_event(const struct reading *reading, struct event *event)
{
    const char *reason = read_identity(reading, event);
    if (!reading->source)
        return "no-source";
    if (reason)
        return reason;
    if (reading->pointers->receipt)
        event->receipt = reading->pointers->receipt(
                reading->source, reading->body, slice_of(reading->arrival->query));
    const struct event_rule *rule = source_rule(reading->source, slice_of(event->type));
    return rule ? read_rule(reading->body, rule, event) : NULL;
}

// Of a body the same but for what its provider changes between tries, so that none of an event's
// tries can be sent under another id. (The policy's own list may fit events that differ.)
static void signed_digest(const struct reading *reading, struct event *event)
{
    const struct arrival *arrival = reading->arrival;
    const char *pointers[IGNORED_MAX];
    size_t n = reading->member ? 0 : volatiles(reading, pointers);
    if (arrival->has_once)
        memcpy(event->signed_digest, arrival->once, sizeof event->signed_digest);
    else
        digest_without(arrival->body, pointers, n, event->signed_digest);
}

// The signed bytes are a key only of an event that is sure of its id: what is parked must not take
// them from it. The members of a batch share the bytes and not their place.
static void note_signed(const struct reading *reading, struct event *event)
{
    event->unsigned_id = reading->pointers->unsigned_id && !event->parked_reason;
    if (!event->unsigned_id)
        return;
    signed_digest(reading, event);
    if (!reading->member)
        return;
    AUTO_TEXT struct text both = {.max = 64};
    text_add(&both, (struct slice){event->signed_digest, sizeof event->signed_digest});
    text_fmt(&both, ":%zu", reading->place);
    sha256_of(text_slice(&both), event->signed_digest);
}

// Everything that an event must have, whatever was found.
static void complete(const struct reading *reading, struct event *event)
{
    // What is parked means nothing until a person looks at it.
    if (event->parked_reason || event->late)
        event_clear_meaning(event);
    // Without its scope an id is not an event's: two accounts may use the same.
    if (!event->id || (!event->scope && !reading->pointers->app)) {
        free(event->id);
        event->id = arrival_id(reading);
    }
    event->scope = event->scope ? event->scope : xstrdup("");
    event->contact = event->contact ? event->contact : xstrdup("{}");
    event->data = event->data ? event->data : xstrdup("{}");
}

// What the database would not have is kept for a person, as what can't be read is.
static const char *park_refused(const struct reading *reading, struct event *event)
{
    const struct arrival *arrival = reading->arrival;
    enum event_mark mark =
            reading->place < arrival->n_marks ? arrival->marks[reading->place] : EVENT_TAKEN;
    if (mark == EVENT_STRIPPED) {
        free(steal(&event->id));
        free(steal(&event->type));
        free(steal(&event->scope));
    }
    bool refused = mark == EVENT_REFUSED || mark == EVENT_STRIPPED;
    return refused ? "refused-by-database" : event->parked_reason;
}

static void read_one(const struct reading *reading, struct slice raw, struct event *event)
{
    *event = (struct event){.to = -1};
    fingerprint(raw, reading, event);
    event->parked_reason = read_event(reading, event);
    event->parked_reason = park_refused(reading, event);
    note_signed(reading, event);
    complete(reading, event);
}

static struct event *make_events(struct arrival *arrival, size_t n)
{
    arrival->events = n ? xcalloc(n, sizeof *arrival->events) : NULL;
    arrival->n_events = n;
    return arrival->events;
}

// The whole request as one event that means nothing.
static void make_remark(struct arrival *arrival, const struct reading *reading, const char *parked,
        const char *remark)
{
    struct event *event = make_events(arrival, 1);
    *event = (struct event){.to = -1, .parked_reason = parked, .remark = remark};
    fingerprint(arrival->body, NULL, event);
    complete(reading, event);
}

static void read_each(
        struct arrival *arrival, struct reading reading, const struct members *members)
{
    AUTO_FREE char *scope = NULL;
    struct event *events = make_events(arrival, members->n);
    reading.no_scope = read_batch_scope(reading.pointers, reading.body, &scope);
    reading.scope = scope;
    reading.member = true;
    for (size_t i = 0; i < members->n; i++) {
        reading.place = i;
        reading.body = members->rows[i].token.raw;
        reading.array = members->rows[i].array;
        read_one(&reading, reading.body, &events[i]);
    }
}

static void read_batch(struct arrival *arrival, const struct reading *reading)
{
    AUTO_MEMBERS struct members members = {0};
    const char *reason = read_members(reading->body, reading->pointers->batch, &members);
    if (reason)
        make_remark(arrival, reading, reason, NULL);
    else if (members.n == 0 && members.passed_over)
        make_remark(arrival, reading, NULL, "no-members");
    else
        read_each(arrival, *reading, &members);
}

void read_events(
        struct arrival *arrival, const struct policy *policy, const struct read_pointers *pointers)
{
    arrival_drop_events(arrival);
    AUTO_TEXT struct text object = {.max = 0};
    AUTO_TEXT struct text whole = {.max = 0};
    struct reading reading = {.arrival = arrival,
            .policy = policy,
            .source = policy_source(policy, slice_of(arrival->source)),
            .pointers = pointers,
            .body = arrival->body};
    if (arrival->form)
        reading.body = read_form(arrival->body, &object) ? text_slice(&object) : SLICE("");
    if (pointers->inner && read_inner(reading.body, pointers, &whole))
        reading.body = text_slice(&whole);
    if (pointers->batch && pointers->batch[0])
        read_batch(arrival, &reading);
    else
        read_one(&reading, arrival->body, make_events(arrival, 1));
}
