#include "receiver/accept/accept.h"

#include "common/clock.h"
#include "common/fault.h"
#include "receiver/accept/worker.h"

#include <pthread.h>
#include <time.h>

#define BATCH_ROWS 256
#define BATCH_BYTES (8u * 1024 * 1024)
#define BATCH_GOOD 24 // so many waiting are worth a second transaction beside one in flight
#define HELD_UP_MS 50 // a batch in flight for so long waits for something
#define IDLE_MS 200   // how often an idle thread looks whether it must reconnect

// One thread with its connection.
struct hand {
    struct accept *accept;
    struct worker worker; // its own
    pthread_t thread;
    pthread_cond_t wake;
    // Guarded by the accept's lock:
    bool connected, busy;
    bool called;     // woken, and on its way
    int64_t busy_ms; // since when
    unsigned reloads;
};

struct accept {
    struct accept_options options;
    int n_hands;
    struct hand *hands;
    pthread_mutex_t lock; // guards all below
    struct arrival *head, **tail;
    size_t rows, bytes;
    bool stopping;
    unsigned reloads;
    int64_t stop_by_ms;
};

static size_t weight(const struct arrival *arrival)
{
    return arrival->body.len + 512;
}

static bool any_connected(const struct accept *accept)
{
    for (int i = 0; i < accept->n_hands; i++)
        if (accept->hands[i].connected)
            return true;
    return false;
}

// A transaction costs the database much the same whatever is in it: what waits gathers while one is
// in flight, unless it is a good batch by itself, or that one is held up. Called with the lock
// held.
static bool may_take(const struct accept *accept, const struct hand *hand)
{
    if (!accept->head || accept->stopping)
        return accept->head;
    if (!hand->connected)
        return !any_connected(accept); // to be answered 503
    if (accept->rows >= BATCH_GOOD)
        return true;
    int64_t now_ms = clock_mono_ms();
    for (int i = 0; i < accept->n_hands; i++)
        if (accept->hands[i].busy && now_ms - accept->hands[i].busy_ms < HELD_UP_MS)
            return false;
    return true;
}

// Wakes an idle hand that may take what waits. A busy one looks by itself when it is done. Called
// with the lock held.
static void wake_one(struct accept *accept)
{
    for (int i = 0; i < accept->n_hands; i++) {
        struct hand *hand = &accept->hands[i];
        if (hand->busy || !may_take(accept, hand))
            continue;
        if (!hand->called)
            pthread_cond_signal(&hand->wake);
        hand->called = true;
        return;
    }
}

// What is too large for the queue has room alone.
static bool has_room(const struct accept *accept, const struct arrival *arrival)
{
    return accept->rows == 0 ||
           (accept->rows < (size_t)accept->options.queue_rows &&
                   accept->bytes + weight(arrival) <= accept->options.queue_bytes);
}

bool accept_submit(struct accept *accept, struct arrival *arrival)
{
    pthread_mutex_lock(&accept->lock);
    bool room = !accept->stopping && has_room(accept, arrival);
    if (room) {
        arrival->next = NULL;
        *accept->tail = arrival;
        accept->tail = &arrival->next;
        accept->rows++;
        accept->bytes += weight(arrival);
        wake_one(accept);
    }
    pthread_mutex_unlock(&accept->lock);
    return room;
}

int accept_connected(struct accept *accept)
{
    int n = 0;
    pthread_mutex_lock(&accept->lock);
    for (int i = 0; i < accept->n_hands; i++)
        n += accept->hands[i].connected;
    pthread_mutex_unlock(&accept->lock);
    return n;
}

// Called with the lock held.
static void wake_all(struct accept *accept)
{
    for (int i = 0; i < accept->n_hands; i++)
        pthread_cond_signal(&accept->hands[i].wake);
}

void accept_reload(struct accept *accept)
{
    pthread_mutex_lock(&accept->lock);
    accept->reloads++;
    wake_all(accept);
    pthread_mutex_unlock(&accept->lock);
}

static void wait_idle(struct hand *hand)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (hand->accept->head ? HELD_UP_MS : IDLE_MS) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&hand->wake, &hand->accept->lock, &until);
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
    return first;
}

struct turn {
    struct arrival *batch; // NULL: nothing to do
    bool reload, out_of_time, stop;
};

static struct turn next_turn(struct hand *hand)
{
    struct accept *accept = hand->accept;
    pthread_mutex_lock(&accept->lock);
    if (!may_take(accept, hand) && !accept->stopping && hand->reloads == accept->reloads)
        wait_idle(hand);
    struct turn turn = {.reload = hand->reloads != accept->reloads,
            .stop = accept->stopping && !accept->head,
            .out_of_time = accept->stopping && clock_mono_ms() >= accept->stop_by_ms};
    hand->reloads = accept->reloads;
    hand->called = false;
    if (may_take(accept, hand)) {
        turn.batch = cut_batch(accept);
        hand->busy = true;
        hand->busy_ms = clock_mono_ms();
        wake_one(accept); // more may wait than one batch takes
    }
    pthread_mutex_unlock(&accept->lock);
    return turn;
}

static void end_turn(struct hand *hand, bool connected)
{
    pthread_mutex_lock(&hand->accept->lock);
    hand->connected = connected;
    hand->busy = false;
    pthread_mutex_unlock(&hand->accept->lock);
}

static void answer_unavailable(struct arrival *arrivals)
{
    for (; arrivals; arrivals = arrivals->next)
        arrivals->answer = ANSWER_UNAVAILABLE;
}

static void process(struct hand *hand, const struct turn *turn)
{
    const struct accept_options *options = &hand->accept->options;
    if (turn->out_of_time || !worker_ready(&hand->worker))
        answer_unavailable(turn->batch);
    else
        worker_process(&hand->worker, turn->batch);
    FAULT_STEP(accept_before_answer);
    options->done(options->user, turn->batch);
}

static void *run(void *arg)
{
    struct hand *hand = arg;
    for (;;) {
        struct turn turn = next_turn(hand);
        if (turn.reload)
            worker_reload(&hand->worker);
        if (turn.batch)
            process(hand, &turn);
        else if (!turn.stop)
            worker_look(&hand->worker);
        if (turn.stop)
            break;
        end_turn(hand, worker_ready(&hand->worker));
    }
    worker_fini(&hand->worker);
    return NULL;
}

static bool start_hand(struct accept *accept, struct err *err)
{
    struct hand *hand = &accept->hands[accept->n_hands];
    hand->accept = accept;
    worker_init(&hand->worker, &accept->options);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&hand->wake, &attr);
    pthread_condattr_destroy(&attr);
    // The hands that run look at all that are counted.
    pthread_mutex_lock(&accept->lock);
    int rc = pthread_create(&hand->thread, NULL, run, hand);
    accept->n_hands += rc == 0;
    pthread_mutex_unlock(&accept->lock);
    if (rc == 0)
        return true;
    pthread_cond_destroy(&hand->wake);
    return err_set(err, ERR_FATAL, "could not start an accept thread: %s", strerror(rc));
}

struct accept *accept_start(const struct accept_options *options, int threads, struct err *err)
{
    struct accept *accept = xcalloc(1, sizeof *accept);
    accept->options = *options;
    accept->tail = &accept->head;
    accept->hands = xcalloc((size_t)threads, sizeof *accept->hands);
    pthread_mutex_init(&accept->lock, NULL);
    while (accept->n_hands < threads) {
        if (!start_hand(accept, err)) {
            accept_stop(accept, 0);
            return NULL;
        }
    }
    return accept;
}

void accept_stop(struct accept *accept, int64_t grace_ms)
{
    if (!accept)
        return;
    pthread_mutex_lock(&accept->lock);
    accept->stopping = true;
    accept->stop_by_ms = clock_mono_ms() + grace_ms;
    wake_all(accept);
    pthread_mutex_unlock(&accept->lock);
    for (int i = 0; i < accept->n_hands; i++)
        pthread_join(accept->hands[i].thread, NULL);
    for (int i = 0; i < accept->n_hands; i++)
        pthread_cond_destroy(&accept->hands[i].wake);
    pthread_mutex_destroy(&accept->lock);
    free(accept->hands);
    free(accept);
}
