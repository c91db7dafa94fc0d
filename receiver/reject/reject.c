#include "receiver/reject/reject.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "receiver/reject/writer.h"

#include <pthread.h>
#include <time.h>

enum {
    QUEUE_ROWS = 1024,
    BATCH_ROWS = 128,
    TALLIES = 64, // of one batch
    EVERY_S = 1,
    AGAIN_MAX_S = 10,
};
#define QUEUE_BYTES ((size_t)8 << 20)
#define BATCH_BYTES ((size_t)2 << 20)
#define MINUTE_US ((int64_t)60 * 1000000)

struct reject {
    struct writer writer; // the thread's own
    pthread_t thread;
    pthread_mutex_t lock; // guards all below
    pthread_cond_t wake;
    struct sampler *sampler;
    struct kept *head, **tail;
    size_t rows, bytes; // queued, and being written
    bool stopping;
    int64_t stop_by_ms;
};

static void count_one(struct reject *reject, const struct reject_request *request, const char *why)
{
    const struct tally one = {
            request->source, request->reason, 1, request->received_us, request->received_us};
    sampler_count(reject->sampler, &one);
    series_inc(metric(METRIC_REJECTED_LEFT_OUT, request->label, why, NULL));
}

bool reject_wants(struct reject *reject, const struct reject_request *request)
{
    size_t body = request->body.len < REJECT_BODY_MAX ? request->body.len : REJECT_BODY_MAX;
    pthread_mutex_lock(&reject->lock);
    enum sample sample = sampler_take(
            reject->sampler, request->source, body + REJECT_OVERHEAD, request->received_us);
    if (sample != SAMPLE_KEEP)
        count_one(reject, request, sample_name(sample));
    pthread_mutex_unlock(&reject->lock);
    return sample == SAMPLE_KEEP;
}

void reject_keep(struct reject *reject, const struct reject_request *request)
{
    AUTO_FREE struct kept *kept = kept_request(request);
    size_t weight = kept_weight(kept);
    pthread_mutex_lock(&reject->lock);
    if (reject->rows >= QUEUE_ROWS || reject->bytes + weight > QUEUE_BYTES) {
        count_one(reject, request, "queue");
    } else {
        reject->rows++;
        reject->bytes += weight;
        *reject->tail = kept;
        reject->tail = &kept->next;
        steal(&kept);
    }
    pthread_mutex_unlock(&reject->lock);
}

// --- The thread.

// Cuts rows off the queue, bounded in number and bytes. Called with the lock held.
static struct kept *cut_rows(struct reject *reject)
{
    struct kept *first = reject->head, **link = &first;
    size_t rows = 0, bytes = 0;
    while (*link && rows < BATCH_ROWS && bytes < BATCH_BYTES) {
        bytes += kept_weight(*link);
        rows++;
        link = &(*link)->next;
    }
    reject->head = *link;
    if (!reject->head)
        reject->tail = &reject->head;
    *link = NULL;
    return first;
}

// And the kinds that were counted before this minute began; at the end all. Called with the lock
// held.
static struct kept *cut_batch(struct reject *reject)
{
    struct kept *first = cut_rows(reject);
    int64_t now_us = clock_now_us();
    int64_t before_us = reject->stopping ? INT64_MAX : now_us - now_us % MINUTE_US;
    struct tally tally;
    for (int i = 0; i < TALLIES && sampler_tally(reject->sampler, before_us, &tally); i++) {
        struct kept *kept = kept_tally(&tally);
        kept->next = first;
        first = kept;
    }
    return first;
}

static void release(struct reject *reject, struct kept *kept)
{
    if (!kept->left_out) {
        reject->rows--;
        reject->bytes -= kept_weight(kept);
    }
    free(kept);
}

static void put_back(struct reject *reject, struct kept *kept)
{
    if (kept->left_out) {
        const struct tally tally = {
                kept->source, kept->reason, kept->left_out, kept->received_us, kept->last_us};
        sampler_count(reject->sampler, &tally);
        release(reject, kept);
        return;
    }
    kept->next = reject->head;
    if (!reject->head)
        reject->tail = &kept->next;
    reject->head = kept;
}

static void settle(struct reject *reject, struct kept *batch, enum written how)
{
    pthread_mutex_lock(&reject->lock);
    for (struct kept *kept = batch, *next; kept; kept = next) {
        next = kept->next;
        if (how == UNWRITTEN) {
            put_back(reject, kept);
            continue;
        }
        if (!kept->left_out && how == WRITTEN)
            series_inc(metric(METRIC_REJECTED_KEPT, kept->label, NULL));
        else if (!kept->left_out)
            series_inc(metric(METRIC_REJECTED_LEFT_OUT, kept->label, "lost", NULL));
        release(reject, kept);
    }
    pthread_mutex_unlock(&reject->lock);
}

static void tell(const struct err *err)
{
    int64_t left_out = 0;
    if (log_each_minute("rejected.unwritten", "", "", clock_mono_ms(), &left_out))
        LOG(WARNING, "rejected.unwritten", "refused requests could not be kept",
                L_STR("error", err->msg));
}

static enum written write_batch(struct reject *reject, struct kept *batch)
{
    struct err err = {0};
    enum written how = writer_write(&reject->writer, batch, &err);
    if (how != WRITTEN)
        tell(&err);
    settle(reject, batch, how);
    return how;
}

// Waits so long, or until the end. Called with the lock held.
static void wait_s(struct reject *reject, int s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += s;
    int rc = 0;
    while (!reject->stopping && rc == 0)
        rc = pthread_cond_timedwait(&reject->wake, &reject->lock, &until);
}

// False: the end, and nothing is left or no time for it.
static bool next_batch(struct reject *reject, int again_s, struct kept **ret_batch)
{
    pthread_mutex_lock(&reject->lock);
    wait_s(reject, again_s);
    *ret_batch = cut_batch(reject);
    bool last = reject->stopping && clock_mono_ms() >= reject->stop_by_ms;
    bool more = !reject->stopping || (*ret_batch && !last);
    pthread_mutex_unlock(&reject->lock);
    if (!more && *ret_batch)
        settle(reject, *ret_batch, UNWRITABLE);
    return more;
}

static bool is_stopping(struct reject *reject)
{
    pthread_mutex_lock(&reject->lock);
    bool stopping = reject->stopping;
    pthread_mutex_unlock(&reject->lock);
    return stopping;
}

static void *run(void *arg)
{
    struct reject *reject = arg;
    struct kept *batch;
    int again_s = EVERY_S;
    while (next_batch(reject, again_s, &batch)) {
        if (!batch)
            writer_rest(&reject->writer);
        else if (write_batch(reject, batch) != UNWRITTEN)
            again_s = EVERY_S;
        else if (is_stopping(reject))
            break; // nothing is waited for
        else
            again_s = again_s * 2 < AGAIN_MAX_S ? again_s * 2 : AGAIN_MAX_S;
    }
    writer_close(&reject->writer);
    return NULL;
}

struct reject *reject_start(const char *conninfo, struct err *err)
{
    struct reject *reject = xcalloc(1, sizeof *reject);
    reject->writer.conninfo = conninfo;
    reject->sampler = sampler_new(&sample_limits_default);
    reject->tail = &reject->head;
    pthread_mutex_init(&reject->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&reject->wake, &attr);
    pthread_condattr_destroy(&attr);
    int rc = pthread_create(&reject->thread, NULL, run, reject);
    if (rc == 0)
        return reject;
    err_set(err, ERR_FATAL, "could not start the thread of the quarantine: %s", strerror(rc));
    sampler_free(reject->sampler);
    free(reject);
    return NULL;
}

void reject_stop(struct reject *reject, int64_t grace_ms)
{
    if (!reject)
        return;
    pthread_mutex_lock(&reject->lock);
    reject->stopping = true;
    reject->stop_by_ms = clock_mono_ms() + grace_ms;
    pthread_cond_signal(&reject->wake);
    pthread_mutex_unlock(&reject->lock);
    pthread_join(reject->thread, NULL);
    for (struct kept *kept = reject->head, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    sampler_free(reject->sampler);
    pthread_cond_destroy(&reject->wake);
    pthread_mutex_destroy(&reject->lock);
    free(reject);
}
