#include "dispatcher/claim/member.h"

#include "common/clock.h"
#include "common/metrics.h"

#include <stdio.h>

// Columns of take.sql.
enum column {
    COL_LANE,
    COL_DUE,
    COL_BUCKET,
    COL_NOTIFICATION,
    COL_CHANNEL,
    COL_TARGET,
    COL_REDRIVE,
    COL_TRIES,
    COL_STATE,
    COL_UNKNOWN_TRIES,
    COL_ORDER,
    COL_ADDRESS,
    COL_CREATED,
    COL_EXPIRES,
    COL_RETRY_UNTIL,
    COL_CONTENT_SLOT,
    COL_PROVIDER,
    COL_PROVIDER_AT,
    COL_PASSED_ON,
    COL_FREE_TRIES,
    COL_TYPE,
    COL_POLICY,
    COL_ONCE,
    COL_DATA,
    COL_NOW,
    COL_SUPPRESSED,
    COL_ZONE,
    COL_DOUBT,
    COL_ORDER_ID,
    COL_RECIPIENT,
    COL_COLLAPSE,
    COL_FAILED_ID,
    COL_NOT_BEFORE,
};

void member_drop_data(struct member *member)
{
    free(member->delivery->data);
    member->delivery->data = NULL;
}

void member_fini(struct member *member)
{
    if (member->delivery)
        member_drop_data(member);
    delivery_free(member->delivery);
    free(member->content_json);
    *member = (struct member){0};
}

// Reasons quote templates and peers; the database takes UTF-8 only, so what is not plain is masked.
static void say(struct member *member, const char *reason)
{
    snprintf(member->reason, sizeof member->reason, "%s", reason);
    for (char *c = member->reason; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
}

void member_end(struct member *member, enum delivery_state end, const char *reason)
{
    member->fate = FATE_END;
    member->end = end;
    say(member, reason);
}

static void postpone(struct member *member, const struct verdict *verdict)
{
    int64_t wait_us = verdict->until_us - member->facts.now_us;
    member->fate = FATE_LATER;
    member->hold = verdict->hold;
    // Up to the next millisecond: a moment early it would only be put back again.
    member->later_ms = wait_us > 0 ? (wait_us + 999) / 1000 : 1;
    say(member, verdict->reason);
}

void member_know_pause(
        struct member *member, const struct pauses *pauses, const struct channel *channel)
{
    const struct pause *pause = pauses_find(pauses, member->delivery, channel);
    if (!pause)
        return;
    member->facts.pause_id = pause->id;
    member->facts.pause_until_us = pause->until_us;
    snprintf(member->facts.pause_reason, sizeof member->facts.pause_reason, "%s", pause->reason);
}

bool member_bound_by_pause(struct member *member, const struct pauses *pauses)
{
    const struct delivery *d = member->delivery;
    const struct pause *pause =
            d->earlier_unknown > 0 && d->provider ? pauses_named(pauses, d->provider) : NULL;
    if (!pause)
        return false;
    char reason[sizeof member->reason];
    snprintf(reason, sizeof reason, "paused: %s", pause->reason);
    member->at = GATE_PAUSED;
    say(member, reason);
    return true;
}

void member_know_zone(struct member *member, struct zones *zones)
{
    struct gate_facts *facts = &member->facts;
    bool unknown = false;
    if (!facts->message || !facts->message->quiet_from)
        return;
    if (!zones_ready(zones, clock_mono_ms())) {
        member->fate = FATE_LATER;
        member->at = GATE_COUNT; // it is no gate that says so
        member->later_ms = MEMBER_ZONES_WAIT_MS;
        return;
    }
    facts->zone = zones_choose(zones, member->delivery->zone, facts->message->timezone, &unknown);
    if (unknown)
        series_inc(metric(METRIC_ZONES_UNKNOWN, NULL));
}

void member_judge(struct member *member)
{
    struct verdict verdict =
            gate_walk(member->delivery, &member->facts, &member->at, &member->asks);
    if (verdict.answer == GATE_END)
        member_end(member, verdict.end, verdict.reason);
    // That end is in the database already, by this claim or another: it counts here.
    member->confirmed = verdict.answer == GATE_END && member->at == GATE_SUPERSEDED;
    if (verdict.answer == GATE_END)
        return;
    if (verdict.answer == GATE_LATER)
        postpone(member, &verdict);
}

static char *text_of(const struct pg *pg, int call, int row, int col)
{
    return pg_null(pg, call, row, col) ? NULL : slice_dup(pg_bytes(pg, call, row, col));
}

static struct delivery *read_names(const struct pg *pg, int call, int row)
{
    struct delivery *d = xcalloc(1, sizeof *d);
    int lane = pg_int(pg, call, row, COL_LANE);
    d->priority = (enum priority)(lane % 10);
    d->due_us = pg_time_us(pg, call, row, COL_DUE);
    d->bucket = pg_int(pg, call, row, COL_BUCKET);
    d->notification = pg_uuid(pg, call, row, COL_NOTIFICATION);
    d->channel = (enum channel_kind)pg_int(pg, call, row, COL_CHANNEL);
    d->target = text_of(pg, call, row, COL_TARGET);
    d->redrive = pg_int(pg, call, row, COL_REDRIVE);
    d->tries = pg_int(pg, call, row, COL_TRIES);
    return d;
}

static void read_facts(const struct pg *pg, int call, int row, struct delivery *d)
{
    d->earlier_unknown = pg_int(pg, call, row, COL_UNKNOWN_TRIES);
    d->order = (enum delivery_order)pg_int(pg, call, row, COL_ORDER);
    d->address = text_of(pg, call, row, COL_ADDRESS);
    d->created_us = pg_time_us(pg, call, row, COL_CREATED);
    d->expires_us = pg_time_us(pg, call, row, COL_EXPIRES);
    d->retry_until_us = pg_time_us(pg, call, row, COL_RETRY_UNTIL);
    d->provider = text_of(pg, call, row, COL_PROVIDER);
    d->passed_on = pg_bool(pg, call, row, COL_PASSED_ON);
    d->free_tries = pg_int(pg, call, row, COL_FREE_TRIES);
    int64_t provider_us = pg_time_us(pg, call, row, COL_PROVIDER_AT);
    d->doubt_us = pg_time_us(pg, call, row, COL_DOUBT);
    if (d->doubt_us > 0 && d->doubt_us < provider_us)
        d->doubt_us = provider_us; // it began with another provider
    d->in_doubt_us = d->doubt_us ? member_row_now_us(pg, call, row) - d->doubt_us : 0;
    d->type = pg_int(pg, call, row, COL_TYPE);
    d->policy = pg_int(pg, call, row, COL_POLICY);
    d->once = text_of(pg, call, row, COL_ONCE);
    d->zone = text_of(pg, call, row, COL_ZONE);
    d->data = text_of(pg, call, row, COL_DATA);
    d->order_id = text_of(pg, call, row, COL_ORDER_ID);
    d->recipient = text_of(pg, call, row, COL_RECIPIENT);
    d->collapse = text_of(pg, call, row, COL_COLLAPSE);
    d->failed_id = text_of(pg, call, row, COL_FAILED_ID);
}

// The delivery is in another step by now (then it is without a state here), or has an end.
static bool moved_on(const struct pg *pg, int call, int row)
{
    return pg_null(pg, call, row, COL_STATE) || pg_null(pg, call, row, COL_TYPE) ||
           pg_int(pg, call, row, COL_STATE) != DELIVERY_DUE;
}

void member_read(const struct pg *pg, int call, int row, struct member *ret_member)
{
    *ret_member = (struct member){.delivery = read_names(pg, call, row)};
    struct gate_facts *facts = &ret_member->facts;
    facts->now_us = member_row_now_us(pg, call, row);
    if (!pg_null(pg, call, row, COL_STATE))
        facts->state = (enum delivery_state)pg_int(pg, call, row, COL_STATE);
    if (facts->state == DELIVERY_SUPERSEDED)
        ret_member->delivery->once = text_of(pg, call, row, COL_ONCE);
    if (moved_on(pg, call, row))
        return;
    ret_member->fate = FATE_WIRE;
    ret_member->stored = !pg_null(pg, call, row, COL_CONTENT_SLOT);
    ret_member->content_slot = pg_int(pg, call, row, COL_CONTENT_SLOT);
    read_facts(pg, call, row, ret_member->delivery);
    int64_t early_us = pg_time_us(pg, call, row, COL_NOT_BEFORE) - facts->now_us;
    if (early_us > 0) {
        ret_member->fate = FATE_LATER;
        ret_member->at = GATE_COUNT; // it is no gate that says so
        ret_member->later_ms = (early_us + 999) / 1000;
    }
    if (!pg_null(pg, call, row, COL_SUPPRESSED))
        facts->suppressed = (enum suppression)pg_int(pg, call, row, COL_SUPPRESSED);
}

void member_read_content(struct member *member, struct slice json)
{
    struct err err;
    if (json.ptr && json.len == 0) {
        member->fate = FATE_LATER; // others of this claim were enough
    } else if (!json.ptr || !content_from_json(json, &member->delivery->content, &err)) {
        struct verdict verdict =
                verdict_end(member->delivery, DELIVERY_DEAD, "its stored content is gone");
        member_end(member, verdict.end, verdict.reason);
    }
}

size_t member_write_content(struct member *member, size_t max)
{
    AUTO_TEXT struct text json = {0};
    text_init(&json, max);
    if (!content_to_json(&member->delivery->content, &json)) {
        member_end(member, DELIVERY_DEAD, "the rendered content can't be stored");
        return 0;
    }
    size_t len = json.len;
    member->rendered = true;
    member->content_json = text_steal(&json);
    return len;
}

int64_t member_row_now_us(const struct pg *pg, int call, int row)
{
    return pg_time_us(pg, call, row, COL_NOW);
}

int member_row_policy(const struct pg *pg, int call, int row)
{
    return moved_on(pg, call, row) ? 0 : pg_int(pg, call, row, COL_POLICY);
}

struct delivery *members_hand_over(
        struct member *members, size_t n, struct key claim, bool confirmed_only, int *ret_n)
{
    struct delivery *list = NULL;
    *ret_n = 0;
    for (size_t i = n; i-- > 0;) {
        struct member *member = &members[i];
        if (member->fate != FATE_WIRE || (confirmed_only && !member->confirmed))
            continue;
        struct delivery *d = steal(&member->delivery);
        d->tries++;
        d->claim = claim;
        d->next = list;
        list = d;
        ++*ret_n;
    }
    return list;
}
