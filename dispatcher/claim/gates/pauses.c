#include "dispatcher/claim/gates/pauses.h"

#include "common/metrics.h"

// Columns of pauses.sql.
enum { COL_ID, COL_KIND, COL_NAME, COL_TYPE, COL_REASON, COL_UNTIL };

void pauses_fini(struct pauses *pauses)
{
    for (size_t i = 0; i < pauses->n; i++) {
        free(pauses->rows[i].name);
        free(pauses->rows[i].reason);
    }
    free(pauses->rows);
    *pauses = (struct pauses){0};
}

static void show(const struct pauses *pauses, double value)
{
    static const char *const kinds[] = {[PAUSE_ALL] = "all",
            [PAUSE_CHANNEL] = "channel",
            [PAUSE_TYPE] = "type",
            [PAUSE_PROVIDER] = "provider"};
    for (size_t i = 0; i < pauses->n; i++) {
        enum pause_kind kind = pauses->rows[i].kind;
        bool known = kind >= PAUSE_ALL && kind <= PAUSE_PROVIDER;
        series_set(metric(METRIC_PAUSED, known ? kinds[kind] : "other", pauses->rows[i].name, NULL),
                value);
    }
}

void pauses_read(struct pauses *pauses, const struct pg *pg, int call)
{
    int n = pg_rows(pg, call);
    show(pauses, 0);
    pauses_fini(pauses);
    if (n == 0)
        return;
    pauses->rows = xcalloc((size_t)n, sizeof *pauses->rows);
    for (int row = 0; row < n; row++)
        pauses->rows[pauses->n++] = (struct pause){.id = pg_int(pg, call, row, COL_ID),
                .kind = (enum pause_kind)pg_int(pg, call, row, COL_KIND),
                .name = slice_dup(pg_bytes(pg, call, row, COL_NAME)),
                .type = pg_null(pg, call, row, COL_TYPE) ? 0 : pg_int(pg, call, row, COL_TYPE),
                .reason = slice_dup(pg_bytes(pg, call, row, COL_REASON)),
                .until_us =
                        pg_null(pg, call, row, COL_UNTIL) ? 0 : pg_big(pg, call, row, COL_UNTIL)};
    show(pauses, 1);
}

static bool holds(const struct pause *pause, const struct delivery *delivery)
{
    switch (pause->kind) {
    case PAUSE_ALL:
        return true;
    case PAUSE_CHANNEL:
        return channel_by_name(pause->name) == delivery->channel;
    case PAUSE_TYPE:
        return pause->type && pause->type == delivery->type;
    case PAUSE_PROVIDER:
        break;
    }
    return false;
}

const struct pause *pauses_named(const struct pauses *pauses, const char *provider)
{
    for (size_t i = 0; i < pauses->n; i++)
        if (pauses->rows[i].kind == PAUSE_PROVIDER && strcmp(pauses->rows[i].name, provider) == 0)
            return &pauses->rows[i];
    return NULL;
}

const struct pause *pauses_provider(const struct pauses *pauses, const struct provider *provider)
{
    return pauses_named(pauses, provider->name ? provider->name : provider->driver_name);
}

// One of the pauses that hold all providers of the channel; with a target only those that take it.
static const struct pause *all_providers(
        const struct pauses *pauses, const struct channel *channel, const char *target)
{
    const struct pause *first = NULL;
    for (size_t i = 0; i < channel->n_providers; i++) {
        const struct provider *provider = &channel->providers[i];
        if (target && !provider_takes(provider, channel->kind, target))
            continue;
        const struct pause *pause = pauses_provider(pauses, provider);
        if (!pause)
            return NULL;
        first = first ? first : pause;
    }
    return first;
}

const struct pause *pauses_find(
        const struct pauses *pauses, const struct delivery *delivery, const struct channel *channel)
{
    for (size_t i = 0; i < pauses->n; i++)
        if (holds(&pauses->rows[i], delivery))
            return &pauses->rows[i];
    return pauses->n > 0 && channel ? all_providers(pauses, channel, delivery->target) : NULL;
}

// Of a push channel a driver's devices are its own.
static bool take_the_same(
        enum channel_kind channel, const struct provider *a, const struct provider *b)
{
    return b->driver != DRIVER_OTHER &&
           (channel != CHANNEL_PUSH || strcmp(a->driver_name, b->driver_name) == 0);
}

bool pauses_holds_on(
        const struct pauses *pauses, const struct pause *pause, const struct channel *channel)
{
    const struct provider *own = NULL;
    for (size_t i = 0; i < channel->n_providers && !own; i++)
        if (pauses_provider(pauses, &channel->providers[i]) == pause)
            own = &channel->providers[i];
    for (size_t i = 0; own && i < channel->n_providers; i++)
        if (take_the_same(channel->kind, own, &channel->providers[i]) &&
                !pauses_provider(pauses, &channel->providers[i]))
            return false;
    return own != NULL;
}

static const struct channel *channel_of(
        const struct policy *policy, const struct provider *provider)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        for (size_t i = 0; i < policy->channels[kind].n_providers; i++)
            if (&policy->channels[kind].providers[i] == provider)
                return &policy->channels[kind];
    return NULL;
}

bool pauses_pass_by(
        const struct pauses *pauses, const struct policy *policy, const struct provider *provider)
{
    if (pauses->n == 0 || !pauses_provider(pauses, provider))
        return false;
    const struct channel *channel = policy ? channel_of(policy, provider) : NULL;
    return !channel || !all_providers(pauses, channel, NULL);
}
