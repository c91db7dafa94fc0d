#include "dispatcher/lookup/decide.h"

static int64_t within(int64_t ms, int64_t least, int64_t most)
{
    return ms < least ? least : ms > most ? most : ms;
}

int64_t look_first_ms(int64_t settle_ms)
{
    return within(settle_ms / LOOK_FIRST_PART, LOOK_LEAST_MS, LOOK_FIRST_MOST_MS);
}

// The time that has gone by again, so that the waits double.
static int64_t wait_ms(const struct looked *looked, int64_t now_us)
{
    int64_t left_ms = (looked->settles_us - now_us) / 1000;
    if (looked->outcome == ATTEMPT_NOT_FOUND && left_ms <= 0)
        return LOOK_LEAST_MS; // it was asked too early, and answered late
    int64_t gone_ms = looked->settle_ms - left_ms;
    int64_t ms = within(gone_ms, look_first_ms(looked->settle_ms), LOOK_MOST_MS);
    return left_ms > 0 && ms > left_ms ? left_ms + LOOK_LEAST_MS : ms;
}

static struct look_decision over(const struct looked *looked, const char *reason)
{
    return (struct look_decision){
            .state = looked->state, .reason = looked->state == DELIVERY_UNKNOWN ? reason : NULL};
}

struct look_decision look_decide(const struct looked *looked, int64_t now_us)
{
    if (looked->outcome == ATTEMPT_FOUND)
        return (struct look_decision){.state = DELIVERY_ACCEPTED};
    if (looked->outcome == ATTEMPT_NOT_FOUND && looked->asked_us >= looked->settles_us)
        return over(
                looked, "it may have been taken; its provider was asked, and does not know of it");
    bool patient = now_us < looked->settles_us + LOOK_PATIENCE_MS * INT64_C(1000);
    if (looked->outcome == ATTEMPT_UNANSWERED && (!looked->askable || !patient))
        return over(looked, "it may have been taken; its provider could not be asked");
    return (struct look_decision){
            .state = looked->state, .again = true, .wait_ms = wait_ms(looked, now_us)};
}
