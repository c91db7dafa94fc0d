#include "receiver/http/inflight.h"

#include <pthread.h>

#define CHAINS 4096

struct entry {
    struct key key;
    int requests;
    struct entry *next;
};

struct inflight {
    pthread_mutex_t lock;
    size_t n, max;
    struct entry *chains[CHAINS];
};

struct inflight *inflight_new(size_t max_keys)
{
    struct inflight *inflight = xcalloc(1, sizeof *inflight);
    pthread_mutex_init(&inflight->lock, NULL);
    inflight->max = max_keys;
    return inflight;
}

void inflight_free(struct inflight *inflight)
{
    if (!inflight)
        return;
    for (size_t i = 0; i < CHAINS; i++) {
        for (struct entry *entry = inflight->chains[i], *next; entry; entry = next) {
            next = entry->next;
            free(entry);
        }
    }
    pthread_mutex_destroy(&inflight->lock);
    free(inflight);
}

// Keys are hashes already: some of their bits choose the chain.
static struct entry **find(struct inflight *inflight, struct key key)
{
    size_t chain = (size_t)(key.bytes[14] << 8 | key.bytes[15]) % CHAINS;
    struct entry **at = &inflight->chains[chain];
    while (*at && memcmp((*at)->key.bytes, key.bytes, sizeof key.bytes) != 0)
        at = &(*at)->next;
    return at;
}

enum inflight_entry inflight_enter(struct inflight *inflight, struct key key)
{
    enum inflight_entry result = INFLIGHT_COPY;
    pthread_mutex_lock(&inflight->lock);
    struct entry **at = find(inflight, key);
    if (*at) {
        (*at)->requests++;
    } else if (inflight->n >= inflight->max) {
        result = INFLIGHT_UNTRACKED;
    } else {
        *at = xmalloc(sizeof **at);
        **at = (struct entry){.key = key, .requests = 1};
        inflight->n++;
        result = INFLIGHT_FIRST;
    }
    pthread_mutex_unlock(&inflight->lock);
    return result;
}

void inflight_leave(struct inflight *inflight, struct key key)
{
    pthread_mutex_lock(&inflight->lock);
    struct entry **at = find(inflight, key), *entry = *at;
    if (entry && --entry->requests == 0) {
        *at = entry->next;
        free(entry);
        inflight->n--;
    }
    pthread_mutex_unlock(&inflight->lock);
}

bool inflight_others(struct inflight *inflight, struct key key)
{
    pthread_mutex_lock(&inflight->lock);
    struct entry *entry = *find(inflight, key);
    bool others = entry && entry->requests > 1;
    pthread_mutex_unlock(&inflight->lock);
    return others;
}
