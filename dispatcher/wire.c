#include "dispatcher/wire.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"

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

static void start_one(struct wire *wire, struct delivery *delivery)
{
    const struct policy *sender = wire->sender(wire->user);
    const struct channel *channel = sender ? &sender->channels[delivery->channel] : NULL;
    const struct provider *provider = channel ? channel_provider(channel) : NULL;
    struct err err = {0};
    if (!provider) {
        delivery->result =
                (struct attempt_result){.outcome = ATTEMPT_RETRY, .level = LEVEL_PROVIDER};
        snprintf(delivery->result.detail, sizeof delivery->result.detail,
                "the active policy has no provider for this channel");
        wire->ended(wire->user, delivery);
        return;
    }
    if (!transport_start(wire->transport, channel, provider, NULL, delivery, &err)) {
        wire->ended(wire->user, delivery);
        return;
    }
    wire->flying++;
    count_possible_duplicate(delivery);
}

void wire_start(struct wire *wire, struct delivery *list, bool stopping)
{
    while (list) {
        struct delivery *delivery = list;
        list = delivery->next;
        delivery->next = NULL;
        if (stopping || !lease_allows(wire, delivery))
            give_back(wire, delivery);
        else
            start_one(wire, delivery);
    }
}

void wire_collect(struct wire *wire)
{
    struct delivery *delivery;
    while ((delivery = transport_done(wire->transport))) {
        wire->flying--;
        delivery->next = NULL;
        wire->ended(wire->user, delivery);
    }
}
