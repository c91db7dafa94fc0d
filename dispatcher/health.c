#include "dispatcher/health.h"

#include "common/json/scan.h"
#include "common/log.h"

#include <pthread.h>
#include <stdio.h>

struct provider_state {
    bool known, failing;
    int64_t seen_ms;  // the last sign of being as it is
    int64_t since_ms; // of failing
    int64_t failed;   // tries since then
    char reason[200];
};

struct health {
    pthread_mutex_t lock;
    struct provider_state channels[CHANNEL_COUNT];
};

struct health *health_new(void)
{
    struct health *health = xcalloc(1, sizeof *health);
    pthread_mutex_init(&health->lock, NULL);
    return health;
}

void health_free(struct health *health)
{
    if (!health)
        return;
    pthread_mutex_destroy(&health->lock);
    free(health);
}

enum sign { SIGN_NONE, SIGN_WELL, SIGN_FAILING };

static enum sign sign_of(const struct attempt_result *result)
{
    if (result->outcome == ATTEMPT_UNKNOWN || result->outcome == ATTEMPT_GIVEN_BACK)
        return SIGN_NONE;
    if (result->outcome != ATTEMPT_ACCEPTED && result->level == LEVEL_PROVIDER)
        return SIGN_FAILING;
    return result->code ? SIGN_WELL : SIGN_NONE; // no reply: nobody was asked
}

// What a server says may name a recipient; a log and a health check never do.
static void without_addresses(const char *said, char *out, size_t room)
{
    struct text text;
    text_init(&text, room - 1);
    while (*said) {
        size_t word = strcspn(said, " "), gap = strspn(said + word, " ");
        struct slice all = {(const unsigned char *)said, word};
        text_add(&text, memchr(said, '@', word) ? SLICE("***") : all);
        text_add(&text, (struct slice){(const unsigned char *)said + word, gap});
        said += word + gap;
    }
    snprintf(out, room, "%s", text_cstr(&text));
    text_fini(&text);
}

static void tell(enum channel_kind channel, const struct provider_state *state, int64_t now_ms)
{
    if (state->failing)
        LOG(WARNING, "provider.failing", "a channel's provider began to fail: its mail waits",
                L_STR("channel", channel_name(channel)), L_STR("reason", state->reason));
    else
        LOG(INFO, "provider.recovered", "a channel's provider takes messages again",
                L_STR("channel", channel_name(channel)), L_INT("failed_tries", state->failed),
                L_INT("failed_ms", now_ms - state->since_ms));
}

// True when this is a change to tell of.
static bool change(struct provider_state *state, enum sign sign, int64_t began_ms, int64_t now_ms)
{
    bool failing = sign == SIGN_FAILING;
    bool differs = failing != state->failing;
    if (differs && state->known && began_ms < state->seen_ms)
        return false;
    state->known = true;
    state->failing = failing;
    state->seen_ms = now_ms;
    if (differs && failing) {
        state->since_ms = now_ms;
        state->failed = 0;
    }
    state->failed += failing;
    return differs;
}

void health_note(struct health *health, const struct delivery *delivery, int64_t now_ms)
{
    enum sign sign = sign_of(&delivery->result);
    if (sign == SIGN_NONE)
        return;
    int64_t began_ms = delivery->started_ms ? delivery->started_ms : now_ms;
    struct provider_state *state = &health->channels[delivery->channel];
    pthread_mutex_lock(&health->lock);
    bool tells = change(state, sign, began_ms, now_ms);
    if (state->failing && sign == SIGN_FAILING)
        without_addresses(delivery->result.detail, state->reason, sizeof state->reason);
    const struct provider_state seen = *state;
    pthread_mutex_unlock(&health->lock);
    if (tells)
        tell(delivery->channel, &seen, now_ms);
}

bool health_failing(struct health *health, enum channel_kind channel)
{
    pthread_mutex_lock(&health->lock);
    bool failing = health->channels[channel].failing;
    pthread_mutex_unlock(&health->lock);
    return failing;
}

void health_checks(struct health *health, struct text *out)
{
    pthread_mutex_lock(&health->lock);
    for (int kind = 0; kind < CHANNEL_COUNT; kind++) {
        const struct provider_state *state = &health->channels[kind];
        if (!state->known)
            continue;
        text_fmt(out, ",{\"name\":\"provider_%s\",\"ok\":%s,\"detail\":",
                channel_name((enum channel_kind)kind), state->failing ? "false" : "true");
        json_quote(out, slice_of(state->failing ? state->reason : "takes messages"));
        text_char(out, '}');
    }
    pthread_mutex_unlock(&health->lock);
}
