#include "dispatcher/health.h"

#include "common/json/scan.h"
#include "common/log.h"
#include "common/metrics.h"

#include <pthread.h>
#include <stdio.h>

enum { HEALTH_MAX = 64 }; // providers

struct provider_state {
    enum channel_kind channel;
    char name[64];
    bool known, failing, open;
    int64_t seen_ms;  // the last sign of being as it is
    int64_t since_ms; // of failing
    int64_t failed;   // tries since then
    char reason[200];
};

struct health {
    pthread_mutex_t lock;
    struct provider_state providers[HEALTH_MAX];
    size_t n;
    char policy[sizeof(((struct err *)0)->msg)]; // why it can't be used, "" when it is in use
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
    if (result->outcome != ATTEMPT_ACCEPTED && result->level == LEVEL_PROVIDER && !result->apart)
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

// Under the lock. One more than there is room for shares the last place.
static struct provider_state *state_of(
        struct health *health, enum channel_kind channel, const char *provider)
{
    const char *name = provider ? provider : "";
    for (size_t i = 0; i < health->n; i++)
        if (health->providers[i].channel == channel && strcmp(health->providers[i].name, name) == 0)
            return &health->providers[i];
    struct provider_state *state =
            &health->providers[health->n < HEALTH_MAX ? health->n++ : health->n - 1];
    *state = (struct provider_state){.channel = channel};
    snprintf(state->name, sizeof state->name, "%s", name);
    return state;
}

static void tell(const struct provider_state *state, int64_t now_ms)
{
    const char *channel = channel_name(state->channel);
    if (state->failing)
        LOG(WARNING, "provider.failing",
                "a provider began to fail: another takes over, or it is asked again",
                L_STR("channel", channel), L_STR("provider", state->name),
                L_STR("reason", state->reason));
    else
        LOG(INFO, "provider.recovered", "a provider takes messages again",
                L_STR("channel", channel), L_STR("provider", state->name),
                L_INT("failed_tries", state->failed), L_INT("failed_ms", now_ms - state->since_ms));
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
    pthread_mutex_lock(&health->lock);
    struct provider_state *state = state_of(health, delivery->channel, delivery->provider);
    bool tells = change(state, sign, began_ms, now_ms);
    if (state->failing && sign == SIGN_FAILING)
        without_addresses(delivery->result.detail, state->reason, sizeof state->reason);
    const struct provider_state seen = *state;
    pthread_mutex_unlock(&health->lock);
    if (tells)
        tell(&seen, now_ms);
}

void health_breaker(
        struct health *health, enum channel_kind channel, const char *provider, int64_t open_ms)
{
    pthread_mutex_lock(&health->lock);
    struct provider_state *state = state_of(health, channel, provider);
    state->known = true;
    state->open = open_ms > 0;
    pthread_mutex_unlock(&health->lock);
    if (open_ms > 0)
        LOG(WARNING, "provider.open", "a provider gets no messages for now: errors of its own",
                L_STR("channel", channel_name(channel)), L_STR("provider", provider),
                L_INT("for_ms", open_ms));
    else
        LOG(INFO, "provider.closed", "a provider gets messages again",
                L_STR("channel", channel_name(channel)), L_STR("provider", provider));
}

bool health_failing(struct health *health, enum channel_kind channel, const char *provider)
{
    pthread_mutex_lock(&health->lock);
    bool failing = state_of(health, channel, provider)->failing;
    pthread_mutex_unlock(&health->lock);
    return failing;
}

void health_policy(struct health *health, const char *why)
{
    pthread_mutex_lock(&health->lock);
    bool tells = why && strcmp(why, health->policy) != 0;
    snprintf(health->policy, sizeof health->policy, "%s", why ? why : "");
    pthread_mutex_unlock(&health->lock);
    series_set(metric(METRIC_POLICY_UNUSABLE, NULL), why != NULL);
    if (tells)
        LOG(ERROR, "policy.unusable", "the active policy can't be used", L_STR("error", why));
}

void health_policy_check(struct health *health, bool any, struct text *out)
{
    AUTO_TEXT struct text detail;
    text_init(&detail, 600);
    pthread_mutex_lock(&health->lock);
    const char *why = health->policy;
    bool ok = any && !*why;
    text_str(&detail, any && *why ? "an older version is in use: " : "");
    text_str(&detail, *why ? why : any ? "loaded" : "none loaded yet");
    pthread_mutex_unlock(&health->lock);
    text_fmt(out, "{\"name\":\"policy\",\"ok\":%s,\"detail\":", ok ? "true" : "false");
    json_quote(out, slice_of(text_cstr(&detail)));
    text_char(out, '}');
}

void health_checks(struct health *health, struct text *out)
{
    pthread_mutex_lock(&health->lock);
    for (size_t i = 0; i < health->n; i++) {
        const struct provider_state *state = &health->providers[i];
        if (!state->known)
            continue;
        bool ok = !state->failing && !state->open;
        text_fmt(out,
                ",{\"name\":\"provider_%s_%s\",\"ok\":%s,\"detail\":", channel_name(state->channel),
                state->name, ok ? "true" : "false");
        AUTO_TEXT struct text detail;
        text_init(&detail, 300);
        text_fmt(&detail, "%s%s", state->open ? "gets none for now: " : "",
                ok ? "takes messages" : state->reason);
        json_quote(out, slice_of(text_cstr(&detail)));
        text_char(out, '}');
    }
    pthread_mutex_unlock(&health->lock);
}
