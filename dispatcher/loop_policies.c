#include "dispatcher/loop_policies.h"

#include "common/clock.h"

enum { REFRESH_AGAIN_MS = 1000 };

static bool any_claims(const struct loop *loop)
{
    return loop_db_claims(loop, DESK_MAIN) || loop_db_claims(loop, DESK_NEXT);
}

static bool wants_refresh(const struct loop *loop)
{
    const struct policy *sender = policies_sender(loop->policies);
    bool newer = !sender;
    for (size_t i = 0; i < CLAIMERS && !newer; i++)
        newer = claimer_report(loop->claimers[i]).seen_version > sender->version;
    return newer;
}

static bool refresh_is_due(const struct loop *loop, int64_t now_ms)
{
    return atomic_load(&loop->reload_asked) || (wants_refresh(loop) && now_ms >= loop->refresh_ms);
}

bool loop_policies_outdated(const struct loop *loop, int version)
{
    const struct policy *sender = policies_sender(loop->policies);
    return (!sender || version > sender->version) && clock_mono_ms() >= loop->refresh_ms;
}

bool loop_policies_wanted(const struct loop *loop, int64_t now_ms)
{
    return !loop->stopping && (loop->missing || refresh_is_due(loop, now_ms));
}

int64_t loop_policies_at_ms(const struct loop *loop)
{
    bool any = !loop->stopping && !any_claims(loop);
    if (any && (loop->missing || atomic_load(&loop->reload_asked)))
        return 0;
    return any && wants_refresh(loop) ? loop->refresh_ms : INT64_MAX;
}

static void refresh(struct loop *loop)
{
    loop->refresh_ms = clock_mono_ms() + REFRESH_AGAIN_MS;
    atomic_store(&loop->reload_asked, false);
    struct err err = {0};
    struct desk *desk = &loop->desks[DESK_MAIN];
    if (policies_refresh(loop->policies, desk->pg, &err)) {
        loop->refresh_ms = 0;
        health_policy(loop->health, NULL);
        atomic_store(&loop->has_sender, true);
        tokens_policy(loop->bearers.tokens, policies_sender(loop->policies));
        turns_policy(&loop->turns, policies_sender(loop->policies));
        route_policy(loop->route, policies_sender(loop->policies));
        if (loop->options.policy_active)
            loop->options.policy_active(loop->options.user, policies_sender(loop->policies));
        return;
    }
    health_policy(loop->health, err.msg);
    if (pg_alive(desk->pg))
        return;
    desk_disconnect(desk);
    atomic_store(&loop->reload_asked, true); // made up for when the database is back
}

static void load_missing(struct loop *loop)
{
    struct err err = {0};
    struct desk *desk = &loop->desks[DESK_MAIN];
    if (!policies_load(loop->policies, desk->pg, loop->missing, &err) && !pg_alive(desk->pg))
        desk_disconnect(desk);
    loop->missing = 0;
}

void loop_policies_turn(struct loop *loop)
{
    int64_t now = clock_mono_ms();
    const struct desk *desk = &loop->desks[DESK_MAIN];
    if (!loop_policies_wanted(loop, now) || any_claims(loop))
        return;
    if (loop->missing && desk_free(desk, now))
        load_missing(loop);
    if (refresh_is_due(loop, now) && desk_free(desk, now))
        refresh(loop);
}
