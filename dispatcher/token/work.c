// The database side: one row a transaction.
#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/dispatcher_sql.h"
#include "dispatcher/token/seal.h"
#include "dispatcher/token/tokens.h"

#include <openssl/rand.h>

static uint32_t random_number(void)
{
    uint32_t random = 0;
    (void)RAND_bytes((unsigned char *)&random, sizeof random);
    return random;
}

static struct entry *pick(const struct tokens *tokens, int64_t now_ms)
{
    for (size_t i = 0; i < tokens->n_entries; i++)
        if (entry_wants(tokens->entries[i], now_ms) != WANTS_NOTHING)
            return tokens->entries[i];
    return NULL;
}

// --- The flight; its first call is BEGIN

static void add_hold(struct tokens *tokens, const struct entry *entry, struct pg *pg)
{
    pg_add(pg, SQL_TOKEN_ENSURE);
    pg_p_uuid(pg, entry->identity);
    pg_p_text(pg, slice_of(entry->provider->driver_name));
    pg_add(pg, SQL_TOKEN_HOLD);
    pg_p_uuid(pg, entry->identity);
    pg_p_uuid(pg, tokens->worker);
    pg_p_double(pg, TOKEN_HOLD_S);
    pg_p_big(pg, entry->stale);
    pg_p_double(pg, (double)entry->age_min_s);
    tokens->call_hold = 2;
    tokens->call_read = 3;
}

static bool add_put(
        struct tokens *tokens, const struct entry *entry, struct pg *pg, struct err *err)
{
    AUTO_TEXT struct text sealed = {0};
    text_init(&sealed, SEAL_TOKEN_MAX + 64);
    if (!seal(entry->provider->password.value, entry->identity, text_slice(&entry->made), &sealed,
                err))
        return false;
    pg_add(pg, SQL_TOKEN_PUT);
    pg_p_uuid(pg, entry->identity);
    pg_p_uuid(pg, tokens->worker);
    pg_p_bytea(pg, text_slice(&sealed));
    pg_p_double(pg, (double)entry->now_s);
    pg_p_double(pg, (double)token_refresh_s(entry->life_s, random_number()));
    pg_p_double(pg, (double)token_use_s(entry->life_s));
    tokens->call_put = 1;
    tokens->call_read = 2;
    return true;
}

static void add_postpone(struct tokens *tokens, const struct entry *entry, struct pg *pg)
{
    pg_add(pg, SQL_TOKEN_POSTPONE);
    pg_p_uuid(pg, entry->identity);
    pg_p_uuid(pg, tokens->worker);
    pg_p_double(pg, (double)token_pause_s(entry->fails, random_number()));
    tokens->call_read = 2;
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct tokens *tokens = self;
    tokens->asked_ms = clock_mono_ms();
    struct entry *entry = tokens->busy = pick(tokens, tokens->asked_ms);
    if (!entry)
        return WORK_DONE;
    tokens->doing = entry_wants(entry, tokens->asked_ms);
    tokens->call_hold = tokens->call_put = -1;
    pg_add_begin(pg);
    if (tokens->doing == WANTS_PUT) {
        if (!add_put(tokens, entry, pg, err))
            return WORK_FAILED;
    } else if (tokens->doing == WANTS_POSTPONE) {
        add_postpone(tokens, entry, pg);
    } else {
        add_hold(tokens, entry, pg);
    }
    pg_add(pg, SQL_TOKEN_READ);
    pg_p_uuid(pg, entry->identity);
    pg_add_commit(pg);
    pg_add(pg, SQL_TOKEN_SWEEP);
    pg_p_uuid(pg, entry->identity);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

// --- Its results

static void ended(struct tokens *tokens, struct entry *entry, const struct pg *pg)
{
    if (tokens->doing == WANTS_READ)
        return;
    bool stored = tokens->call_put >= 0 && pg_rows(pg, tokens->call_put) > 0;
    if (stored) {
        entry->fails = 0;
        series_inc(metric(METRIC_PROVIDER_TOKENS, entry->provider->driver_name, "made", NULL));
        LOG(INFO, "token.made", "a new token for a provider",
                L_STR("driver", entry->provider->driver_name), L_INT("life_s", entry->life_s));
    }
    if (entry->made.ptr)
        explicit_bzero(entry->made.ptr, entry->made.room);
    text_reset(&entry->made);
    entry->making = entry->failed = false;
}

static struct token_row read_row(const struct tokens *tokens, const struct pg *pg)
{
    int call = tokens->call_read;
    bool granted = tokens->call_hold >= 0 && pg_rows(pg, tokens->call_hold) > 0;
    if (pg_rows(pg, call) == 0)
        return (struct token_row){.granted = granted};
    return (struct token_row){
            .sealed = pg_null(pg, call, 0, 0) ? (struct slice){0} : pg_bytes(pg, call, 0, 0),
            .generation = pg_big(pg, call, 0, 1),
            .refresh_ms = pg_big(pg, call, 0, 2),
            .expires_ms = pg_big(pg, call, 0, 3),
            .hold_ms = pg_big(pg, call, 0, 4),
            .held = pg_bool(pg, call, 0, 5),
            .granted = granted,
    };
}

static void begin(struct tokens *tokens, struct entry *entry, int64_t now_s)
{
    struct err err = {0};
    entry->number = ++tokens->numbers;
    struct token_order order = {
            .identity = entry->identity, .number = entry->number, .now_s = now_s};
    if (!tokens->maker.begin(tokens->maker.user, entry->provider, &order, &err))
        tokens_failed(tokens, &order, err.msg);
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    (void)err;
    struct tokens *tokens = self;
    struct entry *entry = tokens->busy;
    struct token_row row = read_row(tokens, pg);
    int64_t now_s = row.granted ? (int64_t)pg_double(pg, tokens->call_hold, 0, 0) : 0;
    ended(tokens, entry, pg);
    bool make = entry_take(entry, &row, tokens->asked_ms);
    tokens->busy = NULL;
    if (make)
        begin(tokens, entry, now_s);
    return WORK_DONE;
}

static void fail(void *self, struct pg *pg)
{
    (void)pg;
    struct tokens *tokens = self;
    if (tokens->busy)
        entry_again(tokens->busy, clock_mono_ms());
    tokens->busy = NULL;
}

struct work_kind tokens_work(struct tokens *tokens)
{
    return (struct work_kind){
            .name = "token", .self = tokens, .start = start, .next = next, .fail = fail};
}
