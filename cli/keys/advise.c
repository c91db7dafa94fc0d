#include "cli/keys/advise.h"

#include "cli/format.h"

#include <stdio.h>

static const char *state_of(const struct secret *secret, int64_t now_s)
{
    if (secret->from && now_s < secret->from)
        return "not yet";
    return secret->until && now_s >= secret->until ? "ended" : "live";
}

// Requests do come, and another live secret is the one that they are signed with: it was used
// lately, and for so long that the use of this one would have been seen.
static bool another_is_used(
        const struct source *source, const struct secret_use uses[], size_t index, int64_t now_s)
{
    for (size_t i = 0; i < source->n_secrets; i++) {
        bool lately = uses[i].last_s && now_s - uses[i].last_s < UNUSED_S;
        bool long_ago = now_s - uses[i].first_s >= UNUSED_S;
        if (i != index && lately && long_ago && *state_of(&source->secrets[i], now_s) == 'l')
            return true;
    }
    return false;
}

static void say_live(
        struct secret_advice *advice, const struct secret_use *use, int64_t now_s, bool another)
{
    char age[FORMAT_MAX];
    int64_t unused_s = now_s - use->last_s;
    format_age(unused_s * 1000000, age);
    advice->safe_to_drop = another && unused_s >= UNUSED_S;
    if (!use->last_s)
        snprintf(advice->says, sizeof advice->says, "%s",
                another ? "never used, safe to drop" : "not used yet");
    else if (advice->safe_to_drop)
        snprintf(advice->says, sizeof advice->says, "unused for %s, safe to drop", age);
    else
        snprintf(advice->says, sizeof advice->says, "used %s ago", age);
}

struct secret_advice secret_advise(
        const struct source *source, const struct secret_use uses[], size_t index, int64_t now_s)
{
    struct secret_advice advice = {.state = state_of(&source->secrets[index], now_s)};
    if (*advice.state == 'e') {
        advice.safe_to_drop = true;
        snprintf(advice.says, sizeof advice.says, "over, safe to drop");
    } else if (*advice.state == 'n') {
        snprintf(advice.says, sizeof advice.says, "waits for its day");
    } else {
        say_live(&advice, &uses[index], now_s, another_is_used(source, uses, index, now_s));
    }
    return advice;
}
