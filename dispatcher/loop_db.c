#include "dispatcher/loop_db.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/loop_policies.h"

enum {
    TAKEOVER_EVERY_MS = 1000,
    RESUME_EVERY_MS = 1000,
    RESUME_MORE_MS = 50,   // claims come in between
    RECORD_GATHER = 100,   // so many results are worth a record at once; fewer ..
    RECORD_GATHER_MS = 10, // .. wait so long after the one before, while more are to come
    EX_CONFIG_CODE = 78,
};

// --- The connections

// What a connection that was lost had taken comes back when the server has seen its end: too late
// for a scan by the other claimer at once, in time for one now.
static void scan_from_the_beginning(struct loop *loop)
{
    for (enum channel_kind kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        lanes_init(&loop->lanes[kind], kind);
}

static void main_desk_connected(struct loop *loop)
{
    struct err err = {0};
    struct desk *desk = &loop->desks[DESK_MAIN];
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
    scan_from_the_beginning(loop);
    LOG0(INFO, "database.connected", "the database answers");
}

static void connect_main_desk(struct loop *loop)
{
    struct err err = {0};
    switch (desk_connect(&loop->desks[DESK_MAIN], &err)) {
    case CONNECTING:
        return;
    case CONNECTED:
        main_desk_connected(loop);
        return;
    case CONNECT_FAILED:
        break;
    }
    if (err.kind == ERR_FATAL && !loop->was_connected)
        loop->exit_code = EX_CONFIG_CODE;
}

// The others follow: a database that is away is asked, and told of, once.
static void connect_turn(struct loop *loop)
{
    struct err err = {0};
    bool all = loop->desks[DESK_MAIN].pg;
    if (!all)
        connect_main_desk(loop);
    for (size_t i = DESK_RECORD; i > DESK_MAIN && all; i--) {
        if (loop->desks[i].pg)
            continue;
        all = desk_connect(&loop->desks[i], &err) == CONNECTED;
        if (all && i == DESK_NEXT)
            scan_from_the_beginning(loop);
    }
    // The other desk that claims only makes it faster.
    atomic_store(&loop->connected, loop->desks[DESK_MAIN].pg && loop->desks[DESK_RECORD].pg);
}

// --- What is under way

bool loop_db_claims(const struct loop *loop, size_t desk)
{
    return loop->desks[desk].working && loop->desks[desk].work.self == loop->claimers[desk];
}

// What one claim takes is known before another asks for more, and so are permits.
static bool may_ask(const struct loop *loop)
{
    for (size_t i = 0; i < CLAIMERS; i++) {
        const struct desk *desk = &loop->desks[i];
        bool asks = loop_db_claims(loop, i) ? claimer_report(loop->claimers[i]).takes
                                            : desk->working && desk->work.self == loop->route;
        if (asks)
            return false;
    }
    return true;
}

static void count_coming(struct loop *loop)
{
    memset(loop->coming, 0, sizeof loop->coming);
    for (size_t i = 0; i < CLAIMERS; i++) {
        struct claim_report report = claimer_report(loop->claimers[i]);
        if (loop_db_claims(loop, i))
            loop->coming[report.channel] += report.coming;
    }
}

// --- Which work is next

static bool may_claim(const struct loop *loop, int64_t now)
{
    // Nothing is sent that can't be recorded or whose lease can't be renewed, and what waits for
    // its record is bounded.
    return !loop->stopping && policies_sender(loop->policies) && loop->desks[DESK_RECORD].pg &&
           loop->desks[DESK_MAIN].pg && may_ask(loop) && !loop_policies_wanted(loop, now) &&
           recorder_pending(loop->recorder) <= (size_t)loop->options.transfers + TURNS_AHEAD_MAX;
}

// Permits first, then the claim, for what of this channel can start. False: nothing can for now.
static bool ask(struct loop *loop, struct claimer *claimer, enum channel_kind channel, int free,
        int64_t now, struct work_kind *ret)
{
    int64_t wait_ms = 0;
    if (route_asks(loop->route, channel, now)) {
        *ret = route_work(loop->route);
        return true;
    }
    bool gather = turns_gathers(&loop->turns, channel, now);
    int room = route_room(loop->route, channel, free, gather, now, &wait_ms);
    if (room == 0) {
        turns_wait(&loop->turns, channel, now + wait_ms);
        return false;
    }
    claimer_ask(claimer, channel, room);
    *ret = claimer_work(claimer);
    return true;
}

// The next channel whose claim is due; false: none is.
static bool ask_next(
        struct loop *loop, struct claimer *claimer, int64_t now, struct work_kind *ret_work)
{
    count_coming(loop);
    for (int i = CHANNEL_EMAIL; i < CHANNEL_COUNT && may_claim(loop, now); i++) {
        int free = 0;
        enum channel_kind channel = turns_next(&loop->turns, now, &free);
        if (channel == CHANNEL_NONE)
            return false;
        if (ask(loop, claimer, channel, free, now, ret_work))
            return true;
    }
    return false;
}

// Which providers can be asked what became of a try is the policy's to say: without one no lost
// worker's tries are judged, and nothing is looked up.
static bool may_look(const struct loop *loop)
{
    return !loop->stopping && policies_sender(loop->policies);
}

static bool choose(struct loop *loop, int64_t now, struct work_kind *ret_work)
{
    if (now >= leases_renew_at(&loop->leases)) {
        *ret_work = renewal_work(loop->renewal);
    } else if (may_look(loop) && now >= loop->takeover_ms) {
        loop->takeover_ms = now + TAKEOVER_EVERY_MS;
        *ret_work = takeover_work(loop->takeover);
    } else if (!loop->stopping && now >= loop->resume_ms) {
        loop->resume_ms = now + RESUME_EVERY_MS;
        *ret_work = resumer_work(loop->resumer);
    } else if (!loop->stopping && now >= tokens_next_ms(loop->bearers.tokens)) {
        *ret_work = tokens_work(loop->bearers.tokens);
    } else if (now >= lookups_next_ms(loop->lookups, may_look(loop))) {
        *ret_work = lookups_work(loop->lookups, may_look(loop));
    } else if (zones_wanted(loop->zones)) {
        *ret_work = zones_work(loop->zones);
    } else if (ask_next(loop, loop->claimers[DESK_MAIN], now, ret_work)) {
        ;
    } else if (now >= gauges_next_ms(loop->gauges)) {
        *ret_work = gauges_work(loop->gauges);
    } else {
        return false;
    }
    return true;
}

// --- Running it

// What it took is told at once: the next may begin.
static void after_take(struct loop *loop, const struct claim_report *report)
{
    int64_t now = clock_mono_ms();
    if (report->missing)
        loop->missing = report->missing;
    if (report->missing || report->outdated)
        turns_again(&loop->turns, report->channel, now);
    else
        turns_took(&loop->turns, report->channel, now, report->took, report->full);
}

static void main_desk_done(struct loop *loop)
{
    const void *self = loop->desks[DESK_MAIN].work.self;
    if (self == loop->takeover && takeover_found(loop->takeover))
        loop->takeover_ms = 0;
    if (self == loop->resumer && resumer_full(loop->resumer))
        loop->resume_ms = clock_mono_ms() + RESUME_MORE_MS;
}

static bool go_on(struct loop *loop, size_t i)
{
    bool taking = loop_db_claims(loop, i) && claimer_report(loop->claimers[i]).takes;
    bool done = desk_go_on(&loop->desks[i]);
    struct claim_report report = claimer_report(loop->claimers[i]);
    if (taking && (done || (loop->desks[i].working && !report.takes)))
        after_take(loop, &report);
    return done;
}

static void main_desk_turn(struct loop *loop)
{
    struct desk *desk = &loop->desks[DESK_MAIN];
    struct work_kind work;
    if (desk->pg && desk->working && go_on(loop, DESK_MAIN))
        main_desk_done(loop);
    loop_policies_turn(loop);
    int64_t now = clock_mono_ms();
    if (desk_free(desk, now) && choose(loop, now, &work) && desk_begin(desk, work))
        main_desk_done(loop);
}

static void next_desk_turn(struct loop *loop)
{
    struct desk *desk = &loop->desks[DESK_NEXT];
    struct work_kind work;
    if (desk->pg && desk->working)
        (void)go_on(loop, DESK_NEXT);
    int64_t now = clock_mono_ms();
    if (desk_free(desk, now) && ask_next(loop, loop->claimers[DESK_NEXT], now, &work))
        (void)desk_begin(desk, work);
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
    main_desk_turn(loop);
    next_desk_turn(loop);
    count_coming(loop);
    loop->has_more = false;
    for (size_t i = 0; i < DESKS; i++) {
        loop->has_more |= desk_meanwhile(&loop->desks[i]);
        desk_watch(&loop->desks[i], loop->epoll_fd);
    }
}

bool loop_db_working(const struct loop *loop)
{
    bool working = false;
    for (size_t i = 0; i < DESKS; i++)
        working |= loop->desks[i].working;
    return working;
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

static int64_t claim_at_ms(const struct loop *loop, int64_t now)
{
    return may_claim(loop, now) ? turns_at_ms(&loop->turns, now) : INT64_MAX;
}

// The main desk's work but claims and policies.
static int64_t upkeep_at_ms(const struct loop *loop)
{
    int64_t at = earlier(gauges_next_ms(loop->gauges), leases_renew_at(&loop->leases));
    if (!loop->stopping)
        at = earlier(at, earlier(loop->resume_ms, tokens_next_ms(loop->bearers.tokens)));
    if (may_look(loop))
        at = earlier(at, loop->takeover_ms);
    return earlier(at, lookups_next_ms(loop->lookups, may_look(loop)));
}

static int64_t main_desk_next_ms(const struct loop *loop, int64_t now)
{
    const struct desk *desk = &loop->desks[DESK_MAIN];
    if (!desk->pg || desk->working)
        return desk_next_ms(desk, now);
    int64_t at = earlier(upkeep_at_ms(loop), claim_at_ms(loop, now));
    at = earlier(at, loop_policies_at_ms(loop));
    return at < desk->quiet_until_ms ? desk->quiet_until_ms : at;
}

static int64_t next_desk_next_ms(const struct loop *loop, int64_t now)
{
    const struct desk *desk = &loop->desks[DESK_NEXT];
    if (!desk->pg || desk->working)
        return desk_next_ms(desk, now);
    int64_t at = claim_at_ms(loop, now);
    return at < desk->quiet_until_ms ? desk->quiet_until_ms : at;
}

int64_t loop_db_next_ms(const struct loop *loop)
{
    int64_t now = clock_mono_ms();
    if (loop->has_more)
        return now;
    return earlier(record_desk_next_ms(loop, now),
            earlier(main_desk_next_ms(loop, now), next_desk_next_ms(loop, now)));
}
