#include "dispatcher/loop_db.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"

#include <stdio.h>

enum {
    FLIGHT_MAX_MS = 10000, // a database that answers nothing for so long is gone
    TAKEOVER_EVERY_MS = 1000,
    GAUGES_EVERY_MS = 10000,
    REFRESH_AGAIN_MS = 1000,
    QUIET_AFTER_FAILURE_MS = 100,
    GATHER_PART = 8,
    IDLE_FACTOR_MAX = 4, // an idle dispatcher polls so many times slower
    EX_CONFIG_CODE = 78,
};

// --- The connection

static void count_failure(const struct pg *pg)
{
    char class[3] = "08"; // connection exception
    const char *state = pg ? pg_sqlstate(pg) : "";
    if (state[0])
        snprintf(class, sizeof class, "%.2s", state);
    series_inc(metric(METRIC_DB_ERRORS, class, NULL));
}

static void disconnect(struct loop *loop)
{
    pg_close(loop->pg);
    loop->pg = NULL;
    atomic_store(&loop->connected, false);
}

static void connected(struct loop *loop)
{
    struct err err = {0};
    if (!policies_connected(loop->policies, loop->pg, &err)) {
        LOG(ERROR, "database.refused", "the database does not fit", L_STR("error", err.msg));
        count_failure(loop->pg);
        disconnect(loop);
        if (err.kind == ERR_FATAL && !loop->was_connected)
            loop->exit_code = EX_CONFIG_CODE;
        return;
    }
    loop->was_connected = true;
    atomic_store(&loop->connected, true);
    loop->claim_ms = loop->refresh_ms = 0;
    LOG0(INFO, "database.connected", "the database answers");
}

static void connect_turn(struct loop *loop)
{
    struct err err = {0};
    switch (connector_turn(loop->connector, &loop->pg, &err)) {
    case CONNECTING:
        return;
    case CONNECTED:
        connected(loop);
        return;
    case CONNECT_FAILED:
        break;
    }
    count_failure(NULL);
    LOG(WARNING, "database.unreachable", "can't connect to the database", L_STR("error", err.msg));
    if (err.kind == ERR_FATAL && !loop->was_connected)
        loop->exit_code = EX_CONFIG_CODE;
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
    if (policies_refresh(loop->policies, loop->pg, &err)) {
        loop->refresh_ms = 0;
        atomic_store(&loop->has_sender, true);
        if (loop->options.policy_active)
            loop->options.policy_active(loop->options.user, policies_sender(loop->policies));
        return;
    }
    LOG(ERROR, "policy.unusable", "the active policy can't be used", L_STR("error", err.msg));
    if (!pg_alive(loop->pg))
        disconnect(loop);
}

static void load_missing(struct loop *loop)
{
    struct err err = {0};
    if (!policies_load(loop->policies, loop->pg, claimer_missing(loop->claimer), &err) &&
            !pg_alive(loop->pg))
        disconnect(loop);
}

// --- Which work is next

static bool wants_claim(const struct loop *loop, int64_t now)
{
    if (loop->stopping || !policies_sender(loop->policies) || now < loop->claim_ms)
        return false;
    // What waits for its record is bounded: no claims while records don't get through.
    if (recorder_pending(loop->recorder) > (size_t)loop->options.transfers)
        return false;
    // With more due than fits, a few ended transfers are worth one poll's wait, not a claim each.
    int free = transport_free_slots(loop->wire.transport);
    bool gather = loop->more_due && now < loop->claim_ms + loop->options.poll_ms;
    return free > (gather ? loop->options.transfers / GATHER_PART : 0);
}

static bool choose_upkeep(struct loop *loop, int64_t now)
{
    if (now >= leases_renew_at(&loop->leases)) {
        loop->work = renewal_work(loop->renewal);
    } else if (!loop->stopping && now >= loop->takeover_ms) {
        loop->takeover_ms = now + TAKEOVER_EVERY_MS;
        loop->work = takeover_work(loop->takeover);
    } else if (wants_claim(loop, now)) {
        claimer_ask(loop->claimer, transport_free_slots(loop->wire.transport));
        loop->work = claimer_work(loop->claimer);
    } else if (now >= loop->gauges_ms) {
        loop->gauges_ms = now + GAUGES_EVERY_MS;
        loop->work = gauges_work(loop->gauges);
    } else {
        return false;
    }
    return true;
}

static bool choose(struct loop *loop, int64_t now)
{
    bool results = recorder_pending(loop->recorder) > 0;
    if (results && !loop->recorded_last) {
        loop->work = recorder_work(loop->recorder);
        loop->recorded_last = true;
        return true;
    }
    loop->recorded_last = false;
    if (choose_upkeep(loop, now))
        return true;
    if (results)
        loop->work = recorder_work(loop->recorder);
    return results;
}

// --- Running it

static void after_claim(struct loop *loop)
{
    int64_t now = clock_mono_ms(), poll_ms = loop->options.poll_ms;
    if (claimer_missing(loop->claimer))
        load_missing(loop);
    if (claimer_missing(loop->claimer) || claimer_outdated(loop->claimer)) {
        loop->claim_ms = now;
        return;
    }
    loop->more_due = claimer_full(loop->claimer);
    if (claimer_took(loop->claimer) > 0)
        loop->idle_ms = poll_ms;
    else
        loop->idle_ms = loop->idle_ms * 2 < poll_ms * IDLE_FACTOR_MAX ? loop->idle_ms * 2
                                                                      : poll_ms * IDLE_FACTOR_MAX;
    if (loop->idle_ms < poll_ms)
        loop->idle_ms = poll_ms;
    loop->claim_ms = loop->more_due ? now : now + loop->idle_ms;
}

static void done(struct loop *loop)
{
    loop->working = false;
    if (loop->work.self == loop->claimer)
        after_claim(loop);
    if (loop->work.self == loop->takeover && takeover_found(loop->takeover))
        loop->takeover_ms = 0;
}

static void failed(struct loop *loop, const struct err *err)
{
    loop->working = false;
    count_failure(loop->pg);
    LOG(WARNING, "database.failed", "database work failed, it will be done again",
            L_STR("work", loop->work.name), L_STR("sqlstate", pg_sqlstate(loop->pg)),
            L_STR("error", err->msg));
    loop->work.fail(loop->work.self, loop->pg);
    loop->quiet_until_ms = clock_mono_ms() + QUIET_AFTER_FAILURE_MS;
    if (!pg_alive(loop->pg) || !pg_rollback(loop->pg))
        disconnect(loop);
}

static void went(struct loop *loop, enum work how, const struct err *err)
{
    if (how == WORK_DONE)
        done(loop);
    else if (how == WORK_FAILED)
        failed(loop, err);
    else
        loop->launched_ms = clock_mono_ms();
}

static void begin(struct loop *loop)
{
    struct err err = {0};
    loop->working = true;
    went(loop, loop->work.start(loop->work.self, loop->pg, &err), &err);
}

static void hung(struct loop *loop)
{
    struct err err = {0};
    err_set(&err, ERR_TEMP, "no answer within %d ms", FLIGHT_MAX_MS);
    loop->working = false;
    count_failure(NULL);
    LOG(WARNING, "database.hung", "the database does not answer", L_STR("work", loop->work.name));
    loop->work.fail(loop->work.self, loop->pg);
    disconnect(loop);
}

static void go_on(struct loop *loop)
{
    struct err err = {0};
    switch (pg_step(loop->pg, &err)) {
    case PG_DONE:
        went(loop, loop->work.next(loop->work.self, loop->pg, &err), &err);
        return;
    case PG_FAILED:
        failed(loop, &err);
        return;
    case PG_WAIT:
        break;
    }
    if (clock_mono_ms() - loop->launched_ms > FLIGHT_MAX_MS)
        hung(loop);
}

void loop_db_turn(struct loop *loop)
{
    if (!loop->pg)
        connect_turn(loop);
    if (loop->pg && loop->working)
        go_on(loop);
    if (!loop->pg || loop->working || clock_mono_ms() < loop->quiet_until_ms)
        return;
    if (!loop->stopping)
        refresh(loop);
    if (loop->pg && choose(loop, clock_mono_ms()))
        begin(loop);
}

// --- When

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t loop_db_next_ms(const struct loop *loop)
{
    int64_t now = clock_mono_ms();
    if (!loop->pg)
        return now + QUIET_AFTER_FAILURE_MS;
    if (loop->working)
        return loop->launched_ms + FLIGHT_MAX_MS + 1;
    int64_t at = earlier(loop->gauges_ms, leases_renew_at(&loop->leases));
    if (recorder_pending(loop->recorder) > 0)
        at = now;
    if (!loop->stopping)
        at = earlier(at, loop->takeover_ms);
    if (!loop->stopping && wants_refresh(loop))
        at = earlier(at, loop->refresh_ms);
    if (wants_claim(loop, loop->claim_ms))
        at = earlier(at, loop->claim_ms);
    else if (wants_claim(loop, loop->claim_ms + loop->options.poll_ms))
        at = earlier(at, loop->claim_ms + loop->options.poll_ms);
    return at < loop->quiet_until_ms ? loop->quiet_until_ms : at;
}
