#include "dispatcher/loop.h"

#include "common/clock.h"
#include "common/daemon.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/asker.h"
#include "dispatcher/loop_db.h"
#include "dispatcher/loop_policies.h"
#include "dispatcher/send/providers.h"
#include "dispatcher/send/sms.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    WAIT_MAX_MS = 1000,
    LIVE_MS = 30000,         // the loop turns at least once a second
    ABORTED_RECORD_MS = 800, // after the grace time: for the records of what was cut off
    CONNECT_MS = 5000,
    REPLY_MS = 60000,
    FINAL_REPLY_MS = 600000, // RFC 5321 4.5.3.2.6: ten minutes after the final dot
};

// --- What the stages are handed

static enum rules rules(void *user, int version)
{
    struct loop *loop = user;
    bool broken = false;
    if (policies_rules(loop->policies, version, &broken))
        return RULES_READY;
    return broken ? RULES_BROKEN : RULES_MISSING;
}

static bool current(void *user, int version)
{
    return !loop_policies_outdated(user, version);
}

// As often as a claim meets it would be too much.
static void tell_of_files(struct loop *loop, const struct err *err)
{
    int64_t now = clock_mono_ms();
    if (now < loop->files_told_ms)
        return;
    loop->files_told_ms = now + CLAIM_FILES_WAIT_MS;
    LOG(ERROR, "attachments.unreadable", "files can't be read now: their mails wait",
            L_STR("error", err->msg));
}

static bool render(void *user, struct delivery *delivery, int64_t now_us, struct err *err)
{
    struct loop *loop = user;
    bool broken = false;
    const struct render_context *kept = policies_rules(loop->policies, delivery->policy, &broken);
    if (!kept)
        return err_set(err, ERR_INPUT, "policy version %d is not loaded", delivery->policy);
    struct render_context context = *kept;
    context.now_us = now_us;
    context.sender = policies_sender(loop->policies);
    context.tree = &loop->tree;
    context.attachments = loop->options.attachments;
    struct segments ignored;
    bool ok = render_content(&context, delivery, err);
    if (!ok && err->kind == ERR_TEMP)
        tell_of_files(loop, err);
    return ok && (delivery->channel != CHANNEL_SMS ||
                         sms_text_check(slice_of(delivery->content.text), &ignored, err));
}

static bool route(void *user, struct delivery *delivery, int64_t *ret_wait_ms)
{
    struct loop *loop = user;
    if (route_choose(loop->route, delivery, clock_mono_ms(), ret_wait_ms))
        return true;
    // However long nothing takes it: what expires meanwhile is looked at then.
    int64_t left_ms = (delivery->expires_us - leases_now_us(&loop->leases)) / 1000 + 1;
    if (delivery->expires_us && left_ms < *ret_wait_ms)
        *ret_wait_ms = left_ms > 0 ? left_ms : 0;
    return false;
}

static void unroute(void *user, struct delivery *delivery)
{
    struct loop *loop = user;
    delivery->result = (struct attempt_result){.outcome = ATTEMPT_GIVEN_BACK};
    route_ended(loop->route, delivery, clock_mono_ms());
}

static const struct provider *provider(void *user, const struct delivery *delivery)
{
    const struct loop *loop = user;
    return route_provider(loop->route, delivery);
}

static bool paused(void *user, const struct provider *of)
{
    const struct loop *loop = user;
    return pauses_pass_by(&loop->pauses, policies_sender(loop->policies), of);
}

static void breaker_changed(
        void *user, enum channel_kind channel, const char *name, int64_t open_ms)
{
    struct loop *loop = user;
    health_breaker(loop->health, channel, name, open_ms);
}

static bool ask(void *user, const struct provider *provider, enum channel_kind channel,
        const char *key_hex, int64_t created_us, struct look *look)
{
    const struct loop *loop = user;
    return asker_ask(loop->wire.transport, provider, channel, key_hex, created_us, look);
}

static void granted(void *user, struct delivery *list)
{
    struct loop *loop = user;
    wire_start(&loop->wire, list, atomic_load(&loop->stop_asked));
}

static void doubtful(void *user, struct delivery *list)
{
    struct loop *loop = user;
    LOG0(WARNING, "claim.doubtful", "a claim's commit was not confirmed: its members go back");
    wire_give_back(&loop->wire, list);
}

static const struct policy *sender(void *user)
{
    struct loop *loop = user;
    return policies_sender(loop->policies);
}

static int room(void *user, enum channel_kind channel)
{
    const struct loop *loop = user;
    return turns_free(&loop->turns, channel);
}

static bool barred(void *user, const struct delivery *delivery)
{
    const struct loop *loop = user;
    const struct policy *active = policies_sender(loop->policies);
    return route_shut(loop->route, delivery) ||
           (active && pauses_find(&loop->pauses, delivery, &active->channels[delivery->channel]));
}

static void ended(void *user, struct delivery *delivery)
{
    struct loop *loop = user;
    if (delivery->result.outcome == ATTEMPT_ACCEPTED)
        turns_accepted(&loop->turns, delivery->channel, delivery->result.wire_ms, clock_mono_ms());
    if (!loop->aborted) // what is cut off by us says nothing about a provider
        health_note(loop->health, delivery, clock_mono_ms());
    route_ended(loop->route, delivery, clock_mono_ms());
    if (delivery->result.stale_token)
        tokens_stale(loop->bearers.tokens, &delivery->bearer);
    recorder_push(loop->recorder, delivery);
}

static const struct message *message(void *user, int policy, int type)
{
    struct loop *loop = user;
    bool broken = false;
    const struct render_context *context = policies_rules(loop->policies, policy, &broken);
    return context ? policy_message_by_id(context->policy, type) : NULL;
}

static void wake(void *user)
{
    struct loop *loop = user;
    transport_wakeup(loop->wire.transport);
}

// --- Life

static void make_claimers(struct loop *loop)
{
    const struct claimer_options claims = {.leases = &loop->leases,
            .lanes = loop->lanes,
            .rules = rules,
            .current = current,
            .message = message,
            .sender = sender,
            .zones = loop->zones,
            .pauses = &loop->pauses,
            .render = render,
            .route = route,
            .unroute = unroute,
            .granted = granted,
            .doubtful = doubtful,
            .user = loop};
    for (size_t i = 0; i < CLAIMERS; i++)
        loop->claimers[i] = claimer_new(&claims);
}

struct loop *loop_new(const struct loop_options *options, struct err *err)
{
    struct transport_options wires = {.transfers = options->transfers + TURNS_EXTRA,
            .connect_ms = CONNECT_MS,
            .reply_ms = REPLY_MS,
            .final_reply_ms = FINAL_REPLY_MS,
            .attachments = options->attachments};
    struct transport *transport = transport_new(&wires, err);
    if (!transport)
        return NULL;
    struct loop *loop = xcalloc(1, sizeof *loop);
    loop->options = *options;
    leases_init(&loop->leases, options->lease_ms);
    loop->policies = policies_new(&(struct policies_options){
            .credentials = options->credentials, .known = options->known});
    loop->bearers.transport = transport;
    const struct token_maker maker = bearer_token_maker(&loop->bearers);
    loop->bearers.tokens = tokens_new(&maker);
    loop->wire = (struct wire){.transport = transport,
            .leases = &loop->leases,
            .tokens = loop->bearers.tokens,
            .sender = sender,
            .provider = provider,
            .room = room,
            .barred = barred,
            .ended = ended,
            .user = loop};
    turns_init(&loop->turns, options->transfers, options->poll_ms, loop->wire.by_channel,
            loop->wire.stock.n, loop->coming);
    loop->recorder = recorder_new(
            &(struct recorder_options){.leases = &loop->leases, .message = message, .user = loop});
    loop->zones = zones_new();
    make_claimers(loop);
    loop->takeover = takeover_new(&loop->leases, sender, loop);
    loop->lookups = lookups_new(&(struct lookup_options){
            .leases = &loop->leases, .sender = sender, .ask = ask, .user = loop});
    loop->resumer = resumer_new(&loop->pauses, sender, loop);
    loop->renewal = renewal_new(&loop->leases);
    loop->gauges = gauges_new();
    loop->health = health_new();
    loop->route = route_new(&(struct route_options){.key_window_s = driver_key_window_s,
            .paused = paused,
            .changed = breaker_changed,
            .user = loop});
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < DESKS; i++)
        desk_init(&loop->desks[i], options->database, wake, loop);
    atomic_store(&loop->turned_ms, clock_mono_ms());
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    wire_stop(&loop->wire);
    for (size_t i = 0; i < DESKS; i++)
        desk_fini(&loop->desks[i]);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    for (size_t i = 0; i < CLAIMERS; i++)
        claimer_free(loop->claimers[i]);
    json_tree_fini(&loop->tree);
    zones_free(loop->zones);
    pauses_fini(&loop->pauses);
    recorder_free(loop->recorder);
    takeover_free(loop->takeover);
    resumer_free(loop->resumer);
    renewal_free(loop->renewal);
    gauges_free(loop->gauges);
    route_free(loop->route);
    health_free(loop->health);
    transport_free(loop->wire.transport);
    lookups_free(loop->lookups); // after what may still answer it
    tokens_free(loop->bearers.tokens);
    policies_free(loop->policies);
    leases_fini(&loop->leases);
    free(loop);
}

// --- From other threads

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->stop_asked, true);
    wake(loop);
}

void loop_reload(struct loop *loop)
{
    atomic_store(&loop->reload_asked, true);
    wake(loop);
}

bool loop_ready(struct loop *loop, struct text *checks)
{
    bool database = atomic_load(&loop->connected), policy = atomic_load(&loop->has_sender);
    text_fmt(checks, "{\"name\":\"database\",\"ok\":%s,\"detail\":\"%s\"},",
            database ? "true" : "false", database ? "connected" : "not connected");
    health_policy_check(loop->health, policy, checks);
    health_checks(loop->health, checks);
    return database && policy;
}

bool loop_live(struct loop *loop)
{
    return clock_mono_ms() - atomic_load(&loop->turned_ms) < LIVE_MS;
}

// --- Turning

static void begin_stop(struct loop *loop)
{
    loop->stopping = true;
    loop->grace_ends_ms = clock_mono_ms() + loop->options.grace_ms;
    wire_stop(&loop->wire);
    LOG(INFO, "dispatcher.stopping", "nothing new starts", L_INT("on_the_wire", loop->wire.flying),
            L_INT("grace_ms", loop->options.grace_ms));
}

// True when nothing is left to wait for.
static bool stop_turn(struct loop *loop)
{
    if (!loop->stopping)
        return false;
    int64_t now = clock_mono_ms();
    if (now >= loop->grace_ends_ms && !loop->aborted) {
        loop->aborted = true;
        transport_abort(loop->wire.transport);
        wire_collect(&loop->wire);
    }
    bool open = loop_db_working(loop) || loop->wire.flying > 0 ||
                recorder_pending(loop->recorder) > 0 || lookups_busy(loop->lookups);
    // Results that can't be recorded now are judged by whoever takes the lease over.
    return !open || now >= loop->grace_ends_ms + ABORTED_RECORD_MS;
}

static int64_t next_wait_ms(const struct loop *loop)
{
    int64_t now = clock_mono_ms(), at = now + WAIT_MAX_MS;
    int64_t due = loop_db_next_ms(loop);
    if (due < at)
        at = due;
    if (loop->stopping && !loop->aborted && loop->grace_ends_ms < at)
        at = loop->grace_ends_ms;
    if (wire_next_ms(&loop->wire, now) < at)
        at = wire_next_ms(&loop->wire, now);
    return at > now ? at - now : 0;
}

static void wait_for_something(struct loop *loop)
{
    short seen = 0;
    transport_poll(loop->wire.transport, next_wait_ms(loop), loop->epoll_fd, POLLIN, &seen);
}

int loop_run(struct loop *loop)
{
    struct series *inflight = metric(METRIC_INFLIGHT, "dispatcher", NULL);
    int64_t fed_ms = 0;
    while (loop->exit_code == 0) {
        atomic_store(&loop->turned_ms, clock_mono_ms());
        daemon_feed_watchdog(&fed_ms);
        if (atomic_load(&loop->stop_asked) && !loop->stopping)
            begin_stop(loop);
        wire_collect(&loop->wire);
        loop_db_turn(loop);
        series_set(inflight, loop->wire.flying);
        gauges_show_age(loop->gauges, clock_mono_ms());
        if (stop_turn(loop))
            break;
        wait_for_something(loop);
    }
    return loop->exit_code;
}
