#include "dispatcher/wire.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/attachment.h"
#include "dispatcher/record/decide.h"
#include "dispatcher/send/providers.h"

#include <stdio.h>

static void give_back(struct wire *wire, struct delivery *delivery)
{
    delivery->result = (struct attempt_result){.outcome = ATTEMPT_GIVEN_BACK};
    wire->ended(wire->user, delivery);
}

void wire_give_back(struct wire *wire, struct delivery *list)
{
    while (list) {
        struct delivery *delivery = list;
        list = delivery->next;
        give_back(wire, delivery);
    }
}

static bool lease_allows(const struct wire *wire, const struct delivery *delivery)
{
    const struct batch *batch = leases_find(wire->leases, delivery->claim);
    if (!batch)
        return false;
    int64_t needed_ms =
            lease_needed_ms(wire->leases->lease_ms, transport_timeout_ms(wire->transport));
    return leases_left_ms(wire->leases, batch, clock_mono_ms()) >= needed_ms;
}

static void count_possible_duplicate(const struct delivery *delivery)
{
    if (delivery->earlier_unknown == 0)
        return;
    series_inc(metric(METRIC_POSSIBLE_DUPLICATES, channel_name(delivery->channel), NULL));
    LOG(WARNING, "delivery.possible_duplicate", "sent again after a try of unknown outcome",
            L_STR("once", delivery->once), L_INT("step", delivery->tries));
}

static void hold(struct wire *wire, struct delivery *delivery)
{
    struct delivery **end = &wire->held;
    while (*end)
        end = &(*end)->next;
    *end = delivery;
    delivery->next = NULL;
    wire->holding++;
    wire->by_channel[delivery->channel]++;
}

// Nothing was tried, and none is spent: it is due again in a while.
static void without_token(struct wire *wire, struct delivery *delivery)
{
    delivery->result = (struct attempt_result){.outcome = ATTEMPT_GIVEN_BACK,
            .level = LEVEL_PROVIDER,
            .retry_after_ms = WIRE_NO_TOKEN_MS};
    snprintf(delivery->result.detail, sizeof delivery->result.detail,
            "the provider gave no access token");
    wire->ended(wire->user, delivery);
}

// True: it waits, or was given back.
static bool wait_for_token(struct wire *wire, enum token_ready ready, struct delivery *delivery)
{
    if (ready == TOKEN_NONE || ready == TOKEN_READY)
        return false;
    int64_t now = clock_mono_ms();
    if (delivery->hold_until_ms == 0)
        delivery->hold_until_ms = now + WIRE_HOLD_MS;
    if (ready == TOKEN_COMING && now < delivery->hold_until_ms)
        hold(wire, delivery);
    else
        without_token(wire, delivery);
    return true;
}

// Files are read in the loop's own time: so many in a turn that nothing else stands still.
static bool wait_for_files(struct wire *wire, struct delivery *delivery)
{
    size_t size = attachments_size(&delivery->content);
    if (size && wire->files && wire->files + size > WIRE_FILES_MAX) {
        hold(wire, delivery);
        return true;
    }
    wire->files += size;
    return false;
}

// What a request says of its delivery besides its content.
static void fill_moment(const struct wire *wire, struct delivery *delivery)
{
    struct content *content = &delivery->content;
    int64_t now_us = leases_now_us(wire->leases), left_us = delivery->expires_us - now_us;
    content->now_us = now_us;
    content->priority = delivery->priority;
    content->expires_s = delivery->expires_us / 1000000;
    content->left_s = delivery->expires_us == 0 ? 0 : left_us < 1000000 ? 1 : left_us / 1000000;
}

// What its provider can do about a doubt.
static void fill_capabilities(const struct provider *provider, struct delivery *delivery)
{
    const struct driver_row *driver = driver_find(delivery->channel, provider->driver_name);
    bool asked = driver && driver->look_build;
    delivery->settle_ms = asked ? provider->settle_s * 1000 : 0;
    delivery->key_window_ms = driver_key_window_s(delivery->channel, provider->driver_name) * 1000;
}

// It waited until its provider may have forgotten the key of the try in doubt: it is not sent.
static bool too_late(struct wire *wire, struct delivery *delivery)
{
    delivery->result = (struct attempt_result){0};
    int64_t now_us = leases_now_us(wire->leases);
    int64_t end_us = decide_repeat_end_us(delivery, now_us);
    if (end_us == 0 || now_us < end_us)
        return false;
    delivery->result = (struct attempt_result){.outcome = ATTEMPT_GIVEN_BACK, .too_late = true};
    wire->ended(wire->user, delivery);
    return true;
}

// It waited here until it expired: the next claim ends it.
static bool has_expired(struct wire *wire, struct delivery *delivery)
{
    if (delivery->expires_us == 0 || leases_now_us(wire->leases) < delivery->expires_us)
        return false;
    give_back(wire, delivery);
    return true;
}

static void start_one(struct wire *wire, struct delivery *delivery)
{
    const struct policy *sender = wire->sender(wire->user);
    const struct channel *channel = sender ? &sender->channels[delivery->channel] : NULL;
    const struct provider *provider = channel ? wire->provider(wire->user, delivery) : NULL;
    struct err err = {0};
    if (!provider) {
        delivery->result =
                (struct attempt_result){.outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER};
        snprintf(delivery->result.detail, sizeof delivery->result.detail,
                channel && channel->kind == CHANNEL_PUSH
                        ? "the active policy has no provider for this kind of device"
                        : "the active policy has no provider for this channel");
        wire->ended(wire->user, delivery);
        return;
    }
    fill_moment(wire, delivery);
    fill_capabilities(provider, delivery);
    if (too_late(wire, delivery) || has_expired(wire, delivery))
        return;
    struct bearer bearer;
    enum token_ready ready = tokens_get(wire->tokens, provider, &bearer);
    if (wait_for_token(wire, ready, delivery) || wait_for_files(wire, delivery))
        return;
    if (!transport_start(wire->transport, channel, provider, ready == TOKEN_READY ? &bearer : NULL,
                delivery, &err)) {
        wire->ended(wire->user, delivery);
        return;
    }
    wire->flying++;
    wire->by_channel[delivery->channel]++;
    count_possible_duplicate(delivery);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Until when it may wait: as long as transfers end there will soon be one for it.
static int64_t keeps_until_ms(const struct wire *wire, const struct delivery *delivery)
{
    int64_t stall_ms =
            later(delivery->stocked_ms, wire->ended_ms[delivery->channel]) + WIRE_STALL_MS;
    int64_t most_ms = delivery->stocked_ms + WIRE_STOCK_MS;
    return stall_ms < most_ms ? stall_ms : most_ms;
}

// What waits for something that takes nothing any more, or waits for too long: it is due again at
// once, and the next claim asks its gates anew.
static bool has_gone_off(
        const struct wire *wire, const struct delivery *delivery, bool room, int64_t now_ms)
{
    if (!room)
        return now_ms >= keeps_until_ms(wire, delivery);
    return !lease_allows(wire, delivery) || wire->barred(wire->user, delivery);
}

// The oldest of a channel: started or given back; false: it waits on, or there is none.
static bool start_next(struct wire *wire, enum channel_kind channel, int64_t now_ms)
{
    const struct delivery *oldest = wire->stock.first[channel];
    if (!oldest)
        return false;
    bool room = wire->room(wire->user, channel) > 0;
    bool off = has_gone_off(wire, oldest, room, now_ms);
    if (!off && !room)
        return false;
    struct delivery *delivery = stock_take(&wire->stock, channel);
    if (off)
        give_back(wire, delivery);
    else
        start_one(wire, delivery);
    return true;
}

// Channels take turns, so that none gets all that are free.
static void start_what_can(struct wire *wire)
{
    int64_t now = clock_mono_ms();
    for (bool any = true; any;) {
        any = false;
        for (enum channel_kind kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
            any = start_next(wire, kind, now) || any;
    }
}

void wire_start(struct wire *wire, struct delivery *list, bool stopping)
{
    int64_t now = clock_mono_ms();
    if (stopping) {
        wire_give_back(wire, list);
        return;
    }
    while (list) {
        struct delivery *delivery = list;
        list = delivery->next;
        stock_put(&wire->stock, delivery, now);
    }
    start_what_can(wire);
}

static struct delivery *take_held(struct wire *wire)
{
    for (struct delivery *delivery = wire->held; delivery; delivery = delivery->next)
        wire->by_channel[delivery->channel]--;
    wire->holding = 0;
    return steal(&wire->held);
}

// Those that are held have a transfer of their own.
static void start_held(struct wire *wire)
{
    struct delivery *list = take_held(wire);
    while (list) {
        struct delivery *delivery = list;
        list = delivery->next;
        delivery->next = NULL;
        if (lease_allows(wire, delivery))
            start_one(wire, delivery);
        else
            give_back(wire, delivery);
    }
}

void wire_stop(struct wire *wire)
{
    wire_give_back(wire, take_held(wire));
    wire_give_back(wire, stock_take_all(&wire->stock));
}

void wire_collect(struct wire *wire)
{
    wire->files = 0;
    start_held(wire);
    int64_t now = clock_mono_ms();
    struct delivery *delivery;
    while ((delivery = transport_done(wire->transport))) {
        wire->flying--;
        wire->by_channel[delivery->channel]--;
        wire->ended_ms[delivery->channel] = now;
        delivery->next = NULL;
        wire->ended(wire->user, delivery);
    }
    start_what_can(wire);
}

int64_t wire_next_ms(const struct wire *wire, int64_t now_ms)
{
    int64_t at = wire->holding > 0 ? now_ms + WIRE_LOOK_MS : INT64_MAX;
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        const struct delivery *oldest = wire->stock.first[kind];
        if (oldest && keeps_until_ms(wire, oldest) < at)
            at = keeps_until_ms(wire, oldest);
    }
    return at;
}
