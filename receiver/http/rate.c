#include "receiver/http/rate.h"

#include <pthread.h>

#define CHAINS 256

struct bucket {
    struct bucket *next;
    double tokens;
    int64_t at_us; // when they were counted last
    char name[64];
};

struct rates {
    pthread_mutex_t lock;
    struct bucket *chains[CHAINS];
};

struct rates *rates_new(void)
{
    struct rates *rates = xcalloc(1, sizeof *rates);
    pthread_mutex_init(&rates->lock, NULL);
    return rates;
}

void rates_free(struct rates *rates)
{
    if (!rates)
        return;
    for (size_t i = 0; i < CHAINS; i++) {
        for (struct bucket *bucket = rates->chains[i], *next; bucket; bucket = next) {
            next = bucket->next;
            free(bucket);
        }
    }
    pthread_mutex_destroy(&rates->lock);
    free(rates);
}

static double room_of(double rate)
{
    return rate > 1 ? rate : 1;
}

// Made full when there is none. Names come of policies, so there are few.
static struct bucket *find(struct rates *rates, const struct source *source, int64_t now_us)
{
    unsigned hash = 5381;
    for (const char *c = source->name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    struct bucket **at = &rates->chains[hash % CHAINS];
    while (*at && strncmp((*at)->name, source->name, sizeof(*at)->name - 1) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = xcalloc(1, sizeof **at);
        size_t len = strnlen(source->name, sizeof(*at)->name - 1);
        memcpy((*at)->name, source->name, len);
        (*at)->tokens = room_of(source->rate);
        (*at)->at_us = now_us;
    }
    return *at;
}

static void refill(struct bucket *bucket, double rate, int64_t now_us)
{
    if (now_us > bucket->at_us) {
        bucket->tokens += (double)(now_us - bucket->at_us) / 1e6 * rate;
        bucket->at_us = now_us;
    }
    if (bucket->tokens > room_of(rate))
        bucket->tokens = room_of(rate);
}

bool rates_take(struct rates *rates, const struct source *source, int64_t now_us)
{
    if (source->rate <= 0)
        return true;
    pthread_mutex_lock(&rates->lock);
    struct bucket *bucket = find(rates, source, now_us);
    refill(bucket, source->rate, now_us);
    bool granted = bucket->tokens >= 1;
    if (granted)
        bucket->tokens -= 1;
    pthread_mutex_unlock(&rates->lock);
    return granted;
}
