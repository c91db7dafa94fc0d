#include "dispatcher/claim/gates/gate.h"

#include <stdio.h>

#define FOREVER_US (INT64_C(100) * 366 * 86400 * 1000000) // of a wait without a known end

static const struct verdict open_verdict = {.answer = GATE_OPEN};

struct verdict verdict_end(
        const struct delivery *delivery, enum delivery_state end, const char *reason)
{
    bool doubtful = delivery->earlier_unknown > 0;
    struct verdict verdict = {.answer = GATE_END, .end = doubtful ? DELIVERY_UNKNOWN : end};
    snprintf(verdict.reason, sizeof verdict.reason, "%s%s", reason,
            doubtful ? ", after a try whose outcome is unknown" : "");
    return verdict;
}

struct verdict verdict_later(int64_t until_us, const char *reason)
{
    struct verdict verdict = {.answer = GATE_LATER, .until_us = until_us};
    snprintf(verdict.reason, sizeof verdict.reason, "%s", reason);
    return verdict;
}

// Whoever cancelled it wrote its end: only its row in `due` is left to be dropped.
static struct verdict cancelled(const struct delivery *delivery, const struct gate_facts *facts)
{
    (void)delivery;
    if (facts->state != DELIVERY_CANCELLED)
        return open_verdict;
    return (struct verdict){.answer = GATE_END, .end = DELIVERY_CANCELLED};
}

static bool wants_newer(const struct delivery *delivery, const struct gate_facts *facts)
{
    (void)facts;
    return delivery->collapse && delivery->redrive == 0;
}

// Another claim may have ended it, for a newer one; then only its row in `due` is left.
static struct verdict superseded(const struct delivery *delivery, const struct gate_facts *facts)
{
    if (facts->newer.ended || facts->state == DELIVERY_SUPERSEDED)
        return verdict_end(delivery, DELIVERY_SUPERSEDED, "a newer message took its place");
    if (!facts->newer.waits)
        return open_verdict;
    return verdict_later(facts->now_us + GATE_NEWER_WAIT_MS * 1000,
            "waits for an older message that is on the wire");
}

static struct verdict expired(const struct delivery *delivery, const struct gate_facts *facts)
{
    if (delivery->expires_us && facts->now_us >= delivery->expires_us)
        return verdict_end(delivery, DELIVERY_EXPIRED, "expired before it could be sent");
    // A message without retries has an end of retries that is its beginning: its first try is due.
    bool retries = delivery->retry_until_us > delivery->created_us;
    if (!retries || facts->now_us < delivery->retry_until_us)
        return open_verdict;
    if (delivery->tries > 0)
        return verdict_end(delivery, DELIVERY_DEAD, "retries ran out");
    return verdict_end(delivery, DELIVERY_EXPIRED, "its time for tries ended before the first one");
}

// It waits for the pause's end, but comes back when it expires, so that its end is seen in time.
static struct verdict paused(const struct delivery *delivery, const struct gate_facts *facts)
{
    if (!facts->pause_id)
        return open_verdict;
    int64_t until_us = facts->pause_until_us ? facts->pause_until_us : facts->now_us + FOREVER_US;
    if (delivery->expires_us && delivery->expires_us < until_us)
        until_us = delivery->expires_us;
    struct verdict verdict = verdict_later(until_us, "");
    verdict.hold = facts->pause_id;
    snprintf(verdict.reason, sizeof verdict.reason, "paused: %s", facts->pause_reason);
    return verdict;
}

static struct verdict suppressed(const struct delivery *delivery, const struct gate_facts *facts)
{
    static const char *const reasons[] = {
            [SUPPRESSED_HARD_BOUNCE] = "suppressed: hard bounce",
            [SUPPRESSED_UNREGISTERED] = "suppressed: no longer registered",
            [SUPPRESSED_OPT_OUT] = "suppressed: opted out",
            [SUPPRESSED_COMPLAINT] = "suppressed: complaint",
            [SUPPRESSED_MANUAL] = "suppressed by hand",
    };
    if (facts->suppressed == SUPPRESSED_NOT)
        return open_verdict;
    bool known = (size_t)facts->suppressed < ARRAY_LEN(reasons);
    return verdict_end(
            delivery, DELIVERY_WITHHELD, known ? reasons[facts->suppressed] : "suppressed");
}

static struct verdict address(const struct delivery *delivery, const struct gate_facts *facts)
{
    (void)facts;
    if (delivery->address && delivery->address[0])
        return open_verdict;
    return verdict_end(delivery, DELIVERY_WITHHELD, "no address");
}

// A redrive is a person's own intent: no other channel's success stands against it.
static const struct step *step_of(const struct delivery *delivery, const struct gate_facts *facts)
{
    bool asks = facts->message && delivery->redrive == 0;
    return asks ? message_step(facts->message, delivery->channel) : NULL;
}

static bool wants_step(const struct delivery *delivery, const struct gate_facts *facts)
{
    const struct step *step = step_of(delivery, facts);
    return step && step->unless_channel != CHANNEL_NONE;
}

// Its step comes only if another channel did not do: that one has as long as `after` says, and a
// little more where its try is just under way.
static struct verdict step(const struct delivery *delivery, const struct gate_facts *facts)
{
    const struct step *step = step_of(delivery, facts);
    const struct other_channel *other = &facts->other;
    if (!step || step->unless_channel == CHANNEL_NONE)
        return open_verdict;
    if (step->unless_delivered ? other->delivered : other->accepted) {
        char reason[80];
        snprintf(reason, sizeof reason, "not needed: %s by %s",
                step->unless_delivered ? "delivered" : "accepted",
                channel_name(step->unless_channel));
        return verdict_end(delivery, DELIVERY_SUPERSEDED, reason);
    }
    int64_t grace_ms = other->wire ? GATE_WIRE_GRACE_MS : other->due ? GATE_DUE_GRACE_MS : 0;
    int64_t since_us = delivery->created_us + step->after_s * 1000000;
    if (facts->now_us >= since_us + grace_ms * 1000)
        return open_verdict;
    return verdict_later(facts->now_us + GATE_STEP_WAIT_MS * 1000,
            "waits for the last word of the channel before it");
}

static bool wants_quiet(const struct delivery *delivery, const struct gate_facts *facts)
{
    (void)delivery;
    return facts->message && facts->message->quiet_from;
}

static struct verdict quiet(const struct delivery *delivery, const struct gate_facts *facts)
{
    if (!wants_quiet(delivery, facts) || facts->quiet_until_us <= facts->now_us)
        return open_verdict;
    char reason[120];
    int64_t until_us = facts->quiet_until_us, drop_s = facts->message->quiet_drop_after_s;
    snprintf(reason, sizeof reason, "quiet hours until %s %s", facts->quiet_wall, facts->zone);
    if (drop_s > 0 && until_us - facts->now_us > drop_s * 1000000)
        return verdict_end(delivery, DELIVERY_WITHHELD, reason);
    if (delivery->expires_us && delivery->expires_us < until_us)
        until_us = delivery->expires_us; // so that its end is seen in time
    return verdict_later(until_us, reason);
}

static bool wants_cap(const struct delivery *delivery, const struct gate_facts *facts)
{
    (void)delivery;
    return facts->message && facts->message->n_caps + facts->message->n_limits > 0;
}

// The rule alone: a cap's name without whom it counts for.
static struct verdict by_cap(struct verdict verdict, const char *what, const struct cap_hold *cap)
{
    size_t len = cap ? strcspn(cap->name, " ") : 0;
    if (cap)
        snprintf(verdict.reason, sizeof verdict.reason, "%s %.*s", what, (int)len, cap->name);
    return verdict;
}

// It comes back when it expires, so that its end is seen in time.
static struct verdict capped(const struct delivery *delivery, const struct gate_facts *facts)
{
    const struct shut_cap *cap = &facts->cap;
    if (cap->withheld_by)
        return by_cap(verdict_end(delivery, DELIVERY_WITHHELD, ""), "cap", cap->withheld_by);
    if (cap->wait_ms == 0)
        return open_verdict;
    int64_t until_us = facts->now_us + cap->wait_ms * 1000;
    if (delivery->expires_us && delivery->expires_us < until_us)
        until_us = delivery->expires_us;
    return by_cap(verdict_later(until_us, ""), "waits for the cap", cap->deferred_by);
}

static const struct gate {
    const char *name;
    struct verdict (*judge)(const struct delivery *delivery, const struct gate_facts *facts);
    // Does it need facts that its own statement brings? NULL = never.
    bool (*wants)(const struct delivery *delivery, const struct gate_facts *facts);
} gates[GATE_COUNT] = {
        [GATE_CANCELLED] = {"cancelled", cancelled, NULL},
        [GATE_SUPERSEDED] = {"superseded", superseded, wants_newer},
        [GATE_EXPIRED] = {"expired", expired, NULL},
        [GATE_PAUSED] = {"paused", paused, NULL},
        [GATE_SUPPRESSED] = {"suppressed", suppressed, NULL},
        [GATE_ADDRESS] = {"no_address", address, NULL},
        [GATE_STEP] = {"step", step, wants_step},
        [GATE_QUIET] = {"quiet", quiet, wants_quiet},
        [GATE_CAP] = {"cap", capped, wants_cap},
};

const char *gate_name(enum gate_kind gate)
{
    return gate < GATE_COUNT ? gates[gate].name : "none";
}

bool gate_asks(enum gate_kind gate, const struct delivery *delivery, const struct gate_facts *facts)
{
    bool known = facts->known & (1u << gate);
    return !known && gates[gate].wants && gates[gate].wants(delivery, facts);
}

struct verdict gate_walk(const struct delivery *delivery, const struct gate_facts *facts,
        enum gate_kind *at, bool *ret_asks)
{
    *ret_asks = false;
    for (; *at < GATE_COUNT; ++*at) {
        if (gate_asks(*at, delivery, facts)) {
            *ret_asks = true;
            return open_verdict;
        }
        struct verdict verdict = gates[*at].judge(delivery, facts);
        if (verdict.answer != GATE_OPEN)
            return verdict;
    }
    return open_verdict;
}
