#include "receiver/fetch/fetch.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "receiver/fetch/certificate.h"
#include "receiver/fetch/getter.h"
#include "receiver/fetch/keep.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <signal.h>

#define LOOK_MS 1000 // for what becomes due by itself

struct fetch {
    struct trust *trust;
    struct getter *getter;
    struct keep *keep;
    pthread_rwlock_t lock; // of keep
    pthread_mutex_t mutex; // of woken
    pthread_cond_t wake;
    bool woken;
    atomic_bool stopping;
    pthread_t thread;
    bool running;
};

static void count(const struct keep_job *job, const char *outcome)
{
    static const char *const kinds[] = {
            [JOB_CERTIFICATE] = "certificate", [JOB_JWKS] = "jwks", [JOB_CONFIRM] = "confirmation"};
    series_inc(metric(METRIC_FETCHES, kinds[job->kind], outcome, NULL));
}

// The query of a confirmation holds its token.
static void say(const struct keep_job *job, const char *outcome, const struct err *err)
{
    struct slice url = {(const unsigned char *)job->url, strcspn(job->url, "?")};
    int64_t left_out = 0;
    count(job, outcome);
    if (strcmp(outcome, "ok") == 0)
        LOG(INFO, "fetch.done", "fetched", L_SLICE("url", url));
    else if (log_each_minute("fetch.failed", outcome, "", clock_mono_ms(), &left_out))
        LOG(WARNING, "fetch.failed", err->msg, L_SLICE("url", url), L_STR("outcome", outcome),
                L_INT("left_out", left_out));
}

static bool read_certificate(const struct fetch *fetch, const struct keep_job *job,
        const struct getter_reply *reply, struct keep_result *result, struct err *err)
{
    struct certificate made;
    struct certificate_text text = {text_slice(&reply->body), text_slice(&reply->chain)};
    if (!certificate_read(fetch->trust, &text, job->domain, clock_now_s(), &made, err))
        return false;
    result->set.keys[0] = (struct pubkey_named){xstrdup(""), made.key};
    result->set.n = 1;
    result->from_s = made.from_s;
    result->until_s = made.until_s;
    return true;
}

// What the answer's body says.
static const char *read_reply(const struct fetch *fetch, const struct keep_job *job,
        const struct getter_reply *reply, struct keep_result *result, struct err *err)
{
    bool ok = true;
    if (job->kind == JOB_CERTIFICATE)
        ok = read_certificate(fetch, job, reply, result, err);
    else if (job->kind == JOB_JWKS)
        ok = pubkey_set_read(text_slice(&reply->body), &result->set, err);
    if (ok)
        result->answer = KEY_READY;
    else if (err->kind == ERR_AUTH)
        result->answer = KEY_REFUSED;
    return ok ? "ok" : err->kind == ERR_AUTH ? "untrusted" : "unreadable";
}

// SNS answers a token that is spent or wrong with 4xx: another try says the same.
static bool is_final(const struct keep_job *job, int status)
{
    return job->kind == JOB_CONFIRM && status >= 400 && status < 500 && status != 429;
}

static void run_job(struct fetch *fetch, const struct keep_job *job)
{
    AUTO_REPLY struct getter_reply reply = {.status = 0};
    struct keep_result result = {.answer = KEY_UNAVAILABLE};
    struct err err = {0};
    enum getter_end end = getter_get(fetch->getter, job->url, &reply, &err);
    const char *outcome = getter_end_name(end);
    if (end == GETTER_OK)
        outcome = read_reply(fetch, job, &reply, &result, &err);
    else if (is_final(job, reply.status))
        result.answer = KEY_REFUSED;
    say(job, outcome, &err);
    pthread_rwlock_wrlock(&fetch->lock);
    keep_done(fetch->keep, job, &result, clock_mono_ms());
    pthread_rwlock_unlock(&fetch->lock);
}

static void wait_for_more(struct fetch *fetch)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOK_MS / 1000;
    pthread_mutex_lock(&fetch->mutex);
    while (!fetch->woken && !fetch->stopping) {
        if (pthread_cond_timedwait(&fetch->wake, &fetch->mutex, &until) != 0)
            break;
    }
    fetch->woken = false;
    pthread_mutex_unlock(&fetch->mutex);
}

static void *run(void *user)
{
    struct fetch *fetch = user;
    while (!fetch->stopping) {
        pthread_rwlock_wrlock(&fetch->lock);
        struct keep_job job = keep_next(fetch->keep, clock_mono_ms());
        pthread_rwlock_unlock(&fetch->lock);
        if (job.kind == JOB_NONE)
            wait_for_more(fetch);
        else
            run_job(fetch, &job);
        keep_job_fini(&job);
    }
    OPENSSL_thread_stop();
    return NULL;
}

static void wake(struct fetch *fetch)
{
    pthread_mutex_lock(&fetch->mutex);
    fetch->woken = true;
    pthread_cond_signal(&fetch->wake);
    pthread_mutex_unlock(&fetch->mutex);
}

static void init_locks(struct fetch *fetch)
{
    pthread_condattr_t clock;
    pthread_rwlock_init(&fetch->lock, NULL);
    pthread_mutex_init(&fetch->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&fetch->wake, &clock);
    pthread_condattr_destroy(&clock);
}

static bool start_thread(struct fetch *fetch, struct err *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    fetch->running = pthread_create(&fetch->thread, NULL, run, fetch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fetch->running || err_set(err, ERR_FATAL, "can't start the thread that fetches keys");
}

struct fetch *fetch_start(const struct fetch_options *options, struct err *err)
{
    struct fetch *fetch = xcalloc(1, sizeof *fetch);
    struct getter_options getter = {.ca = options->ca,
            .connect = options->connect,
            .n_connect = options->n_connect,
            .stopping = &fetch->stopping};
    init_locks(fetch);
    fetch->keep = keep_new();
    fetch->trust = trust_new(options->ca, err);
    fetch->getter = fetch->trust ? getter_new(&getter, err) : NULL;
    if (fetch->getter && start_thread(fetch, err))
        return fetch;
    fetch_stop(fetch);
    return NULL;
}

void fetch_stop(struct fetch *fetch)
{
    if (!fetch)
        return;
    fetch->stopping = true;
    wake(fetch);
    if (fetch->running)
        pthread_join(fetch->thread, NULL);
    getter_free(fetch->getter);
    trust_free(fetch->trust);
    keep_free(fetch->keep);
    pthread_cond_destroy(&fetch->wake);
    pthread_mutex_destroy(&fetch->mutex);
    pthread_rwlock_destroy(&fetch->lock);
    free(fetch);
}

enum key_answer fetch_find(void *user, const struct key_query *query, EVP_PKEY **ret_key)
{
    struct fetch *fetch = user;
    bool want = false;
    pthread_rwlock_rdlock(&fetch->lock);
    enum key_answer answer = keep_find(fetch->keep, query, clock_mono_ms(), ret_key, &want);
    pthread_rwlock_unlock(&fetch->lock);
    if (!want)
        return answer;
    pthread_rwlock_wrlock(&fetch->lock);
    bool taken = keep_want(fetch->keep, query, clock_mono_ms());
    pthread_rwlock_unlock(&fetch->lock);
    if (taken)
        wake(fetch);
    return taken ? answer : KEY_UNAVAILABLE;
}

void fetch_watch(struct fetch *fetch, const char *const *urls, size_t n)
{
    pthread_rwlock_wrlock(&fetch->lock);
    keep_watch(fetch->keep, urls, n, clock_mono_ms());
    pthread_rwlock_unlock(&fetch->lock);
    wake(fetch);
}

bool fetch_confirm(struct fetch *fetch, const char *source, const char *url)
{
    pthread_rwlock_wrlock(&fetch->lock);
    bool taken = keep_confirm(fetch->keep, source, url, clock_mono_ms());
    pthread_rwlock_unlock(&fetch->lock);
    if (taken)
        wake(fetch);
    return taken;
}
