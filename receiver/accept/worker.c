#include "receiver/accept/worker.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/store/policy_store.h"
#include "receiver/accept/accept_sql.h"
#include "receiver/accept/adopt.h"
#include "receiver/accept/count.h"
#include "receiver/accept/sift.h"

#include <stdio.h>

#define TRIES_MAX 8 // of one batch: policy changes, deadlocks, lost commits
#define CONNECT_TIMEOUT_MS 1000
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 1000
#define LOOK_MS 1000
#define LOOK_TIMEOUT_MS 1000 // a database that hangs must not keep the thread from its end
#define EVENTS_MAX 2000      // of one transaction, unless one arrival alone has more

void worker_init(struct worker *worker, const struct accept_options *options)
{
    *worker = (struct worker){.options = options, .backoff_ms = BACKOFF_MIN_MS};
}

static void disconnect(struct worker *worker)
{
    pg_close(worker->txn.pg);
    worker->txn.pg = NULL;
}

void worker_fini(struct worker *worker)
{
    disconnect(worker);
    adopt_none(worker);
}

static bool connect_now(struct worker *worker, struct err *err)
{
    struct pg_stmt stmts[ACCEPT_COUNT + POLICY_STORE_COUNT];
    memcpy(stmts, accept_statements, sizeof accept_statements);
    memcpy(stmts + ACCEPT_COUNT, policy_store_statements, sizeof policy_store_statements);
    struct pg_options options = {.conninfo = worker->options->conninfo,
            .role = "pawl_receiver",
            .application = "pawl receiver",
            .stmts = stmts,
            .n_stmts = ARRAY_LEN(stmts),
            .connect_timeout_ms = CONNECT_TIMEOUT_MS,
            .statement_timeout_ms = (int)worker->options->deadline_ms,
            .demand_durable = true};
    worker->txn.pg = pg_connect(&options, err);
    return worker->txn.pg;
}

static void connect_failed(struct worker *worker, const struct err *err)
{
    disconnect(worker);
    worker->next_connect_ms = clock_mono_ms() + worker->backoff_ms;
    worker->backoff_ms =
            worker->backoff_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : worker->backoff_ms * 2;
    LOG(WARNING, "database.unavailable", err->msg);
}

bool worker_ready(struct worker *worker)
{
    if (worker->txn.pg && pg_alive(worker->txn.pg) && worker->policy)
        return true;
    if (clock_mono_ms() < worker->next_connect_ms)
        return false;
    struct err err = {0};
    disconnect(worker);
    if (!connect_now(worker, &err) || (!worker->policy && !adopt_active(worker, false, &err))) {
        connect_failed(worker, &err);
        return false;
    }
    worker->backoff_ms = BACKOFF_MIN_MS;
    worker->next_connect_ms = 0;
    return true;
}

static bool active_version(struct worker *worker, int *ret_version)
{
    struct err err = {0};
    struct pg *pg = worker->txn.pg;
    pg_add(pg, ACCEPT_SEEN);
    if (!pg_fly(pg, clock_mono_ms() + LOOK_TIMEOUT_MS, &err) || pg_rows(pg, 0) != 1)
        return false;
    *ret_version = pg_int(pg, 0, 0, 0);
    return true;
}

// Where the database is away the secrets can't be loaded, since the policy names them: it stays
// due.
static void reload_if_due(struct worker *worker)
{
    struct err err = {0};
    if (!worker->reload_due)
        return;
    bool loaded = adopt_active(worker, true, &err);
    worker->reload_due = !loaded && err.kind == ERR_TEMP;
    if (!loaded)
        LOG(ERROR, "policy.reload", err.msg);
}

void worker_look(struct worker *worker)
{
    struct err err = {0};
    int version = 0;
    if (clock_mono_ms() < worker->next_look_ms || !worker_ready(worker))
        return;
    worker->next_look_ms = clock_mono_ms() + LOOK_MS;
    reload_if_due(worker);
    adopt_shared(worker);
    if (!active_version(worker, &version) || version == worker->policy->version ||
            version == worker->refused_version)
        return;
    worker->txn.version = version;
    if (adopt_active(worker, false, &err))
        return;
    worker->txn.version = worker->policy->version;
    if (err.kind != ERR_TEMP)
        worker->refused_version = version;
    LOG(ERROR, "policy.load", err.msg);
}

void worker_reload(struct worker *worker)
{
    worker->reload_due = true;
    if (worker_ready(worker))
        reload_if_due(worker);
}

// Reads the bodies by the policy of the moment. An app's unreadable request may repeat one that
// another version could read. Where it does not, nothing is stored: it is answered 422 and may come
// again under the same key.
static void read_all(struct worker *worker, struct arrival *arrivals)
{
    for (struct arrival *arrival = arrivals; arrival; arrival = arrival->next) {
        arrival->answer = ANSWER_NONE;
        if (arrival->unsubscribes)
            continue;
        const struct source *source = policy_source(worker->policy, slice_of(arrival->source));
        if (!source || clock_mono_ms() >= arrival->deadline_ms) {
            arrival->answer = ANSWER_UNAVAILABLE;
            continue;
        }
        struct read_pointers pointers = worker->options->pointers(source);
        read_events(arrival, worker->policy, &pointers);
        arrival->asks = pointers.app && arrival->events[0].parked_reason;
    }
}

static enum answer app_answer(const struct arrival *arrival)
{
    const struct event *event = &arrival->events[0];
    if (arrival->asks && event->outcome == EVENT_NONE)
        return ANSWER_UNREADABLE;
    if (event->outcome == EVENT_DUPLICATE)
        return ANSWER_REPLAYED;
    return event->outcome == EVENT_MISMATCH ? ANSWER_MISMATCH : ANSWER_OUTCOME;
}

static void answer_stored(struct worker *worker, struct arrival *arrivals)
{
    for (struct arrival *arrival = arrivals; arrival; arrival = arrival->next) {
        if (arrival->answer != ANSWER_NONE)
            continue;
        if (arrival->unsubscribes) {
            arrival->answer = ANSWER_OK;
            continue;
        }
        const struct source *source = policy_source(worker->policy, slice_of(arrival->source));
        bool app = worker->options->pointers(source).app;
        arrival->answer = app ? app_answer(arrival) : ANSWER_OK;
    }
}

static void refuse(struct arrival *arrivals, const struct err *err)
{
    for (struct arrival *arrival = arrivals; arrival; arrival = arrival->next)
        if (arrival->answer == ANSWER_NONE)
            arrival->answer = ANSWER_UNAVAILABLE;
    LOG(ERROR, "accept.failed", err->msg);
}

static void count_database_error(struct worker *worker)
{
    char class[3] = "";
    if (worker->txn.pg)
        snprintf(class, sizeof class, "%s", pg_sqlstate(worker->txn.pg));
    series_inc(metric(METRIC_DB_ERRORS, class[0] ? class : "none", NULL));
}

static size_t count_events(const struct arrival *arrivals)
{
    size_t n = 0;
    for (; arrivals; arrivals = arrivals->next)
        n += arrivals->n_events;
    return n;
}

static int64_t latest_deadline(const struct arrival *arrivals)
{
    int64_t latest = 0;
    for (; arrivals; arrivals = arrivals->next)
        if (arrivals->deadline_ms > latest)
            latest = arrivals->deadline_ms;
    return latest;
}

// One without events (a click on unsubscribe, an empty list) counts too: it goes alone as well.
static size_t weight_of(const struct arrival *arrival)
{
    return arrival->n_events > 0 ? arrival->n_events : 1;
}

// The last of the arrivals from here on that are at most `most` events together; at least one
// arrival, whose events are never parted.
static struct arrival *last_of_part(struct arrival *arrival, size_t most)
{
    size_t n = weight_of(arrival);
    while (arrival->next && n + weight_of(arrival->next) <= most) {
        arrival = arrival->next;
        n += weight_of(arrival);
    }
    return arrival;
}

// Half of their events. A half that the database refuses is halved again, until the bad arrival is
// alone: the others go in few transactions, and hold up nobody behind them.
static size_t half_of(const struct arrival *arrivals)
{
    size_t n = 0;
    for (; arrivals; arrivals = arrivals->next)
        n += weight_of(arrivals);
    return n / 2;
}

// One bad event among many, or too many for one transaction. What may have been committed before
// the parting may have been each part of it.
static void process_parts(struct worker *worker, struct arrival *arrivals, size_t most)
{
    bool before = worker->run_again;
    worker->run_again |= worker->txn.run_again;
    while (arrivals) {
        struct arrival *last = last_of_part(arrivals, most), *rest = last->next;
        last->next = NULL;
        worker_process(worker, arrivals);
        last->next = rest;
        arrivals = rest;
    }
    worker->run_again = before;
}

// What to do after a try that did not end well; false = give up.
static bool prepare_again(struct worker *worker, enum txn_end end, struct err *err)
{
    if (end == TXN_OUTDATED) {
        bool ok =
                worker->policy->version == worker->txn.version || adopt_active(worker, false, err);
        worker->txn.version = worker->policy->version; // unchanged if it could not be loaded
        return ok;
    }
    count_database_error(worker);
    if (end == TXN_AGAIN)
        return true;
    if (worker->txn.pg && pg_alive(worker->txn.pg) && end != TXN_LOST)
        return false;
    // The connection broke: before COMMIT was sent nothing happened, and a COMMIT run again finds
    // its own keys.
    worker->txn.run_again |= end == TXN_LOST;
    disconnect(worker);
    return worker_ready(worker);
}

// Whose senders are told the outcome of what they repeat; the others all get one and the same
// answer.
static void mark_told(const struct worker *worker, struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        batch->items[i].told = worker->options->pointers(batch->items[i].source).app;
}

// Reads them and runs them as one transaction. *ret_split: they are too many events for one, and
// nothing was done.
static enum txn_end try_once(
        struct worker *worker, struct arrival *arrivals, bool *ret_split, struct err *err)
{
    struct batch batch;
    read_all(worker, arrivals);
    *ret_split = arrivals->next && count_events(arrivals) > EVENTS_MAX;
    if (*ret_split)
        return TXN_DONE;
    batch_init(&batch, worker->policy, arrivals);
    mark_told(worker, &batch);
    enum txn_end end = TXN_DONE;
    if (batch.n > 0 || batch.n_leavers > 0)
        end = txn_run(&worker->txn, &batch, worker->once, latest_deadline(arrivals), err);
    if (end == TXN_DONE && !worker->txn.trial)
        count_batch(&batch);
    batch_fini(&batch);
    return end;
}

struct trial {
    struct worker *worker;
    struct arrival *arrival;
    struct err *err;
};

static enum txn_end try_and_take_back(void *user)
{
    struct trial *trial = user;
    bool split = false;
    trial->worker->txn.trial = true;
    enum txn_end end = try_once(trial->worker, trial->arrival, &split, trial->err);
    trial->worker->txn.trial = false;
    return end;
}

static void tell_refused(const struct arrival *arrival, const struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < arrival->n_marks; i++)
        n += arrival->marks[i] != EVENT_TAKEN;
    series_add(metric(METRIC_REFUSED_EVENTS, arrival->source, NULL), (double)n);
    LOG(ERROR, "accept.refused", "the database refuses events of a request: they are parked",
            L_STR("source", arrival->source), L_INT("refused", (int64_t)n),
            L_INT("events", (int64_t)arrival->n_marks), L_STR("error", err->msg));
}

// One request that the database refuses: a provider would send it again until it gives up, and the
// other events of it with it. So the refused ones are parked; of an app, which has but one, the
// sender is told to come again. Returns what to do as if it were the end of a try: TXN_DONE = run
// it as it is marked now.
static enum txn_end sort_out_refused(
        struct worker *worker, struct arrival *arrival, struct err *err)
{
    const struct source *source = policy_source(worker->policy, slice_of(arrival->source));
    if (arrival->unsubscribes || !source || worker->options->pointers(source).app)
        return TXN_BAD_DATA;
    if (arrival->marks)
        return sift_strip(arrival) ? TXN_DONE : TXN_BAD_DATA;
    struct err last = {0};
    struct trial trial = {worker, arrival, &last};
    count_database_error(worker);
    enum txn_end end = sift(arrival, try_and_take_back, &trial);
    if (end != TXN_BAD_DATA)
        *err = last;
    return end;
}

// After a try that stored nothing: is another one worth its while?
static bool once_more(
        struct worker *worker, struct arrival *arrivals, enum txn_end end, struct err *err)
{
    if (end == TXN_OUTDATED)
        sift_forget(arrivals);
    if (end == TXN_BAD_DATA)
        end = sort_out_refused(worker, arrivals, err);
    return end == TXN_DONE || prepare_again(worker, end, err);
}

void worker_process(struct worker *worker, struct arrival *arrivals)
{
    struct err err = {.msg = "no connection to the database"};
    int64_t deadline_ms = latest_deadline(arrivals);
    bool go_on = worker_ready(worker);
    worker->txn.run_again = worker->run_again;
    if (go_on) {
        reload_if_due(worker);
        adopt_shared(worker);
    }
    for (int i = 0; go_on && i < TRIES_MAX && clock_mono_ms() < deadline_ms; i++) {
        bool split = false;
        enum txn_end end = try_once(worker, arrivals, &split, &err);
        if (split || (end == TXN_BAD_DATA && arrivals->next)) {
            process_parts(worker, arrivals, split ? EVENTS_MAX : half_of(arrivals));
            return;
        }
        if (end == TXN_DONE) {
            if (arrivals->marks && arrivals->answer == ANSWER_NONE)
                tell_refused(arrivals, &err);
            answer_stored(worker, arrivals);
            return;
        }
        go_on = once_more(worker, arrivals, end, &err);
    }
    refuse(arrivals, &err);
}
