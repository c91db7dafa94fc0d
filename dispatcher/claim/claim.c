#include "dispatcher/claim/claim.h"

#include "common/clock.h"
#include "common/fault.h"
#include "dispatcher/attachment.h"
#include "dispatcher/claim/gates/questions.h"
#include "dispatcher/claim/lanes.h"
#include "dispatcher/dispatcher_sql.h"
#include "dispatcher/order.h"

// Calls of the first flight.
enum { CALL_BEGIN, CALL_VERSION, CALL_PAUSES, CALL_TAKE };

enum phase {
    PHASE_TAKING,
    PHASE_ASKING,
    PHASE_READING,
    PHASE_MARKING,
    PHASE_COMMITTING,
    PHASE_EMPTY
};

struct claimer {
    struct claimer_options options;
    enum channel_kind channel; // that this claim is for
    enum phase phase;
    int asked, took, seen_version, missing;
    int loads; // versions that were asked for since the last claim that went on
    bool outdated;
    struct member members[CLAIM_MAX];
    size_t n;
    size_t part, part_end; // members whose marks are in the air
    size_t ready;          // rendered up to here
    size_t content_bytes;
    int64_t now_us, asked_us; // the database's clock, and ours when it was asked
    bool any_wire;
    struct key id;
    int64_t granted_ms;
    int call_wire, call_ends; // of the flight in the air, -1 = not in it
};

struct claimer *claimer_new(const struct claimer_options *options)
{
    struct claimer *c = xcalloc(1, sizeof *c);
    c->options = *options;
    c->phase = PHASE_EMPTY;
    return c;
}

static void forget(struct claimer *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->members[i].delivery && c->members[i].delivery->routed)
            c->options.unroute(c->options.user, c->members[i].delivery);
        member_fini(&c->members[i]);
    }
    c->n = c->part = c->part_end = c->ready = 0;
    c->content_bytes = 0;
    c->any_wire = false;
}

void claimer_free(struct claimer *c)
{
    if (!c)
        return;
    forget(c);
    free(c);
}

void claimer_ask(struct claimer *c, enum channel_kind channel, int n)
{
    c->channel = channel;
    c->asked = n < CLAIM_MAX ? n : CLAIM_MAX;
    c->took = 0;
    c->missing = 0;
    c->outdated = false;
}

struct claim_report claimer_report(const struct claimer *c)
{
    return (struct claim_report){.channel = c->channel,
            .takes = c->phase == PHASE_TAKING,
            .coming = (int)c->n,
            .took = c->took,
            .full = c->took > 0 && c->took >= c->asked,
            .seen_version = c->seen_version,
            .outdated = c->outdated,
            .missing = c->missing};
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct claimer *c = self;
    struct lanes_plan plan;
    lanes_next(&c->options.lanes[c->channel], clock_mono_ms(), &plan);
    c->phase = PHASE_TAKING;
    FAULT_STEP(claim_before_begin);
    c->asked_us = clock_mono_us();
    pg_add_begin(pg);
    pg_add(pg, SQL_VERSION);
    pg_add(pg, SQL_PAUSES);
    pg_add(pg, SQL_TAKE);
    pg_p_int(pg, c->asked);
    pg_p_ints(pg);
    for (int i = 0; i < PRIORITY_COUNT; i++)
        pg_e_int(pg, plan.lane[i]);
    pg_p_bigs(pg);
    for (int i = 0; i < PRIORITY_COUNT; i++)
        pg_e_big(pg, plan.from_us[i]);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static void render(struct claimer *c, struct member *member)
{
    struct err err = {0};
    if (c->options.render(c->options.user, member->delivery, c->now_us, &err)) {
        c->content_bytes += member_write_content(member, CLAIM_CONTENT_MAX) +
                            attachments_size(&member->delivery->content);
    } else if (err.kind == ERR_TEMP) {
        member->fate = FATE_LATER;
        member->later_ms = CLAIM_FILES_WAIT_MS;
    } else {
        member_end(member, DELIVERY_DEAD, err.msg);
    }
}

static void prepare(struct claimer *c, struct member *member)
{
    enum rules rules = c->options.rules(c->options.user, member->delivery->policy);
    bool paused = false;
    if (rules != RULES_READY) {
        member->fate = FATE_LATER;
        member->later_ms = rules == RULES_BROKEN ? CLAIM_BROKEN_WAIT_MS : CLAIM_CROWDED_WAIT_MS;
    } else if (!c->options.route(c->options.user, member->delivery, &member->later_ms)) {
        member->fate = FATE_LATER;
        paused = member_bound_by_pause(member, c->options.pauses);
    }
    if (member->fate != FATE_WIRE && !paused)
        member->at = GATE_COUNT; // it is no gate that says so: its time for tries goes on
}

static void know(const struct claimer *c, struct member *member)
{
    const struct claimer_options *o = &c->options;
    const struct delivery *d = member->delivery;
    const struct policy *sender = o->sender(o->user);
    member_know_pause(member, o->pauses, sender ? &sender->channels[d->channel] : NULL);
    member->facts.message = o->message(o->user, d->policy, d->type);
    member_know_zone(member, o->zones);
}

static void take_row(struct claimer *c, const struct pg *pg, int row)
{
    struct member *member = &c->members[c->n];
    member_read(pg, CALL_TAKE, row, member);
    struct delivery *d = member->delivery;
    lanes_claimed(&c->options.lanes[c->channel], lane_of(d->channel, d->priority), d->due_us);
    if (member->fate == FATE_WIRE)
        know(c, member);
    enum delivery_state state = member->facts.state;
    if (member->fate == FATE_WIRE || state == DELIVERY_CANCELLED || state == DELIVERY_SUPERSEDED)
        member_judge(member);
    if (member->fate == FATE_WIRE)
        prepare(c, member);
    if (member->fate == FATE_NONE)
        member_fini(member);
    else
        c->n++;
}

// A version that is not in memory: the rows go back by the rollback, and it is loaded first. After
// some of those the claim goes on with what it has, since more versions may be due than fit.
static int missing_version(const struct claimer *c, const struct pg *pg)
{
    if (c->loads >= CLAIM_LOADS_MAX)
        return 0;
    for (int row = 0; row < pg_rows(pg, CALL_TAKE); row++) {
        int version = member_row_policy(pg, CALL_TAKE, row);
        if (version && c->options.rules(c->options.user, version) == RULES_MISSING)
            return version;
    }
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return delivery_compare(x->delivery, y->delivery);
}

static void render_part(struct claimer *c)
{
    size_t end = c->n - c->ready > CLAIM_PART ? c->ready + CLAIM_PART : c->n;
    for (; c->ready < end; c->ready++) {
        struct member *member = &c->members[c->ready];
        bool to_render = member->fate == FATE_WIRE && !member->stored;
        if (to_render && c->content_bytes > CLAIM_CONTENT_MAX)
            member->fate = FATE_LATER;
        else if (to_render)
            render(c, member);
        member_drop_data(member);
    }
}

// What was marked on the wire by the flight that landed; it counts with the COMMIT.
static void confirm_part(struct claimer *c, const struct pg *pg)
{
    if (c->call_wire >= 0)
        members_confirm(pg, c->call_wire, &c->members[c->part], c->part_end - c->part, FATE_WIRE);
    c->part = c->part_end;
}

// The rest of the last flight, after `calls` others.
static void add_end(struct claimer *c, struct pg *pg, int calls)
{
    const struct key ids[2] = {c->id, c->options.leases->worker};
    if (c->any_wire) {
        members_add_claim(pg, c->members, c->n, ids, c->options.leases->lease_ms);
        calls++;
    }
    if (members_add_ends(pg, c->members, c->n))
        c->call_ends = calls;
    members_add_later(pg, c->members, c->n);
    members_add_held(pg, c->members, c->n);
    pg_add_commit(pg);
    c->phase = PHASE_COMMITTING;
    FAULT_STEP(claim_before_commit);
    c->granted_ms = clock_mono_ms();
}

// What is rendered and not sent off yet; how many statements.
static int add_part(struct claimer *c, struct pg *pg)
{
    int calls = 0;
    struct member *first = &c->members[c->part];
    c->part_end = c->ready;
    size_t n = c->part_end - c->part;
    c->call_wire = c->call_ends = -1;
    if (members_add_content(pg, first, n))
        calls++;
    if (members_add_wire(pg, first, n))
        c->call_wire = calls++;
    c->any_wire = c->any_wire || c->call_wire >= 0;
    return calls;
}

static enum work send_part(struct claimer *c, struct pg *pg, struct err *err)
{
    int calls = add_part(c, pg);
    while (calls == 0 && c->ready < c->n) {
        c->part = c->part_end;
        render_part(c);
        calls = add_part(c, pg);
    }
    if (c->ready == c->n)
        add_end(c, pg, calls);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// Members are marked in key order.
static enum work mark_members(struct claimer *c, struct pg *pg, struct err *err)
{
    c->id = key_random();
    c->phase = PHASE_MARKING;
    qsort(c->members, c->n, sizeof c->members[0], by_key);
    render_part(c);
    return send_part(c, pg, err);
}

static enum work commit_nothing(struct claimer *c, struct pg *pg, struct err *err)
{
    pg_add_commit(pg);
    c->phase = PHASE_EMPTY;
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// What earlier tries of those that go rendered: one flight, if there are any.
static enum work read_or_mark(struct claimer *c, struct pg *pg, struct err *err)
{
    if (!members_ask_content(pg, c->members, c->n, CLAIM_CONTENT_MAX))
        return mark_members(c, pg, err);
    c->phase = PHASE_READING;
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// Gates that need more than every claim reads: one flight, or two where a cap's slots are taken.
static enum work ask_or_mark(struct claimer *c, struct pg *pg, struct err *err)
{
    if (!questions_add(pg, c->members, c->n))
        return read_or_mark(c, pg, err);
    c->phase = PHASE_ASKING;
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static enum work taken(struct claimer *c, struct pg *pg, struct err *err)
{
    c->seen_version = pg_int(pg, CALL_VERSION, 0, 0);
    int rows = pg_rows(pg, CALL_TAKE);
    if (rows == 0)
        return commit_nothing(c, pg, err);
    FAULT_STEP(claim_after_take);
    c->outdated = !c->options.current(c->options.user, c->seen_version);
    c->missing = c->outdated ? 0 : missing_version(c, pg);
    c->loads = c->missing ? c->loads + 1 : 0;
    if (c->outdated || c->missing)
        return pg_rollback(pg) ? WORK_DONE : WORK_FAILED;
    c->now_us = member_row_now_us(pg, CALL_TAKE, 0);
    leases_clock_seen(c->options.leases, c->now_us, c->asked_us);
    c->took = rows;
    pauses_read(c->options.pauses, pg, CALL_PAUSES);
    for (int row = 0; row < rows && c->n < CLAIM_MAX; row++)
        take_row(c, pg, row);
    return c->n > 0 ? ask_or_mark(c, pg, err) : commit_nothing(c, pg, err);
}

static enum work committed(struct claimer *c, const struct pg *pg)
{
    confirm_part(c, pg);
    if (c->call_ends >= 0)
        members_confirm(pg, c->call_ends, c->members, c->n, FATE_END);
    members_count(c->members, c->n);
    int n = 0;
    struct delivery *list = members_hand_over(c->members, c->n, c->id, true, &n);
    forget(c);
    FAULT_STEP(claim_after_commit);
    if (list) {
        leases_add(c->options.leases, c->id, n, c->granted_ms);
        c->options.granted(c->options.user, list);
    }
    return WORK_DONE;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct claimer *c = self;
    switch (c->phase) {
    case PHASE_TAKING:
        return taken(c, pg, err);
    case PHASE_ASKING:
        questions_read(pg, c->members, c->n);
        return ask_or_mark(c, pg, err);
    case PHASE_READING:
        c->content_bytes += members_read_content(pg, 0, c->members, c->n);
        return mark_members(c, pg, err);
    case PHASE_MARKING:
        confirm_part(c, pg);
        return send_part(c, pg, err);
    case PHASE_COMMITTING:
        return committed(c, pg);
    case PHASE_EMPTY:
        break;
    }
    return WORK_DONE;
}

static bool meanwhile(void *self)
{
    struct claimer *c = self;
    if (c->phase != PHASE_MARKING)
        return false;
    render_part(c);
    return c->ready < c->n;
}

// Once the COMMIT was launched it may have happened, whatever went wrong after: the fence tells. If
// it did not, the rows are due again behind the marks that they raised.
static void fail(void *self, struct pg *pg)
{
    (void)pg;
    struct claimer *c = self;
    int n = 0;
    lanes_init(&c->options.lanes[c->channel], c->channel);
    zones_forget(c->options.zones);
    struct delivery *list = c->phase == PHASE_COMMITTING
                                    ? members_hand_over(c->members, c->n, c->id, false, &n)
                                    : NULL;
    forget(c);
    if (!list)
        return;
    struct batch *batch = leases_add(c->options.leases, c->id, n, c->granted_ms);
    batch->uncertain = batch->unproven = true;
    c->options.doubtful(c->options.user, list);
}

struct work_kind claimer_work(struct claimer *claimer)
{
    return (struct work_kind){.name = "claim",
            .self = claimer,
            .start = start,
            .next = next,
            .fail = fail,
            .meanwhile = meanwhile};
}
