// keep.h: the keys that were fetched and what is to be fetched next, bounded in every direction. No
// thread, no lock, no network: fetch.c has those.
//
// Anybody may name a URL within a scheme's rule, so what failed or waits lives apart from what is
// there: a flood of URLs that were made up neither pushes a good key out nor has us ask without
// end.
#pragma once
#include "receiver/pubkey.h"

enum {
    KEEP_READY_MAX = 64,          // URLs whose keys are there
    KEEP_OTHER_MAX = 64,          // URLs that wait or failed
    KEEP_WATCH_MAX = 64,          // key sets that the policy names
    KEEP_FRESH_MS = 24 * 3600000, // no key is used longer without asking again
    KEEP_FAILED_MS = 10000,       // what could not be had is not asked for again before this
    KEEP_REFUSED_MS = 60000,      // nor what was refused
    KEEP_SET_AGAIN_MS = 3600000,  // a key set is asked for again after this, in the background
    KEEP_CERTIFICATE_AGAIN_MS = 20 * 3600000,
    KEEP_UNKNOWN_KID_MS = 60000, // an unknown kid has its set asked for again, so often at most
};

struct keep;
struct keep *keep_new(void);
void keep_free(struct keep *keep); // NULL is fine

// What is known of a key at this moment. Readers need not exclude one another. *ret_key is set for
// KEY_READY only, and is the caller's. *ret_want: keep_want() should be called, the answer is then
// KEY_PENDING if that takes it.
enum key_answer keep_find(struct keep *keep, const struct key_query *query, int64_t mono_ms,
        EVP_PKEY **ret_key, bool *ret_want);

// Puts a URL on the list. False: too many wait, or are asked for (KEY_UNAVAILABLE).
MUST_CHECK bool keep_want(struct keep *keep, const struct key_query *query, int64_t mono_ms);

// The key sets that the policy names: fetched at once and for ever, instead of those named before.
void keep_watch(struct keep *keep, const char *const *urls, size_t n, int64_t mono_ms);

// Has a URL called that confirms a subscription. False: too many at once.
MUST_CHECK bool keep_confirm(
        struct keep *keep, const char *source, const char *url, int64_t mono_ms);

// The next thing to do, or JOB_NONE. One at a time: keep_done() comes before the next call.
struct keep_job {
    enum keep_job_kind { JOB_NONE, JOB_CERTIFICATE, JOB_JWKS, JOB_CONFIRM } kind;
    char *url;          // yours; freed by keep_job_fini
    const char *domain; // of a certificate; static
};
void keep_job_fini(struct keep_job *job);
struct keep_job keep_next(struct keep *keep, int64_t mono_ms);

// What came of it. The set is taken over. Dates bound a certificate's use beside KEEP_FRESH_MS. Of
// a confirmation only the answer counts: KEY_UNAVAILABLE is tried again, the others are the end.
struct keep_result {
    enum key_answer answer; // KEY_READY, KEY_UNAVAILABLE or KEY_REFUSED
    struct pubkey_set set;
    int64_t from_s, until_s; // 0 = no bound
};
void keep_done(
        struct keep *keep, const struct keep_job *job, struct keep_result *result, int64_t mono_ms);
