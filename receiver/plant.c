#include "receiver/plant.h"

#include "common/clock.h"
#include "common/json/scan.h"
#include "common/log.h"
#include "common/metrics.h"
#include "receiver/accept/accept.h"
#include "receiver/door.h"
#include "receiver/http/server.h"
#include "receiver/published.h"
#include "receiver/quarantine.h"
#include "receiver/uses/uses.h"
#include "receiver/verify/scheme.h"
#include "receiver/verify/verify.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

// Waiting arrivals of one lane; beyond, 503. At 10,000 events a second of one lane the deadline
// comes before the queue is full.
#define QUEUE_ROWS 8192
#define QUEUE_BYTES ((size_t)64 << 20)
#define STUCK_MS 10000       // a loop that has not turned for so long is not alive
#define FIRST_POLICY_MS 1000 // how long the first request may wait in the kernel's backlog
#define FIRST_POLICY_LOOK_MS 5
#define LEAVE_MS 500 // for the accept threads, once every request has its answer

struct plant {
    const struct host_config *host;
    struct policy_box *policies;
    struct server *server;
    struct accept *accept;
    struct reject *reject;
    struct uses *uses;
    struct published *published;
    int lanes;
    int shown_version; // of pawl_policy_info
    atomic_bool draining;
};

static struct policy *give_policy(void *user)
{
    struct plant *plant = user;
    return policy_box_get(plant->policies);
}

static bool submit(void *user, int lane, struct arrival *arrival, bool *ret_full)
{
    struct plant *plant = user;
    arrival->lane = lane;
    *ret_full = accept_connected(plant->accept) > 0;
    return *ret_full && accept_submit(plant->accept, arrival);
}

static void refused(void *user, const struct refused *refused)
{
    struct plant *plant = user;
    quarantine_refused(plant->reject, refused);
}

// A batch has arrivals of several loops: each gets its own back, in one message.
static void done(void *user, struct arrival *batch)
{
    struct plant *plant = user;
    while (batch) {
        int lane = batch->lane;
        struct arrival *own = NULL, **own_end = &own, *others = NULL, **others_end = &others;
        for (struct arrival *at = batch; at; at = at->next) {
            struct arrival ***end = at->lane == lane ? &own_end : &others_end;
            **end = at;
            *end = &at->next;
        }
        *own_end = *others_end = NULL;
        server_hand_back(plant->server, lane, own);
        batch = others;
    }
}

static int lanes_of(const struct host_config *host)
{
    cpu_set_t cpus;
    int n = host->receiver.threads;
    if (n <= 0)
        n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return n < SERVER_LANES_MAX ? n : SERVER_LANES_MAX;
}

static bool start_accept(struct plant *plant, struct err *err)
{
    struct accept_options options = {.conninfo = plant->host->database,
            .credentials = plant->host->credentials,
            .known = {.scheme = scheme_known,
                    .row = scheme_made,
                    .scheme_row = scheme_known_row,
                    .signs_url = scheme_signs_url,
                    .keys = scheme_keys},
            .pointers = door_pointers,
            .policies = plant->policies,
            .queue_rows = QUEUE_ROWS * plant->lanes,
            .queue_bytes = QUEUE_BYTES * (size_t)plant->lanes,
            .deadline_ms = plant->host->receiver.deadline_ms,
            .done = done,
            .user = plant};
    plant->accept = accept_start(&options, plant->lanes, err);
    return plant->accept;
}

static bool can_accept(const struct plant *plant)
{
    struct policy *policy = policy_box_get(plant->policies);
    bool loaded = policy;
    policy_unref(policy);
    return loaded && accept_connected(plant->accept) == plant->lanes;
}

// With a socket of systemd's, requests may be waiting already: those of a restart are not answered
// 503 when a moment is enough. A database that is away is not waited for.
static void wait_for_first_policy(const struct plant *plant)
{
    int64_t end_ms = clock_mono_ms() + FIRST_POLICY_MS;
    while (!can_accept(plant) && clock_mono_ms() < end_ms)
        poll(NULL, 0, FIRST_POLICY_LOOK_MS);
}

static void watch_published(struct plant *plant)
{
    struct policy *policy = policy_box_get(plant->policies);
    if (policy)
        published_watch(plant->published, policy);
    policy_unref(policy);
}

static bool build(struct plant *plant, const int *fds, size_t n_fds, struct err *err)
{
    struct server_options options = {.fds = fds,
            .n_fds = n_fds,
            .lanes = plant->lanes,
            .connections = plant->host->receiver.connections,
            .body_max = plant->host->receiver.body_max,
            .deadline_ms = plant->host->receiver.deadline_ms,
            .stages = {.policy = give_policy,
                    .verify = door_verify,
                    .greet = door_greet,
                    .submit = submit,
                    .refused = refused,
                    .user = plant}};
    plant->server = server_new(&options, err);
    if (!plant->server)
        return false;
    plant->reject = reject_start(plant->host->database, err);
    if (!plant->reject)
        return false;
    plant->published = published_start(plant->host, err);
    if (!plant->published)
        return false;
    door_use(published_keys(plant->published));
    if (!start_accept(plant, err))
        return false;
    const struct uses_options uses = {plant->host->database, give_policy, plant};
    plant->uses = uses_start(&uses, err);
    if (!plant->uses)
        return false;
    wait_for_first_policy(plant);
    watch_published(plant);
    return server_start(plant->server, err);
}

struct plant *plant_start(
        const struct host_config *host, const int *fds, size_t n_fds, struct err *err)
{
    struct plant *plant = xcalloc(1, sizeof *plant);
    plant->host = host;
    plant->lanes = lanes_of(host);
    plant->policies = policy_box_new();
    if (build(plant, fds, n_fds, err))
        return plant;
    if (plant->server)
        plant_drain(plant, 0);
    plant_free(plant);
    return NULL;
}

// First the loops, which need answers from accept until the last request has gone; then accept,
// whose late arrivals the server still takes back.
void plant_drain(struct plant *plant, int64_t grace_ms)
{
    plant->draining = true;
    server_drain(plant->server, grace_ms);
    accept_stop(plant->accept, grace_ms < LEAVE_MS ? grace_ms : LEAVE_MS);
    plant->accept = NULL;
    reject_stop(plant->reject, grace_ms < LEAVE_MS ? grace_ms : LEAVE_MS);
    plant->reject = NULL;
    uses_stop(plant->uses);
    plant->uses = NULL;
}

void plant_free(struct plant *plant)
{
    if (!plant)
        return;
    server_free(plant->server);
    door_use(NULL);
    published_stop(plant->published);
    policy_box_free(plant->policies);
    free(plant);
}

void plant_reload(struct plant *plant)
{
    accept_reload(plant->accept);
}

static void add_check(struct text *checks, const char *name, bool ok, const char *detail)
{
    text_fmt(checks, "%s{\"name\":", checks->len ? "," : "");
    json_quote(checks, slice_of(name));
    text_fmt(checks, ",\"ok\":%s,\"detail\":", ok ? "true" : "false");
    json_quote(checks, slice_of(ok ? "" : detail));
    text_char(checks, '}');
}

// Nothing is wrong, but people should see it.
static void add_remark(struct text *checks, const char *name, const char *detail)
{
    text_str(checks, ",{\"name\":");
    json_quote(checks, slice_of(name));
    text_str(checks, ",\"ok\":true,\"detail\":");
    json_quote(checks, slice_of(detail));
    text_char(checks, '}');
}

// Sources whose scheme does not run yet are told when the policy is applied, not here.
static void check_sources(const struct policy *policy, struct text *checks)
{
    int64_t now_s = clock_now_s();
    for (size_t i = 0; i < policy->n_sources; i++) {
        const struct source *source = &policy->sources[i];
        if (!source->active)
            continue;
        char name[80];
        snprintf(name, sizeof name, "source %s", source->name);
        add_check(checks, name, scheme_has_key(source, now_s), "no live secret");
        if (scheme_unverified(source))
            add_remark(checks, name, "believes anybody: verify: none");
    }
}

bool plant_ready(void *user, struct text *checks)
{
    struct plant *plant = user;
    // The accept threads end with the drain: they are not asked from then on.
    bool connected = !plant->draining && accept_connected(plant->accept) > 0;
    struct policy *policy = policy_box_get(plant->policies);
    add_check(checks, "serving", !plant->draining, "draining");
    add_check(checks, "database", connected, "no connection");
    add_check(checks, "policy", policy, "none loaded");
    if (policy)
        check_sources(policy, checks);
    bool ready = !plant->draining && connected && policy;
    policy_unref(policy);
    return ready;
}

bool plant_live(void *user)
{
    const struct plant *plant = user;
    return plant->draining || server_idle_ms(plant->server) < STUCK_MS;
}

static void warn_of_unverified(const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_sources; i++) {
        if (scheme_unverified(&policy->sources[i]))
            LOG(WARNING, "source.unverified", "this source believes anybody who can reach it",
                    L_STR("source", policy->sources[i].name));
    }
}

static void show_version(int version, double value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", version);
    series_set(metric(METRIC_POLICY_INFO, text, NULL), value);
}

void plant_tick(struct plant *plant)
{
    struct policy *policy = policy_box_get(plant->policies);
    if (policy && policy->version != plant->shown_version) {
        if (plant->shown_version)
            show_version(plant->shown_version, 0);
        show_version(policy->version, 1);
        plant->shown_version = policy->version;
        warn_of_unverified(policy);
        published_watch(plant->published, policy);
    }
    policy_unref(policy);
}
