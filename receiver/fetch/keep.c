#include "receiver/fetch/keep.h"

#include "receiver/fetch/confirms.h"
#include "receiver/fetch/pace.h"

#include <openssl/evp.h>
#include <stdatomic.h>

enum entry_state { ENTRY_FREE, ENTRY_READY, ENTRY_WAITING, ENTRY_FAILED };

struct entry {
    enum entry_state state;
    enum published_kind kind;
    char *url;
    const char *domain;
    enum key_answer answer;  // ENTRY_FAILED
    struct pubkey_set set;   // ENTRY_READY; a certificate's key has no kid
    int64_t from_s, until_s; // ENTRY_READY
    int64_t at_ms;           // when it came to this state
    int64_t asked_ms;        // ENTRY_READY: when it was last asked for
    bool again;              // ENTRY_READY: to be asked for again
    _Atomic int64_t used_ms;
};

struct keep {
    struct entry ready[KEEP_READY_MAX], other[KEEP_OTHER_MAX];
    char *watched[KEEP_WATCH_MAX];
    size_t n_watched;
    struct pace pace;
    struct confirms confirms;
};

struct keep *keep_new(void)
{
    return xcalloc(1, sizeof(struct keep));
}

static void entry_clear(struct entry *entry)
{
    free(entry->url);
    pubkey_set_fini(&entry->set);
    *entry = (struct entry){.state = ENTRY_FREE};
}

void keep_free(struct keep *keep)
{
    if (!keep)
        return;
    for (size_t i = 0; i < KEEP_READY_MAX; i++)
        entry_clear(&keep->ready[i]);
    for (size_t i = 0; i < KEEP_OTHER_MAX; i++)
        entry_clear(&keep->other[i]);
    for (size_t i = 0; i < keep->n_watched; i++)
        free(keep->watched[i]);
    confirms_fini(&keep->confirms);
    free(keep);
}

void keep_job_fini(struct keep_job *job)
{
    free(job->url);
    *job = (struct keep_job){.kind = JOB_NONE};
}

static struct entry *entry_find(
        struct entry *entries, size_t n, enum published_kind kind, struct slice url)
{
    for (size_t i = 0; i < n; i++)
        if (entries[i].url && entries[i].kind == kind && slice_eq(slice_of(entries[i].url), url))
            return &entries[i];
    return NULL;
}

static struct entry *ready_find(struct keep *keep, enum published_kind kind, struct slice url)
{
    return entry_find(keep->ready, KEEP_READY_MAX, kind, url);
}

static struct entry *other_find(struct keep *keep, enum published_kind kind, struct slice url)
{
    return entry_find(keep->other, KEEP_OTHER_MAX, kind, url);
}

static bool is_watched(const struct keep *keep, const struct entry *entry)
{
    for (size_t i = 0; entry->kind == KEY_JWKS && i < keep->n_watched; i++)
        if (strcmp(keep->watched[i], entry->url) == 0)
            return true;
    return false;
}

static enum key_answer give(EVP_PKEY *key, EVP_PKEY **ret_key)
{
    if (EVP_PKEY_up_ref(key) != 1)
        return KEY_UNAVAILABLE;
    *ret_key = key;
    return KEY_READY;
}

// One that ended may have been renewed at its URL: what is signed by the new one is not refused.
static enum key_answer of_certificate(const struct entry *entry, const struct key_query *query,
        int64_t mono_ms, EVP_PKEY **ret_key, bool *ret_want)
{
    bool valid = (!entry->from_s || query->now_s >= entry->from_s) &&
                 (!entry->until_s || query->now_s <= entry->until_s);
    if (valid)
        return give(entry->set.keys[0].key, ret_key);
    if (entry->again)
        return KEY_PENDING;
    *ret_want = mono_ms - entry->asked_ms >= KEEP_REFUSED_MS;
    return *ret_want ? KEY_PENDING : KEY_UNAVAILABLE;
}

// A kid that is not there may be newer than the set. A flood of kids that were made up has it asked
// for once a minute.
static enum key_answer of_set(const struct entry *entry, const struct key_query *query,
        int64_t mono_ms, EVP_PKEY **ret_key, bool *ret_want)
{
    EVP_PKEY *key = pubkey_set_find(&entry->set, query->kid);
    if (key)
        return give(key, ret_key);
    if (entry->again)
        return KEY_PENDING;
    *ret_want = mono_ms - entry->asked_ms >= KEEP_UNKNOWN_KID_MS;
    return *ret_want ? KEY_PENDING : KEY_UNKNOWN;
}

enum key_answer keep_find(struct keep *keep, const struct key_query *query, int64_t mono_ms,
        EVP_PKEY **ret_key, bool *ret_want)
{
    *ret_want = false;
    struct entry *entry = ready_find(keep, query->kind, query->url);
    if (entry && mono_ms - entry->at_ms < KEEP_FRESH_MS) {
        atomic_store_explicit(&entry->used_ms, mono_ms, memory_order_relaxed);
        return query->kind == KEY_JWKS ? of_set(entry, query, mono_ms, ret_key, ret_want)
                                       : of_certificate(entry, query, mono_ms, ret_key, ret_want);
    }
    entry = other_find(keep, query->kind, query->url);
    if (entry && entry->state == ENTRY_WAITING)
        return KEY_PENDING;
    int64_t rest_ms = entry && entry->answer == KEY_REFUSED ? KEEP_REFUSED_MS : KEEP_FAILED_MS;
    if (entry && mono_ms - entry->at_ms < rest_ms)
        return entry->answer;
    *ret_want = true;
    return KEY_PENDING;
}

// A free place, or that of the one which failed longest ago.
static struct entry *other_place(struct keep *keep)
{
    struct entry *oldest = NULL;
    for (size_t i = 0; i < KEEP_OTHER_MAX; i++) {
        struct entry *entry = &keep->other[i];
        if (entry->state == ENTRY_FREE)
            return entry;
        if (entry->state == ENTRY_FAILED && !is_watched(keep, entry) &&
                (!oldest || entry->at_ms < oldest->at_ms))
            oldest = entry;
    }
    if (oldest)
        entry_clear(oldest);
    return oldest;
}

static bool other_put(struct keep *keep, enum published_kind kind, struct slice url,
        const char *domain, int64_t mono_ms)
{
    struct entry *entry = other_find(keep, kind, url);
    char *own = slice_dup(url);
    if (entry)
        entry_clear(entry);
    else
        entry = other_place(keep);
    if (!entry) {
        free(own);
        return false;
    }
    *entry = (struct entry){
            .state = ENTRY_WAITING, .kind = kind, .url = own, .domain = domain, .at_ms = mono_ms};
    return true;
}

bool keep_want(struct keep *keep, const struct key_query *query, int64_t mono_ms)
{
    struct entry *entry = ready_find(keep, query->kind, query->url);
    bool fresh = entry && mono_ms - entry->at_ms < KEEP_FRESH_MS;
    const struct entry *other = other_find(keep, query->kind, query->url);
    // Another thread may have been faster.
    if ((fresh && entry->again) || (other && other->state == ENTRY_WAITING))
        return true;
    // A URL that had a key before is none that was made up: no flood of those keeps it waiting.
    bool known = entry && !fresh;
    if (!known && !pace_take(&keep->pace, query->source, mono_ms))
        return false;
    if (fresh) {
        entry->again = true;
        return true;
    }
    return other_put(keep, query->kind, query->url, query->domain, mono_ms);
}

void keep_watch(struct keep *keep, const char *const *urls, size_t n, int64_t mono_ms)
{
    for (size_t i = 0; i < keep->n_watched; i++)
        free(keep->watched[i]);
    keep->n_watched = n < KEEP_WATCH_MAX ? n : KEEP_WATCH_MAX;
    for (size_t i = 0; i < keep->n_watched; i++)
        keep->watched[i] = xstrdup(urls[i]);
    for (size_t i = 0; i < keep->n_watched; i++) {
        struct slice url = slice_of(urls[i]);
        const struct entry *other = other_find(keep, KEY_JWKS, url);
        bool waits = other && other->state == ENTRY_WAITING;
        // No room is no loss: whoever asks for it puts it on the list.
        if (!waits && !ready_find(keep, KEY_JWKS, url) &&
                !other_put(keep, KEY_JWKS, url, NULL, mono_ms))
            return;
    }
}

bool keep_confirm(struct keep *keep, const char *source, const char *url, int64_t mono_ms)
{
    if (confirms_known(&keep->confirms, url, mono_ms))
        return true;
    return pace_take(&keep->pace, source, mono_ms) && confirms_add(&keep->confirms, url, mono_ms);
}

// What has been used of late is asked for again before it runs out, whatever else waits.
static bool is_due(const struct keep *keep, const struct entry *entry, int64_t mono_ms)
{
    int64_t each_ms = entry->kind == KEY_JWKS ? KEEP_SET_AGAIN_MS : KEEP_CERTIFICATE_AGAIN_MS;
    bool wanted = mono_ms - entry->used_ms < KEEP_FRESH_MS || is_watched(keep, entry);
    if (entry->state != ENTRY_READY || !wanted)
        return false;
    return entry->again ||
           (mono_ms - entry->at_ms >= each_ms && mono_ms - entry->asked_ms >= KEEP_FAILED_MS);
}

static bool waits(const struct keep *keep, const struct entry *entry, int64_t mono_ms)
{
    if (entry->state == ENTRY_FAILED)
        return is_watched(keep, entry) && mono_ms - entry->at_ms >= KEEP_FAILED_MS;
    return entry->state == ENTRY_WAITING;
}

static struct keep_job job_of(const struct entry *entry)
{
    return (struct keep_job){.kind = entry->kind == KEY_JWKS ? JOB_JWKS : JOB_CERTIFICATE,
            .url = xstrdup(entry->url),
            .domain = entry->domain};
}

struct keep_job keep_next(struct keep *keep, int64_t mono_ms)
{
    const struct entry *next = NULL;
    for (size_t i = 0; i < KEEP_READY_MAX; i++)
        if (is_due(keep, &keep->ready[i], mono_ms))
            return job_of(&keep->ready[i]);
    const char *confirm = confirms_next(&keep->confirms, mono_ms);
    if (confirm)
        return (struct keep_job){.kind = JOB_CONFIRM, .url = xstrdup(confirm)};
    for (size_t i = 0; i < KEEP_OTHER_MAX; i++) {
        const struct entry *entry = &keep->other[i];
        if (waits(keep, entry, mono_ms) && (!next || entry->at_ms < next->at_ms))
            next = entry;
    }
    return next ? job_of(next) : (struct keep_job){.kind = JOB_NONE};
}

// A free place, or that of the key which was not used for longest.
static struct entry *ready_place(struct keep *keep)
{
    struct entry *oldest = NULL;
    for (size_t i = 0; i < KEEP_READY_MAX; i++) {
        struct entry *entry = &keep->ready[i];
        if (entry->state == ENTRY_FREE)
            return entry;
        if (!oldest || entry->used_ms < oldest->used_ms)
            oldest = entry;
    }
    entry_clear(oldest);
    return oldest;
}

static void install(struct keep *keep, const struct keep_job *job, enum published_kind kind,
        struct keep_result *result, int64_t mono_ms)
{
    struct slice url = slice_of(job->url);
    struct entry *other = other_find(keep, kind, url);
    struct entry *entry = ready_find(keep, kind, url);
    int64_t used_ms = entry ? entry->used_ms : mono_ms;
    if (other)
        entry_clear(other);
    if (entry)
        entry_clear(entry);
    else
        entry = ready_place(keep);
    *entry = (struct entry){.state = ENTRY_READY,
            .kind = kind,
            .url = slice_dup(url),
            .domain = job->domain,
            .set = result->set,
            .from_s = result->from_s,
            .until_s = result->until_s,
            .at_ms = mono_ms,
            .asked_ms = mono_ms,
            .used_ms = used_ms};
    result->set = (struct pubkey_set){.n = 0};
}

// A key that is there stays while it is fresh, unless it is said to be bad.
static void fail(struct keep *keep, const struct keep_job *job, enum published_kind kind,
        enum key_answer answer, int64_t mono_ms)
{
    struct slice url = slice_of(job->url);
    struct entry *entry = ready_find(keep, kind, url);
    if (entry) {
        entry->asked_ms = mono_ms;
        entry->again = false;
        if (answer != KEY_REFUSED && mono_ms - entry->at_ms < KEEP_FRESH_MS)
            return;
        entry_clear(entry);
    }
    entry = other_put(keep, kind, url, job->domain, mono_ms) ? other_find(keep, kind, url) : NULL;
    if (!entry)
        return;
    entry->state = ENTRY_FAILED;
    entry->answer = answer;
}

void keep_done(
        struct keep *keep, const struct keep_job *job, struct keep_result *result, int64_t mono_ms)
{
    enum published_kind kind = job->kind == JOB_JWKS ? KEY_JWKS : KEY_CERTIFICATE;
    if (job->kind == JOB_CONFIRM)
        confirms_done(&keep->confirms, job->url, result->answer, mono_ms);
    else if (job->kind != JOB_NONE && result->answer == KEY_READY && result->set.n)
        install(keep, job, kind, result, mono_ms);
    else if (job->kind != JOB_NONE)
        fail(keep, job, kind, result->answer, mono_ms);
    pubkey_set_fini(&result->set);
}
