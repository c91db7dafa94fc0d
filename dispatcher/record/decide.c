#include "dispatcher/record/decide.h"

#define LAST_TRY_BEFORE_END_MS 1000

int64_t decide_retry_end_us(const struct delivery *delivery, const struct message *message)
{
    if (delivery->retry_until_us)
        return delivery->retry_until_us;
    if (!message || message->retry_for_s <= 0)
        return 0;
    return delivery->created_us + message->retry_for_s * 1000000;
}

int64_t decide_repeat_end_us(const struct delivery *delivery, int64_t now_us)
{
    bool doubt = delivery->result.outcome == ATTEMPT_UNKNOWN || delivery->earlier_unknown > 0;
    if (!doubt || delivery->key_window_ms == 0)
        return 0;
    int64_t since_us =
            delivery->doubt_us ? delivery->doubt_us : now_us - delivery->result.wire_ms * 1000;
    return since_us + (delivery->key_window_ms - DECIDE_KEY_MARGIN_MS) * 1000;
}

static int64_t rung_ms(const struct delivery *delivery, const struct message *message)
{
    if (!message || message->n_wait == 0)
        return DECIDE_WAIT_DEFAULT_MS;
    // A provider's own errors spend nothing of the ladder; they climb it for themselves.
    bool provider = delivery->result.level == LEVEL_PROVIDER;
    int spent = delivery->tries - (provider ? 0 : delivery->free_tries);
    size_t step = spent > 0 ? (size_t)spent - 1 : 0;
    return message->wait_ms[step < message->n_wait ? step : message->n_wait - 1];
}

// base * (1 - jitter .. 1 + jitter), so that what failed together does not come back together.
static int64_t jittered(int64_t base_ms, int percent, uint32_t random)
{
    double spread = (double)base_ms * percent / 100.0;
    double at = (double)random / (double)UINT32_MAX * 2.0 - 1.0;
    int64_t wait_ms = base_ms + (int64_t)(spread * at);
    return wait_ms > 0 ? wait_ms : 0;
}

int64_t decide_wait_ms(
        const struct delivery *delivery, const struct message *message, uint32_t random)
{
    int64_t base_ms = rung_ms(delivery, message);
    if (delivery->result.level == LEVEL_PROVIDER && base_ms > DECIDE_PROVIDER_WAIT_MAX_MS)
        base_ms = DECIDE_PROVIDER_WAIT_MAX_MS;
    int percent = message ? message->jitter_percent : 20;
    int64_t wait_ms = jittered(base_ms, percent, random);
    // Nor does what was told the same time come back at one moment: never before it, some after.
    int64_t asked_ms = delivery->result.retry_after_ms;
    asked_ms += (int64_t)((double)asked_ms * percent / 100.0 * random / (double)UINT32_MAX);
    return wait_ms > asked_ms ? wait_ms : asked_ms;
}

static struct decision end(enum delivery_state state, const char *reason)
{
    return (struct decision){.state = state, .reason = reason};
}

static const char forgotten[] = "its provider would no longer recognise a repeat";

// No further try. What may have been taken is never called dead or expired: nobody knows.
static struct decision give_up(
        const struct delivery *delivery, enum delivery_state state, const char *reason)
{
    bool doubtful = delivery->result.outcome == ATTEMPT_UNKNOWN || delivery->earlier_unknown > 0;
    if (doubtful && state == DELIVERY_EXPIRED)
        return end(DELIVERY_UNKNOWN, "expired after a try whose outcome is unknown");
    if (doubtful)
        return end(DELIVERY_UNKNOWN, "retries ran out after a try whose outcome is unknown");
    return end(state, reason);
}

// Another provider takes messages now: the delivery goes to it at once, whatever the ladder says.
static bool goes_elsewhere(
        const struct delivery *delivery, const struct message *message, int64_t now_us)
{
    int64_t end_us = decide_retry_end_us(delivery, message);
    bool over = end_us > delivery->created_us && now_us >= end_us;
    bool expired = delivery->expires_us && now_us >= delivery->expires_us;
    return delivery->result.other && !over && !expired;
}

static struct decision try_again(const struct delivery *delivery, const struct message *message,
        int64_t now_us, uint32_t random)
{
    int64_t wait_ms = decide_wait_ms(delivery, message, random);
    if (delivery->expires_us && now_us + wait_ms * 1000 >= delivery->expires_us)
        return give_up(delivery, DELIVERY_EXPIRED, "expired before it could be tried again");
    int64_t repeat_us = decide_repeat_end_us(delivery, now_us);
    if (repeat_us && now_us + wait_ms * 1000 >= repeat_us)
        return end(DELIVERY_UNKNOWN, forgotten);
    int64_t end_us = decide_retry_end_us(delivery, message);
    int64_t left_ms = end_us ? (end_us - now_us) / 1000 : 0;
    // A provider's failure is never the message's end before its time: one last try just before it.
    bool clip = delivery->result.level == LEVEL_PROVIDER && wait_ms >= left_ms &&
                left_ms > 2 * LAST_TRY_BEFORE_END_MS;
    if (clip)
        wait_ms = left_ms - LAST_TRY_BEFORE_END_MS;
    if (wait_ms >= left_ms)
        return give_up(delivery, DELIVERY_DEAD, "retries ran out");
    return (struct decision){.state = DELIVERY_DUE, .again = true, .wait_ms = wait_ms};
}

// The provider itself did not take it: that says nothing about the message.
static struct decision not_taken(const struct delivery *delivery, const struct message *message,
        int64_t now_us, uint32_t random)
{
    struct decision decision = {.state = DELIVERY_DUE, .again = true};
    if (!goes_elsewhere(delivery, message, now_us))
        decision = try_again(delivery, message, now_us, random);
    decision.free = decision.passed_on = decision.again;
    return decision;
}

// A provider that can be asked is asked first.
static struct decision looked_up(const struct delivery *delivery, struct decision decision)
{
    int64_t wait_ms = delivery->settle_ms / DECIDE_LOOK_PART;
    if (delivery->settle_ms == 0)
        return decision;
    decision.look = true;
    decision.settle_ms = delivery->settle_ms;
    decision.wait_ms = wait_ms < DECIDE_LOOK_LEAST_MS  ? DECIDE_LOOK_LEAST_MS
                       : wait_ms > DECIDE_LOOK_MOST_MS ? DECIDE_LOOK_MOST_MS
                                                       : wait_ms;
    return decision;
}

static struct decision in_doubt(const struct delivery *delivery, const struct message *message,
        int64_t now_us, uint32_t random)
{
    if (delivery->order == AT_MOST_ONCE)
        return looked_up(
                delivery, end(DELIVERY_UNKNOWN, "it may have been taken, no definite answer came"));
    struct decision decision = try_again(delivery, message, now_us, random);
    decision.unknown_spent = decision.again;
    return looked_up(delivery, decision);
}

struct decision decide(const struct delivery *delivery, const struct message *message,
        int64_t now_us, uint32_t random)
{
    switch (delivery->result.outcome) {
    case ATTEMPT_ACCEPTED:
        return end(DELIVERY_ACCEPTED, NULL);
    case ATTEMPT_REFUSED:
        if (delivery->result.spoilt) // it could only be sent as another message
            return end(delivery->earlier_unknown > 0 ? DELIVERY_UNKNOWN : DELIVERY_DEAD,
                    delivery->result.detail);
        if (delivery->result.level == LEVEL_PROVIDER)
            return not_taken(delivery, message, now_us, random);
        if (delivery->result.other_bytes && delivery->earlier_unknown > 0)
            return end(DELIVERY_UNKNOWN, "its repeat is another message than the try in doubt");
        return end(DELIVERY_REFUSED,
                delivery->started_ms ? "the provider refused it" : "it can't be sent as it is");
    case ATTEMPT_RETRY:
        if (delivery->result.level == LEVEL_PROVIDER)
            return not_taken(delivery, message, now_us, random);
        return try_again(delivery, message, now_us, random);
    case ATTEMPT_GIVEN_BACK:
        if (delivery->result.too_late)
            return end(DELIVERY_UNKNOWN, forgotten);
        return (struct decision){.state = DELIVERY_DUE,
                .again = true,
                .free = true,
                .wait_ms = delivery->result.retry_after_ms};
    case ATTEMPT_UNKNOWN:
    case ATTEMPT_NOT_FOUND: // these are never the outcome of a try
    case ATTEMPT_FOUND:
    case ATTEMPT_UNANSWERED:
    case ATTEMPT_SAID_SENT:
    case ATTEMPT_SAID_NOT_SENT:
        break;
    }
    return in_doubt(delivery, message, now_us, random);
}
