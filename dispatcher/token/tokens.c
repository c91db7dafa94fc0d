#include "dispatcher/token/tokens.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"

struct tokens *tokens_new(const struct token_maker *maker)
{
    struct tokens *tokens = xcalloc(1, sizeof *tokens);
    tokens->maker = *maker;
    tokens->worker = key_random();
    return tokens;
}

static void free_entries(struct entry **entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!entries[i])
            continue;
        entry_fini(entries[i]);
        free(entries[i]);
    }
    free(entries);
}

void tokens_free(struct tokens *tokens)
{
    if (!tokens)
        return;
    free_entries(tokens->entries, tokens->n_entries);
    free(tokens->users);
    free(tokens);
}

// --- Which tokens there are

// Who signs, for what, and with which key: providers that have all of it in common share a token.
static struct key identity_of(const struct provider *provider)
{
    unsigned char digest[32];
    sha256_of(provider->password.value, digest);
    const struct slice parts[] = {SLICE("provider-token"), slice_of(provider->driver_name),
            slice_of(provider->team), slice_of(provider->key_id), slice_of(provider->project),
            {digest, sizeof digest}};
    return key_derive(parts, ARRAY_LEN(parts));
}

static bool same_key(struct key a, struct key b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

struct entry *tokens_find(const struct tokens *tokens, struct key identity)
{
    for (size_t i = 0; i < tokens->n_entries; i++)
        if (tokens->entries[i] && same_key(tokens->entries[i]->identity, identity))
            return tokens->entries[i];
    return NULL;
}

// The entry of this identity: one that is new already, else that of before, else an empty one.
static struct entry *adopt(
        struct tokens *fresh, struct tokens *before, const struct provider *provider)
{
    struct key identity = identity_of(provider);
    struct entry *entry = tokens_find(fresh, identity);
    if (entry)
        return entry;
    for (size_t i = 0; !entry && i < before->n_entries; i++)
        if (before->entries[i] && same_key(before->entries[i]->identity, identity))
            entry = steal(&before->entries[i]);
    if (!entry) {
        entry = xcalloc(1, sizeof *entry);
        entry_init(entry, identity, provider);
    }
    entry->provider = provider;
    fresh->entries = xrealloc(fresh->entries, (fresh->n_entries + 1) * sizeof *fresh->entries);
    fresh->entries[fresh->n_entries++] = entry;
    return entry;
}

static void add_user(struct tokens *fresh, struct tokens *before, const struct provider *provider)
{
    int64_t age_min_s = 0;
    if (!fresh->maker.needs(provider, &age_min_s) || provider->password.value.len == 0)
        return;
    struct entry *entry = adopt(fresh, before, provider);
    entry->age_min_s = age_min_s;
    fresh->users = xrealloc(fresh->users, (fresh->n_users + 1) * sizeof *fresh->users);
    fresh->users[fresh->n_users++] = (struct token_user){provider, entry};
}

void tokens_policy(struct tokens *tokens, const struct policy *policy)
{
    struct tokens fresh = {
            .maker = tokens->maker, .worker = tokens->worker, .numbers = tokens->numbers};
    const struct channel *channel = &policy->channels[CHANNEL_PUSH];
    for (size_t i = 0; channel->active && i < channel->n_providers; i++)
        add_user(&fresh, tokens, &channel->providers[i]);
    free_entries(tokens->entries, tokens->n_entries);
    free(tokens->users);
    *tokens = fresh;
}

// --- Using them

enum token_ready tokens_get(
        const struct tokens *tokens, const struct provider *provider, struct bearer *ret_bearer)
{
    for (size_t i = 0; i < tokens->n_users; i++) {
        const struct entry *entry = tokens->users[i].entry;
        if (tokens->users[i].provider != provider)
            continue;
        enum token_ready ready = entry_ready(entry, clock_mono_ms());
        if (ready == TOKEN_READY && ret_bearer)
            *ret_bearer = (struct bearer){.token = text_slice(&entry->token),
                    .use = {.identity = entry->identity, .generation = entry->generation}};
        return ready;
    }
    return TOKEN_NONE;
}

void tokens_stale(struct tokens *tokens, const struct bearer_use *use)
{
    struct entry *entry = use->generation > 0 ? tokens_find(tokens, use->identity) : NULL;
    int64_t now = clock_mono_ms();
    if (!entry || entry->generation != use->generation || entry->stale || now < entry->deaf_ms)
        return;
    entry->stale = use->generation;
    if (!entry->making)
        entry->ask_ms = now;
    series_inc(metric(METRIC_PROVIDER_TOKENS, entry->provider->driver_name, "stale", NULL));
}

// --- How a making ended

static struct entry *being_made(const struct tokens *tokens, const struct token_order *order)
{
    struct entry *entry = tokens_find(tokens, order->identity);
    bool ours = entry && entry->making && entry->number == order->number;
    return ours && entry->made.len == 0 && !entry->failed ? entry : NULL;
}

void tokens_made(
        struct tokens *tokens, const struct token_order *order, struct slice token, int64_t life_s)
{
    struct entry *entry = being_made(tokens, order);
    if (!entry)
        return;
    life_s = token_life_s(life_s);
    if (life_s == 0 || token.len == 0 || !text_add(&entry->made, token)) {
        tokens_failed(tokens, order, "what came is no token, or too long, or good for no time");
        return;
    }
    entry->life_s = life_s;
    entry->now_s = order->now_s;
    entry->ask_ms = clock_mono_ms();
}

void tokens_failed(struct tokens *tokens, const struct token_order *order, const char *why)
{
    struct entry *entry = being_made(tokens, order);
    if (!entry)
        return;
    text_reset(&entry->made);
    entry->failed = true;
    entry->fails++;
    entry->ask_ms = clock_mono_ms();
    series_inc(metric(METRIC_PROVIDER_TOKENS, entry->provider->driver_name, "failed", NULL));
    LOG(WARNING, "token.failed", "no token for a provider",
            L_STR("driver", entry->provider->driver_name), L_STR("error", why));
}

int64_t tokens_next_ms(const struct tokens *tokens)
{
    int64_t at = INT64_MAX;
    for (size_t i = 0; i < tokens->n_entries; i++) {
        int64_t next = entry_next_ms(tokens->entries[i]);
        if (next < at)
            at = next;
    }
    return at;
}
