#include "dispatcher/route/breaker.h"

enum breaker_sign breaker_sign(const struct attempt_result *result)
{
    if (result->outcome == ATTEMPT_UNKNOWN || result->outcome == ATTEMPT_GIVEN_BACK)
        return SIGN_NONE;
    if (result->outcome != ATTEMPT_ACCEPTED && result->level == LEVEL_PROVIDER && !result->apart)
        return SIGN_FAILING;
    return result->code ? SIGN_WELL : SIGN_NONE; // no reply: nobody was asked
}

int breaker_room(const struct breaker *breaker, int64_t now_ms, int limit)
{
    switch (breaker->state) {
    case BREAKER_CLOSED:
        return limit;
    case BREAKER_OPEN:
        return now_ms >= breaker->open_until_ms && limit > 0 ? 1 : 0;
    case BREAKER_TRIAL:
        break;
    }
    return 0;
}

int64_t breaker_wait_ms(const struct breaker *breaker, int64_t now_ms)
{
    if (breaker->state == BREAKER_CLOSED)
        return 0;
    if (breaker->state == BREAKER_TRIAL)
        return BREAKER_BASE_MS;
    return breaker->open_until_ms > now_ms ? breaker->open_until_ms - now_ms : 0;
}

bool breaker_start(struct breaker *breaker, int64_t now_ms)
{
    if (breaker->state != BREAKER_OPEN || now_ms < breaker->open_until_ms)
        return false;
    breaker->state = BREAKER_TRIAL;
    return true;
}

static int64_t part_of(int64_t whole_ms, uint32_t random)
{
    return (int64_t)((double)whole_ms * ((double)random / (double)UINT32_MAX));
}

static int64_t longest_ms(int opened)
{
    int64_t wait_ms = BREAKER_BASE_MS;
    for (int i = 1; i < opened && wait_ms < BREAKER_MAX_MS; i++)
        wait_ms *= 2;
    return wait_ms < BREAKER_MAX_MS ? wait_ms : BREAKER_MAX_MS;
}

static int64_t wait_of(const struct breaker *breaker, const struct breaker_end *end)
{
    int64_t asked_ms = end->retry_after_ms;
    int64_t own_ms = part_of(longest_ms(breaker->opened), end->random);
    own_ms = own_ms > BREAKER_LEAST_MS ? own_ms : BREAKER_LEAST_MS;
    int64_t their_ms = asked_ms + part_of(asked_ms * BREAKER_SPREAD_PERCENT / 100, end->random);
    return own_ms > their_ms ? own_ms : their_ms;
}

static void open(struct breaker *breaker, const struct breaker_end *end, int64_t now_ms)
{
    bool was_steady =
            breaker->state == BREAKER_CLOSED && now_ms - breaker->changed_ms >= BREAKER_STEADY_MS;
    breaker->opened = was_steady ? 1 : breaker->opened + 1;
    breaker->state = BREAKER_OPEN;
    breaker->changed_ms = now_ms;
    breaker->open_until_ms = now_ms + wait_of(breaker, end);
}

static bool trial_ended(struct breaker *breaker, const struct breaker_end *end, int64_t now_ms)
{
    if (end->back) {
        breaker->state = BREAKER_OPEN; // as it was: the next is the trial
        return false;
    }
    if (end->sign == SIGN_WELL) {
        breaker->state = BREAKER_CLOSED;
        breaker->streak = 0;
        breaker->changed_ms = now_ms;
        return true;
    }
    open(breaker, end, now_ms); // no definite answer is no recovery
    return false;
}

bool breaker_ended(struct breaker *breaker, const struct breaker_end *end, int64_t now_ms)
{
    if (end->trial && breaker->state == BREAKER_TRIAL)
        return trial_ended(breaker, end, now_ms);
    if (breaker->state != BREAKER_CLOSED) {
        int64_t asked_ms = now_ms + end->retry_after_ms;
        if (end->sign == SIGN_FAILING && asked_ms > breaker->open_until_ms)
            breaker->open_until_ms = asked_ms;
        return false;
    }
    if (end->back || end->sign == SIGN_NONE || end->began_ms < breaker->changed_ms)
        return false;
    breaker->streak = end->sign == SIGN_FAILING ? breaker->streak + 1 : 0;
    if (breaker->streak < BREAKER_STREAK && (breaker->streak == 0 || end->retry_after_ms == 0))
        return false;
    open(breaker, end, now_ms);
    return true;
}
