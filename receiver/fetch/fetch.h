// fetch.h: has the public keys that providers publish: fetched over https by a thread of its own,
// kept for a while, given at once.
//
// Nobody waits here: a loop that asks for a key which is not there yet answers its request 503, and
// the provider's next try finds it.
#pragma once
#include "receiver/pubkey.h"

struct fetch_options {
    const char *ca;       // trusted CAs, of servers and of certificates; NULL = the system's
    char *const *connect; // "host=address:port" (getter.h); borrowed
    size_t n_connect;
};

struct fetch;
MUST_CHECK struct fetch *fetch_start(const struct fetch_options *options, struct err *err);
// Ends the thread, also in the middle of a transfer, and forgets everything. NULL is fine.
void fetch_stop(struct fetch *fetch);

// For struct key_ring. Any thread.
enum key_answer fetch_find(void *fetch, const struct key_query *query, EVP_PKEY **ret_key);
// The key sets that the policy names, instead of those named before: fetched now and again.
void fetch_watch(struct fetch *fetch, const char *const *urls, size_t n);
// Has a URL called that confirms a subscription; it is tried a few times. False: too many at once.
bool fetch_confirm(struct fetch *fetch, const char *source, const char *url);
