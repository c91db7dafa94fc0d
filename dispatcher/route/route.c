#include "dispatcher/route/route.h"

#include "common/metrics.h"
#include "dispatcher/route/state.h"

#include <openssl/rand.h>
#include <stdio.h>

struct route *route_new(const struct route_options *options)
{
    struct route *route = xcalloc(1, sizeof *route);
    route->options = *options;
    (void)RAND_bytes((unsigned char *)&route->random, sizeof route->random);
    return route;
}

void route_free(struct route *route)
{
    if (!route)
        return;
    free(route->rows);
    free(route);
}

// Spreads waits, nothing more: splitmix64, from a random start.
static uint32_t random_32(struct route *route)
{
    uint64_t z = route->random += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (uint32_t)(z >> 32);
}

// --- What the policy says

static struct row *find(struct row *rows, size_t n, enum channel_kind channel, const char *name)
{
    for (size_t i = 0; name && i < n; i++)
        if (rows[i].channel == channel && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void show_breaker(const struct row *row)
{
    bool open = row->breaker.state != BREAKER_CLOSED;
    series_set(metric(METRIC_BREAKER_OPEN, channel_name(row->channel), row->name, NULL), open);
}

static void set_row(struct route *route, struct row *row, const struct provider *provider)
{
    row->provider = provider;
    row->limit = provider->concurrency > 0 ? provider->concurrency : ROUTE_CONCURRENCY;
    row->key_window_us = 1000000 * route->options.key_window_s(row->channel, provider->driver_name);
    row->host[0] = '\0';
    if (provider->driver == DRIVER_SMTP && provider->url)
        row_host(provider->url, row->host);
    permits_rate(&row->permits, provider->rate);
    // Settings or credentials may have been mended: it is asked again at once, by one.
    if (row->breaker.state == BREAKER_OPEN)
        row->breaker.open_until_ms = 0;
    show_breaker(row);
}

static size_t add_channel(struct route *route, const struct channel *channel, struct row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < channel->n_providers; i++) {
        const struct provider *provider = &channel->providers[i];
        if (provider->driver == DRIVER_OTHER || !provider->name)
            continue;
        struct row *before = find(route->rows, route->n, channel->kind, provider->name);
        struct row *row = &rows[n++];
        if (before)
            *row = *before;
        row->channel = channel->kind;
        snprintf(row->name, sizeof row->name, "%s", provider->name);
        set_row(route, row, provider);
        if (before)
            before->flying = 0; // it is counted in the new row from here
    }
    return n;
}

void route_policy(struct route *route, const struct policy *policy)
{
    if (route->policy == policy)
        return;
    size_t most = route->n;
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        most += policy->channels[kind].n_providers;
    struct row *rows = xcalloc(most + 1, sizeof *rows);
    size_t n = 0;
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        permits_rate(&route->channels[kind], policy->channels[kind].rate);
        n += add_channel(route, &policy->channels[kind], rows + n);
    }
    for (size_t i = 0; i < route->n; i++) {
        if (route->rows[i].flying == 0)
            continue;
        rows[n] = route->rows[i];
        rows[n++].provider = NULL;
    }
    free(route->rows);
    route->rows = rows;
    route->n = n;
    route->n_asked = 0;
    route->policy = policy;
}

size_t route_rows(struct route *route, enum channel_kind channel, struct row *ret_rows[CHOOSE_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < route->n && n < CHOOSE_MAX; i++)
        if (route->rows[i].channel == channel && route->rows[i].provider)
            ret_rows[n++] = &route->rows[i];
    return n;
}

// --- How much

// A provider whose breaker is closed: when it has room again. An ended transfer is seen before.
static int64_t until_room_ms(const struct route *route, const struct row *row, int64_t now_ms)
{
    if (row_transfers(route->rows, route->n, row) == 0)
        return ROUTE_FULL_MS;
    return row->permits.ask_ms > now_ms ? row->permits.ask_ms - now_ms : 0;
}

static int64_t closed_for_ms(const struct route *route, const struct row *row, int64_t now_ms)
{
    const struct route_options *o = &route->options;
    int64_t open_ms = breaker_wait_ms(&row->breaker, now_ms);
    bool paused = o->paused && o->paused(o->user, row->provider);
    return paused && open_ms < ROUTE_PAUSED_MS ? ROUTE_PAUSED_MS : open_ms;
}

struct some {
    bool open; // all their breakers are
    int room;
    int64_t wait_ms; // while there is none
};

// What the providers of a channel take, up to the first that takes messages at all.
static struct some some_room(
        struct route *route, enum channel_kind channel, bool gather, int64_t now_ms)
{
    struct row *rows[CHOOSE_MAX];
    size_t n = route_rows(route, channel, rows);
    struct some some = {.open = true, .wait_ms = INT64_MAX};
    for (size_t i = 0; i < n; i++) {
        const struct row *row = rows[i];
        int64_t closed_ms = closed_for_ms(route, row, now_ms);
        bool takes = row->breaker.state == BREAKER_CLOSED && closed_ms == 0;
        int room = closed_ms > 0 ? 0 : row_room(route->rows, route->n, row, now_ms);
        some.open = some.open && closed_ms > 0;
        bool few = row_transfers(route->rows, route->n, row) < row->limit / ROUTE_GATHER_PART;
        some.room += gather && few ? 0 : room;
        int64_t wait_ms = takes ? until_room_ms(route, row, now_ms) : closed_ms;
        if (row->breaker.state == BREAKER_TRIAL)
            wait_ms = ROUTE_TRIAL_MS;
        some.wait_ms = wait_ms < some.wait_ms ? wait_ms : some.wait_ms;
        // Only a device's kind leads past a provider that takes messages.
        if (takes && channel != CHANNEL_PUSH)
            break;
    }
    return some;
}

// Nothing can start for long: what waits is looked at from time to time, so that what expires ends.
static int look(struct route *route, enum channel_kind channel, int64_t now_ms, int64_t *wait_ms)
{
    int64_t *next_ms = &route->look_ms[channel];
    if (*next_ms > 0 && now_ms >= *next_ms) {
        *next_ms = now_ms + ROUTE_LOOK_MS;
        return ROUTE_LOOK_ROWS;
    }
    if (*next_ms == 0)
        *next_ms = now_ms + ROUTE_LOOK_MS;
    if (*next_ms - now_ms < *wait_ms)
        *wait_ms = *next_ms - now_ms;
    return 0;
}

int route_room(struct route *route, enum channel_kind channel, int free, bool gather,
        int64_t now_ms, int64_t *ret_wait_ms)
{
    struct row *rows[CHOOSE_MAX];
    const struct permits *permits = &route->channels[channel];
    *ret_wait_ms = 0;
    if (route_rows(route, channel, rows) == 0)
        return free; // what nobody takes is claimed, and postponed
    struct some some = some_room(route, channel, gather, now_ms);
    int room = permits_room(permits, some.room < free ? some.room : free);
    if (some.room > 0)
        route->look_ms[channel] = 0;
    if (room > 0)
        return room;
    int64_t rate_ms = permits->rate > 0 && permits->held == 0 ? permits->ask_ms - now_ms : 0;
    *ret_wait_ms = rate_ms > some.wait_ms ? rate_ms : some.wait_ms;
    int some_rows = some.open ? look(route, channel, now_ms, ret_wait_ms) : 0;
    if (*ret_wait_ms < 1)
        *ret_wait_ms = 1;
    return some_rows < free ? some_rows : free;
}

// --- Which

struct list {
    struct row *rows[CHOOSE_MAX];
    struct candidate candidates[CHOOSE_MAX];
    size_t n;
    struct history history;
};

static void list(
        struct route *route, const struct delivery *delivery, int64_t now_ms, struct list *ret)
{
    bool permit = permits_room(&route->channels[delivery->channel], 1) > 0;
    ret->n = route_rows(route, delivery->channel, ret->rows);
    ret->history = (struct history){.last = -1,
            .passed_on = delivery->passed_on,
            .unknown = delivery->earlier_unknown > 0,
            .in_doubt_us = delivery->in_doubt_us};
    for (size_t i = 0; i < ret->n; i++) {
        const struct row *row = ret->rows[i];
        ret->candidates[i] = (struct candidate){
                .suits = provider_takes(row->provider, row->channel, delivery->target),
                .open_ms = closed_for_ms(route, row, now_ms),
                .room = permit && row_room(route->rows, route->n, row, now_ms) > 0,
                .key_window_us = row->key_window_us};
        if (delivery->provider && strcmp(row->name, delivery->provider) == 0)
            ret->history.last = (int)i;
    }
}

// First tries at a provider are free; so is the one that its breaker waits for.
static bool within_budget(struct row *row, struct delivery *delivery, int64_t now_ms)
{
    bool again =
            delivery->tries > 0 && delivery->provider && strcmp(delivery->provider, row->name) == 0;
    delivery->first = !again;
    return !again || row->breaker.state != BREAKER_CLOSED || budget_retry(&row->budget, now_ms);
}

static int64_t budget_wait_ms(struct route *route)
{
    uint32_t span = ROUTE_BUDGET_MOST_MS - ROUTE_BUDGET_LEAST_MS;
    return ROUTE_BUDGET_LEAST_MS + random_32(route) % span;
}

static void take(struct route *route, struct row *row, struct delivery *delivery, int64_t now_ms)
{
    bool same = delivery->provider && strcmp(delivery->provider, row->name) == 0;
    if (!same) {
        if (delivery->passed_on)
            series_inc(metric(METRIC_FAILOVERS, channel_name(row->channel), row->name, NULL));
        free(delivery->provider);
        delivery->provider = xstrdup(row->name);
        delivery->doubt_us = delivery->in_doubt_us = 0; // it knows no key of this delivery yet
    }
    delivery->routed = true;
    delivery->trial = breaker_start(&row->breaker, now_ms);
    permits_use(&row->permits);
    permits_use(&route->channels[row->channel]);
    row->flying++;
}

// Its try says so, as any that a provider itself did not take.
static bool nobody(struct delivery *delivery)
{
    free(delivery->provider);
    delivery->provider = NULL;
    return true;
}

bool route_choose(
        struct route *route, struct delivery *delivery, int64_t now_ms, int64_t *ret_wait_ms)
{
    struct list all;
    list(route, delivery, now_ms, &all);
    struct choice choice = choose(all.candidates, all.n, &all.history);
    if (choice.at < 0 && choice.wait_ms == INT64_MAX)
        return nobody(delivery);
    if (choice.at < 0) {
        int64_t wait_ms = choice.wait_ms > 0 ? choice.wait_ms : ROUTE_ROOM_MS;
        *ret_wait_ms = wait_ms < ROUTE_LATER_MS ? wait_ms : ROUTE_LATER_MS;
        return false;
    }
    struct row *row = all.rows[choice.at];
    if (!within_budget(row, delivery, now_ms)) {
        series_inc(metric(METRIC_RETRIES_HELD, channel_name(row->channel), row->name, NULL));
        *ret_wait_ms = budget_wait_ms(route);
        return false;
    }
    take(route, row, delivery, now_ms);
    return true;
}

const struct provider *route_provider(const struct route *route, const struct delivery *delivery)
{
    const struct row *row = find(route->rows, route->n, delivery->channel, delivery->provider);
    return row ? row->provider : NULL;
}

bool route_shut(const struct route *route, const struct delivery *delivery)
{
    const struct route_options *o = &route->options;
    const struct row *row = find(route->rows, route->n, delivery->channel, delivery->provider);
    if (!row || !row->provider || delivery->trial)
        return false;
    return row->breaker.state != BREAKER_CLOSED || (o->paused && o->paused(o->user, row->provider));
}

// --- What became of it

// Nobody was asked, or nobody could answer: it was given back, or can't be sent as it is.
static bool says_nothing(const struct delivery *delivery)
{
    const struct attempt_result *result = &delivery->result;
    return result->outcome == ATTEMPT_GIVEN_BACK ||
           (result->outcome == ATTEMPT_REFUSED && (result->spoilt || delivery->started_ms == 0));
}

static void note_breaker(
        struct route *route, struct row *row, const struct delivery *delivery, int64_t now_ms)
{
    const struct attempt_result *result = &delivery->result;
    const struct breaker_end end = {.sign = breaker_sign(result),
            .trial = delivery->trial,
            .back = says_nothing(delivery),
            .began_ms = delivery->started_ms ? delivery->started_ms : now_ms,
            .retry_after_ms = result->retry_after_ms,
            .random = random_32(route)};
    if (!breaker_ended(&row->breaker, &end, now_ms))
        return;
    show_breaker(row);
    if (row->breaker.state != BREAKER_CLOSED)
        series_inc(metric(METRIC_BREAKER_OPENED, channel_name(row->channel), row->name, NULL));
    if (route->options.changed)
        route->options.changed(route->options.user, row->channel, row->name,
                breaker_wait_ms(&row->breaker, now_ms));
}

void route_ended(struct route *route, struct delivery *delivery, int64_t now_ms)
{
    const struct attempt_result *result = &delivery->result;
    struct row *row = find(route->rows, route->n, delivery->channel, delivery->provider);
    if (!delivery->routed || !row)
        return;
    row->flying--;
    note_breaker(route, row, delivery, now_ms);
    delivery->routed = delivery->trial = false;
    if (result->outcome == ATTEMPT_GIVEN_BACK) {
        permits_back(&row->permits);
        permits_back(&route->channels[row->channel]);
        if (!delivery->first)
            budget_back(&row->budget);
        return;
    }
    if (delivery->first)
        budget_first(&row->budget);
    bool own = result->outcome != ATTEMPT_ACCEPTED && result->level == LEVEL_PROVIDER;
    // A doubt that one recipient's own peer leaves says nothing of the others'.
    bool doubt = result->outcome == ATTEMPT_UNKNOWN && result->level != LEVEL_ADDRESS;
    budget_ended(&row->budget, (own && !result->apart) || doubt);
    if (!own || result->outcome == ATTEMPT_UNKNOWN)
        return;
    struct list all;
    list(route, delivery, now_ms, &all);
    delivery->result.other = choose_other(all.candidates, all.n, &all.history);
}
