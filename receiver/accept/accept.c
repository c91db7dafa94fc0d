#include "receiver/accept/accept.h"

#include "common/clock.h"
#include "common/fault.h"
#include "receiver/accept/worker.h"

#include <pthread.h>
#include <time.h>

#define BATCH_ROWS 256
#define BATCH_BYTES (8u * 1024 * 1024)
#define IDLE_MS 200 // how often an idle thread looks whether it must reconnect

struct accept {
    struct accept_options options;
    pthread_t thread;
    pthread_mutex_t lock; // guards all below
    pthread_cond_t wake;
    struct arrival *head, **tail;
    size_t rows, bytes, in_flight;
    bool stopping, reload, connected;
    int64_t stop_by_ms;
};

static size_t weight(const struct arrival *arrival)
{
    return arrival->body.len + 512;
}

bool accept_submit(struct accept *accept, struct arrival *arrival)
{
    pthread_mutex_lock(&accept->lock);
    bool room = !accept->stopping && accept->rows < (size_t)accept->options.queue_rows &&
                accept->bytes + weight(arrival) <= accept->options.queue_bytes;
    if (room) {
        arrival->next = NULL;
        *accept->tail = arrival;
        accept->tail = &arrival->next;
        accept->rows++;
        accept->bytes += weight(arrival);
        pthread_cond_signal(&accept->wake);
    }
    pthread_mutex_unlock(&accept->lock);
    return room;
}

size_t accept_pending(struct accept *accept)
{
    pthread_mutex_lock(&accept->lock);
    size_t n = accept->rows + accept->in_flight;
    pthread_mutex_unlock(&accept->lock);
    return n;
}

bool accept_connected(struct accept *accept)
{
    pthread_mutex_lock(&accept->lock);
    bool connected = accept->connected;
    pthread_mutex_unlock(&accept->lock);
    return connected;
}

void accept_reload(struct accept *accept)
{
    pthread_mutex_lock(&accept->lock);
    accept->reload = true;
    pthread_cond_signal(&accept->wake);
    pthread_mutex_unlock(&accept->lock);
}

static void wait_idle(struct accept *accept)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += IDLE_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&accept->wake, &accept->lock, &until);
}

// Cuts the next batch off the queue: bounded in rows and bytes, at least one. Called with the lock
// held.
static struct arrival *cut_batch(struct accept *accept)
{
    struct arrival *first = accept->head, **link = &accept->head;
    size_t rows = 0, bytes = 0;
    while (*link && rows < BATCH_ROWS && (rows == 0 || bytes + weight(*link) <= BATCH_BYTES)) {
        bytes += weight(*link);
        rows++;
        link = &(*link)->next;
    }
    accept->head = *link;
    if (!accept->head)
        accept->tail = &accept->head;
    *link = NULL;
    accept->rows -= rows;
    accept->bytes -= bytes;
    accept->in_flight = rows;
    return first;
}

struct turn {
    struct arrival *batch; // NULL: nothing came
    bool reload, out_of_time, stop;
};

static struct turn next_turn(struct accept *accept)
{
    pthread_mutex_lock(&accept->lock);
    if (!accept->head && !accept->stopping && !accept->reload)
        wait_idle(accept);
    struct turn turn = {.reload = accept->reload, .stop = accept->stopping && !accept->head};
    turn.out_of_time = accept->stopping && clock_mono_ms() >= accept->stop_by_ms;
    accept->reload = false;
    if (accept->head)
        turn.batch = cut_batch(accept);
    pthread_mutex_unlock(&accept->lock);
    return turn;
}

static void note_connection(struct accept *accept, bool connected)
{
    pthread_mutex_lock(&accept->lock);
    accept->connected = connected;
    accept->in_flight = 0;
    pthread_mutex_unlock(&accept->lock);
}

static void answer_unavailable(struct arrival *arrivals)
{
    for (; arrivals; arrivals = arrivals->next)
        arrivals->answer = ANSWER_UNAVAILABLE;
}

static void *run(void *arg)
{
    struct accept *accept = arg;
    struct worker worker;
    worker_init(&worker, &accept->options);
    for (;;) {
        struct turn turn = next_turn(accept);
        if (turn.reload)
            worker_reload(&worker);
        if (turn.batch) {
            if (turn.out_of_time || !worker_ready(&worker))
                answer_unavailable(turn.batch);
            else
                worker_process(&worker, turn.batch);
            FAULT_STEP(accept_before_answer);
            accept->options.done(accept->options.user, turn.batch);
        } else if (!turn.stop) {
            worker_look(&worker);
        }
        note_connection(accept, worker_ready(&worker));
        if (turn.stop)
            break;
    }
    worker_fini(&worker);
    return NULL;
}

struct accept *accept_start(const struct accept_options *options, struct err *err)
{
    struct accept *accept = xcalloc(1, sizeof *accept);
    accept->options = *options;
    accept->tail = &accept->head;
    pthread_mutex_init(&accept->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&accept->wake, &attr);
    pthread_condattr_destroy(&attr);
    int rc = pthread_create(&accept->thread, NULL, run, accept);
    if (rc == 0)
        return accept;
    err_set(err, ERR_FATAL, "could not start the accept thread: %s", strerror(rc));
    free(accept);
    return NULL;
}

void accept_stop(struct accept *accept, int64_t grace_ms)
{
    if (!accept)
        return;
    pthread_mutex_lock(&accept->lock);
    accept->stopping = true;
    accept->stop_by_ms = clock_mono_ms() + grace_ms;
    pthread_cond_signal(&accept->wake);
    pthread_mutex_unlock(&accept->lock);
    pthread_join(accept->thread, NULL);
    pthread_cond_destroy(&accept->wake);
    pthread_mutex_destroy(&accept->lock);
    free(accept);
}
