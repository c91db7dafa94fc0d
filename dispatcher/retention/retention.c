#include "dispatcher/retention/retention.h"

#include "common/log.h"
#include "common/metrics.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { EVERY_S = 10, SOON_S = 1, AGAIN_MAX_S = 60 };

struct retention {
    const char *conninfo;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    atomic_bool stopped;
    struct keep keep; // under the mutex
};

// Waits so long, or until the end; true = go on. *ret_keep is what holds then.
static bool wait_s(struct retention *retention, int64_t s, struct keep *ret_keep)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += s;
    pthread_mutex_lock(&retention->mutex);
    int how = 0;
    while (!atomic_load(&retention->stopped) && how != ETIMEDOUT)
        how = pthread_cond_timedwait(&retention->changed, &retention->mutex, &until);
    *ret_keep = retention->keep;
    bool on = !atomic_load(&retention->stopped);
    pthread_mutex_unlock(&retention->mutex);
    return on;
}

static void tell(const struct sweep *sweep, const struct err *err)
{
    const char *state = sweep->pg ? pg_sqlstate(sweep->pg) : "";
    char class[3] = "08"; // connection exception
    if (state[0])
        memcpy(class, state, 2);
    series_inc(metric(METRIC_DB_ERRORS, class, NULL));
    LOG(WARNING, "retention.failed", "old data stays until the next try", L_STR("sqlstate", state),
            L_STR("error", err->msg));
}

static bool turn(struct retention *retention, struct sweep *sweep, const struct keep *keep)
{
    struct err err = {0};
    bool ok = sweep->pg || sweep_open(sweep, retention->conninfo, &err);
    if (ok)
        ok = sweep_pass(sweep, keep, &err);
    if (ok)
        return true;
    if (!atomic_load(&retention->stopped))
        tell(sweep, &err);
    sweep_close(sweep);
    return false;
}

static void *run(void *arg)
{
    struct retention *retention = arg;
    struct sweep sweep = {.stop = &retention->stopped};
    struct keep keep;
    int64_t again_s = SOON_S;
    while (wait_s(retention, again_s, &keep)) {
        if (keep.version == 0)
            again_s = SOON_S;
        else if (turn(retention, &sweep, &keep))
            again_s = EVERY_S;
        else
            again_s = again_s * 2 < AGAIN_MAX_S ? again_s * 2 : AGAIN_MAX_S;
    }
    sweep_close(&sweep);
    return NULL;
}

struct retention *retention_new(const char *conninfo, struct err *err)
{
    struct retention *retention = xcalloc(1, sizeof *retention);
    pthread_condattr_t attr;
    retention->conninfo = conninfo;
    pthread_mutex_init(&retention->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&retention->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&retention->thread, NULL, run, retention) == 0)
        return retention;
    free(retention);
    err_set(err, ERR_FATAL, "can't start the thread of retention");
    return NULL;
}

void retention_free(struct retention *retention)
{
    if (!retention)
        return;
    pthread_mutex_lock(&retention->mutex);
    atomic_store(&retention->stopped, true);
    pthread_cond_signal(&retention->changed);
    pthread_mutex_unlock(&retention->mutex);
    pthread_join(retention->thread, NULL);
    pthread_cond_destroy(&retention->changed);
    pthread_mutex_destroy(&retention->mutex);
    free(retention);
}

void retention_keep(struct retention *retention, const struct keep *keep)
{
    pthread_mutex_lock(&retention->mutex);
    retention->keep = *keep;
    pthread_mutex_unlock(&retention->mutex);
}
