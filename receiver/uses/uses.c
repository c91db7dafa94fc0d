#include "receiver/uses/uses.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/pg/pg.h"
#include "receiver/uses/uses_sql.h"

#include <pthread.h>
#include <time.h>

enum { LOOK_S = 1, EVERY_S = 60, AGAIN_S = 10, STATEMENT_MS = 1000, CONNECT_MS = 500 };

struct uses {
    struct uses_options options;
    pthread_t thread;
    pthread_mutex_t lock; // guards stopping
    pthread_cond_t wake;
    bool stopping;
    // the thread's own
    struct policy *policy; // whose secrets are looked at
    int64_t written_s;     // wall clock: uses before it are in the database
    int64_t next_ms;       // monotonic: not before
};

// Uses at one moment: the loops go on marking while they are written.
struct snapshot {
    struct use {
        int source;
        const char *secret; // of the policy
        int64_t used_s;
    } * rows;
    size_t n, room;
};

static void add_use(struct snapshot *snapshot, const struct source *source,
        const struct secret *secret, int64_t since_s)
{
    int64_t used_s = secret_last_used(secret);
    if (!used_s || used_s < since_s || !source->id)
        return;
    if (snapshot->n == snapshot->room) {
        snapshot->room = snapshot->room ? 2 * snapshot->room : 16;
        snapshot->rows = xrealloc(snapshot->rows, snapshot->room * sizeof *snapshot->rows);
    }
    snapshot->rows[snapshot->n++] = (struct use){source->id, secret->credential, used_s};
}

static struct snapshot snapshot_take(const struct policy *policy, int64_t since_s)
{
    struct snapshot snapshot = {.n = 0};
    for (size_t i = 0; policy && i < policy->n_sources; i++) {
        const struct source *source = &policy->sources[i];
        for (size_t j = 0; j < source->n_secrets; j++)
            add_use(&snapshot, source, &source->secrets[j], since_s);
    }
    return snapshot;
}

static void add_rows(struct pg *pg, const struct snapshot *snapshot)
{
    pg_add(pg, USES_NOTE);
    pg_p_ints(pg);
    for (size_t i = 0; i < snapshot->n; i++)
        pg_e_int(pg, snapshot->rows[i].source);
    pg_p_texts(pg);
    for (size_t i = 0; i < snapshot->n; i++)
        pg_e_bytes(pg, slice_of(snapshot->rows[i].secret));
    pg_p_bigs(pg);
    for (size_t i = 0; i < snapshot->n; i++)
        pg_e_big(pg, snapshot->rows[i].used_s);
}

static bool write_down(const struct uses *uses, const struct snapshot *snapshot, struct err *err)
{
    const struct pg_options options = {.conninfo = uses->options.conninfo,
            .role = "pawl_receiver",
            .application = "pawl secret uses",
            .stmts = uses_statements,
            .n_stmts = USES_COUNT,
            .connect_timeout_ms = CONNECT_MS,
            .statement_timeout_ms = STATEMENT_MS};
    struct pg *pg = pg_connect(&options, err);
    if (!pg)
        return false;
    add_rows(pg, snapshot);
    bool done = pg_fly(pg, clock_mono_ms() + STATEMENT_MS, err);
    pg_close(pg);
    return done;
}

static void write_if_any(struct uses *uses, int64_t now_ms)
{
    int64_t begun_s = clock_now_s(), left_out = 0;
    struct snapshot snapshot = snapshot_take(uses->policy, uses->written_s);
    AUTO_FREE struct use *rows = snapshot.rows;
    struct err err = {0};
    if (snapshot.n == 0)
        return;
    bool done = write_down(uses, &snapshot, &err);
    uses->next_ms = now_ms + (done ? EVERY_S : AGAIN_S) * 1000;
    if (done)
        uses->written_s = begun_s;
    else if (log_each_minute("secrets.uses", "", "", now_ms, &left_out))
        LOG(WARNING, "secrets.uses", err.msg);
}

// A policy that is left behind is written down first: the new one starts without uses.
static void look(struct uses *uses, bool last)
{
    int64_t now_ms = clock_mono_ms();
    struct policy *policy = uses->options.policy(uses->options.user);
    bool left = uses->policy && policy != uses->policy;
    if (last || left || now_ms >= uses->next_ms)
        write_if_any(uses, now_ms);
    if (left || !uses->policy) {
        policy_unref(uses->policy);
        uses->policy = policy;
        uses->written_s = 0;
    } else {
        policy_unref(policy);
    }
}

static bool wait_for_stop(struct uses *uses)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOK_S;
    pthread_mutex_lock(&uses->lock);
    int waited = 0;
    while (!uses->stopping && waited == 0)
        waited = pthread_cond_timedwait(&uses->wake, &uses->lock, &until);
    bool stopping = uses->stopping;
    pthread_mutex_unlock(&uses->lock);
    return stopping;
}

static void *run(void *ctx)
{
    struct uses *uses = ctx;
    bool stopping = false;
    while (!stopping) {
        stopping = wait_for_stop(uses);
        look(uses, stopping);
    }
    policy_unref(uses->policy);
    return NULL;
}

struct uses *uses_start(const struct uses_options *options, struct err *err)
{
    struct uses *uses = xcalloc(1, sizeof *uses);
    uses->options = *options;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&uses->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&uses->lock, NULL);
    if (pthread_create(&uses->thread, NULL, run, uses) == 0)
        return uses;
    pthread_mutex_destroy(&uses->lock);
    pthread_cond_destroy(&uses->wake);
    free(uses);
    err_set(err, ERR_FATAL, "could not start a thread");
    return NULL;
}

void uses_stop(struct uses *uses)
{
    if (!uses)
        return;
    pthread_mutex_lock(&uses->lock);
    uses->stopping = true;
    pthread_cond_signal(&uses->wake);
    pthread_mutex_unlock(&uses->lock);
    pthread_join(uses->thread, NULL);
    pthread_mutex_destroy(&uses->lock);
    pthread_cond_destroy(&uses->wake);
    free(uses);
}
