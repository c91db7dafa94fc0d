#include "dispatcher/loop_db.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"

enum {
    TAKEOVER_EVERY_MS = 1000,
    RESUME_EVERY_MS = 1000,
    RESUME_MORE_MS = 50, // claims come in between
    GAUGES_EVERY_MS = 10000,
    REFRESH_AGAIN_MS = 1000,
    RECORD_GATHER = 100,   // so many results are worth a record at once; fewer ..
    RECORD_GATHER_MS = 10, // .. wait so long after the one before, while more are to come
    EX_CONFIG_CODE = 78,
};

// --- The connections

static void claim_desk_connected(struct loop *loop)
{
    struct err err = {0};
    struct desk *desk = &loop->desks[DESK_CLAIM];
    if (!policies_connected(loop->policies, desk->pg, &err)) {
        LOG(ERROR, "database.refused", "the database does not fit", L_STR("error", err.msg));
        desk_count_failure(desk->pg);
        desk_disconnect(desk);
        if (err.kind == ERR_FATAL && !loop->was_connected)
            loop->exit_code = EX_CONFIG_CODE;
        return;
    }
    loop->was_connected = true;
    loop->refresh_ms = 0;
    turns_now(&loop->turns);
    LOG0(INFO, "database.connected", "the database answers");
}

static void connect_claim_desk(struct loop *loop)
{
    struct err err = {0};
    switch (desk_connect(&loop->desks[DESK_CLAIM], &err)) {
    case CONNECTING:
        return;
    case CONNECTED:
        claim_desk_connected(loop);
        return;
    case CONNECT_FAILED:
        break;
    }
    if (err.kind == ERR_FATAL && !loop->was_connected)
        loop->exit_code = EX_CONFIG_CODE;
}

// The record desk follows: a database that is away is asked, and told of, once.
static void connect_turn(struct loop *loop)
{
    struct err err = {0};
    struct desk *record = &loop->desks[DESK_RECORD];
    if (!loop->desks[DESK_CLAIM].pg)
        connect_claim_desk(loop);
    else if (!record->pg)
        (void)desk_connect(record, &err);
    atomic_store(&loop->connected, loop->desks[DESK_CLAIM].pg && record->pg);
}

// --- Policies

static bool wants_refresh(const struct loop *loop)
{
    const struct policy *sender = policies_sender(loop->policies);
    int seen = claimer_seen_version(loop->claimer);
    return !sender || seen > sender->version;
}

bool loop_db_outdated(const struct loop *loop, int version)
{
    const struct policy *sender = policies_sender(loop->policies);
    return (!sender || version > sender->version) && clock_mono_ms() >= loop->refresh_ms;
}

static void refresh(struct loop *loop)
{
    int64_t now = clock_mono_ms();
    bool asked = atomic_exchange(&loop->reload_asked, false);
    if (!asked && (!wants_refresh(loop) || now < loop->refresh_ms))
        return;
    loop->refresh_ms = now + REFRESH_AGAIN_MS;
    struct err err = {0};
    struct desk *desk = &loop->desks[DESK_CLAIM];
    if (policies_refresh(loop->policies, desk->pg, &err)) {
        loop->refresh_ms = 0;
        atomic_store(&loop->has_sender, true);
        tokens_policy(loop->bearers.tokens, policies_sender(loop->policies));
        turns_policy(&loop->turns, policies_sender(loop->policies));
        route_policy(loop->route, policies_sender(loop->policies));
        if (loop->options.policy_active)
            loop->options.policy_active(loop->options.user, policies_sender(loop->policies));
        return;
    }
    LOG(ERROR, "policy.unusable", "the active policy can't be used", L_STR("error", err.msg));
    if (!pg_alive(desk->pg))
        desk_disconnect(desk);
}

static void load_missing(struct loop *loop)
{
    struct err err = {0};
    struct desk *desk = &loop->desks[DESK_CLAIM];
    if (!policies_load(loop->policies, desk->pg, claimer_missing(loop->claimer), &err) &&
            !pg_alive(desk->pg))
        desk_disconnect(desk);
}

// --- Which work is next

static bool may_claim(const struct loop *loop)
{
    // Nothing is sent that can't be recorded, and what waits for its record is bounded.
    return !loop->stopping && policies_sender(loop->policies) && loop->desks[DESK_RECORD].pg &&
           recorder_pending(loop->recorder) <= (size_t)loop->options.transfers + TURNS_AHEAD_MAX;
}

// Permits first, then the claim, for what of this channel can start. False: nothing can for now.
static bool ask(
        struct loop *loop, enum channel_kind channel, int free, int64_t now, struct work_kind *ret)
{
    int64_t wait_ms = 0;
    if (route_asks(loop->route, channel, now)) {
        *ret = route_work(loop->route);
        return true;
    }
    bool gather = turns_gathers(&loop->turns, now);
    int room = route_room(loop->route, channel, free, gather, now, &wait_ms);
    if (room == 0) {
        turns_wait(&loop->turns, now + wait_ms);
        return false;
    }
    claimer_ask(loop->claimer, channel, room);
    *ret = claimer_work(loop->claimer);
    return true;
}

// The next channel whose claim is due; false: none is.
static bool ask_next(struct loop *loop, int64_t now, struct work_kind *ret_work)
{
    for (int i = CHANNEL_EMAIL; i < CHANNEL_COUNT && may_claim(loop); i++) {
        int free = 0;
        enum channel_kind channel = turns_next(&loop->turns, now, &free);
        if (channel == CHANNEL_NONE)
            return false;
        if (ask(loop, channel, free, now, ret_work))
            return true;
    }
    return false;
}

static bool may_look(const struct loop *loop)
{
    return !loop->stopping && policies_sender(loop->policies);
}

static bool choose(struct loop *loop, int64_t now, struct work_kind *ret_work)
{
    if (now >= leases_renew_at(&loop->leases)) {
        *ret_work = renewal_work(loop->renewal);
    } else if (!loop->stopping && now >= loop->takeover_ms) {
        loop->takeover_ms = now + TAKEOVER_EVERY_MS;
        *ret_work = takeover_work(loop->takeover);
    } else if (!loop->stopping && now >= loop->resume_ms) {
        loop->resume_ms = now + RESUME_EVERY_MS;
        *ret_work = resumer_work(loop->resumer);
    } else if (!loop->stopping && now >= tokens_next_ms(loop->bearers.tokens)) {
        *ret_work = tokens_work(loop->bearers.tokens);
    } else if (now >= lookups_next_ms(loop->lookups, may_look(loop))) {
        *ret_work = lookups_work(loop->lookups);
    } else if (zones_wanted(loop->zones)) {
        *ret_work = zones_work(loop->zones);
    } else if (ask_next(loop, now, ret_work)) {
        ;
    } else if (now >= loop->gauges_ms) {
        loop->gauges_ms = now + GAUGES_EVERY_MS;
        *ret_work = gauges_work(loop->gauges);
    } else {
        return false;
    }
    return true;
}

// --- Running it

static void after_claim(struct loop *loop)
{
    int64_t now = clock_mono_ms();
    if (claimer_missing(loop->claimer))
        load_missing(loop);
    if (claimer_missing(loop->claimer) || claimer_outdated(loop->claimer))
        turns_again(&loop->turns, now);
    else
        turns_took(&loop->turns, now, claimer_took(loop->claimer), claimer_full(loop->claimer));
}

static void claim_desk_done(struct loop *loop)
{
    const void *self = loop->desks[DESK_CLAIM].work.self;
    if (self == loop->claimer)
        after_claim(loop);
    if (self == loop->takeover && takeover_found(loop->takeover))
        loop->takeover_ms = 0;
    if (self == loop->resumer && resumer_full(loop->resumer))
        loop->resume_ms = clock_mono_ms() + RESUME_MORE_MS;
}

static void claim_desk_turn(struct loop *loop)
{
    struct desk *desk = &loop->desks[DESK_CLAIM];
    struct work_kind work;
    if (desk->pg && desk->working && desk_go_on(desk))
        claim_desk_done(loop);
    if (desk_free(desk, clock_mono_ms()) && !loop->stopping)
        refresh(loop);
    int64_t now = clock_mono_ms();
    if (desk_free(desk, now) && choose(loop, now, &work) && desk_begin(desk, work))
        claim_desk_done(loop);
}

// When what has ended is to be recorded; INT64_MAX while nothing has.
static int64_t record_at_ms(const struct loop *loop, int64_t now)
{
    size_t pending = recorder_pending(loop->recorder);
    bool more = loop->wire.flying > 0 && !loop->stopping;
    if (pending == 0)
        return INT64_MAX;
    return more && pending < RECORD_GATHER ? loop->record_ms + RECORD_GATHER_MS : now;
}

static void record_desk_turn(struct loop *loop)
{
    struct desk *desk = &loop->desks[DESK_RECORD];
    if (desk->pg && desk->working)
        (void)desk_go_on(desk);
    int64_t now = clock_mono_ms();
    if (!desk_free(desk, now) || now < record_at_ms(loop, now))
        return;
    loop->record_ms = now;
    (void)desk_begin(desk, recorder_work(loop->recorder));
}

void loop_db_turn(struct loop *loop)
{
    connect_turn(loop);
    record_desk_turn(loop);
    claim_desk_turn(loop);
    for (size_t i = 0; i < DESKS; i++)
        desk_watch(&loop->desks[i], loop->epoll_fd);
}

bool loop_db_working(const struct loop *loop)
{
    return loop->desks[DESK_CLAIM].working || loop->desks[DESK_RECORD].working;
}

// --- When

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t record_desk_next_ms(const struct loop *loop, int64_t now)
{
    const struct desk *desk = &loop->desks[DESK_RECORD];
    if (!desk->pg || desk->working || recorder_pending(loop->recorder) == 0)
        return desk_next_ms(desk, now);
    int64_t at = record_at_ms(loop, now);
    return at > desk->quiet_until_ms ? at : desk->quiet_until_ms;
}

static int64_t claim_desk_next_ms(const struct loop *loop, int64_t now)
{
    const struct desk *desk = &loop->desks[DESK_CLAIM];
    if (!desk->pg || desk->working)
        return desk_next_ms(desk, now);
    int64_t at = earlier(loop->gauges_ms, leases_renew_at(&loop->leases));
    if (!loop->stopping)
        at = earlier(at, earlier(earlier(loop->takeover_ms, loop->resume_ms),
                                 tokens_next_ms(loop->bearers.tokens)));
    at = earlier(at, lookups_next_ms(loop->lookups, may_look(loop)));
    if (!loop->stopping && wants_refresh(loop))
        at = earlier(at, loop->refresh_ms);
    if (may_claim(loop))
        at = earlier(at, turns_at_ms(&loop->turns, now));
    return at < desk->quiet_until_ms ? desk->quiet_until_ms : at;
}

int64_t loop_db_next_ms(const struct loop *loop)
{
    int64_t now = clock_mono_ms();
    return earlier(record_desk_next_ms(loop, now), claim_desk_next_ms(loop, now));
}
