#include "receiver/http/rate.h"

#include <pthread.h>

#define CHAINS 256
#define LINKS 4096

struct level {
    double tokens;
    int64_t at_us; // when they were counted last
};

struct bucket {
    struct bucket *next;
    struct level level;
    char name[64];
};

struct rates {
    pthread_mutex_t lock;
    struct bucket *chains[CHAINS];
    struct level all_links, links[LINKS]; // at_us 0 = full
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

static unsigned hash_of(struct slice bytes)
{
    unsigned hash = 5381;
    for (size_t i = 0; i < bytes.len; i++)
        hash = hash * 33 + bytes.ptr[i];
    return hash;
}

// Made full when there is none. Names come of policies, so there are few.
static struct bucket *find(struct rates *rates, const struct source *source, int64_t now_us)
{
    struct bucket **at = &rates->chains[hash_of(slice_of(source->name)) % CHAINS];
    while (*at && strncmp((*at)->name, source->name, sizeof(*at)->name - 1) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = xcalloc(1, sizeof **at);
        size_t len = strnlen(source->name, sizeof(*at)->name - 1);
        memcpy((*at)->name, source->name, len);
        (*at)->level = (struct level){room_of(source->rate), now_us};
    }
    return *at;
}

static void refill(struct level *level, double rate, double room, int64_t now_us)
{
    if (now_us > level->at_us) {
        level->tokens += (double)(now_us - level->at_us) / 1e6 * rate;
        level->at_us = now_us;
    }
    if (level->tokens > room)
        level->tokens = room;
}

bool rates_take(struct rates *rates, const struct source *source, int64_t now_us)
{
    if (source->rate <= 0)
        return true;
    pthread_mutex_lock(&rates->lock);
    struct level *level = &find(rates, source, now_us)->level;
    refill(level, source->rate, room_of(source->rate), now_us);
    bool granted = level->tokens >= 1;
    if (granted)
        level->tokens -= 1;
    pthread_mutex_unlock(&rates->lock);
    return granted;
}

static void refill_links(struct level *level, double rate, double room, int64_t now_us)
{
    if (level->at_us == 0)
        *level = (struct level){room, now_us};
    refill(level, rate, room, now_us);
}

bool rates_take_link(struct rates *rates, struct slice token, int64_t now_us)
{
    pthread_mutex_lock(&rates->lock);
    struct level *one = &rates->links[hash_of(token) % LINKS], *all = &rates->all_links;
    refill_links(one, RATE_LINK_A_SECOND, RATE_LINK_BURST, now_us);
    refill_links(all, RATE_LINKS_A_SECOND, RATE_LINKS_A_SECOND, now_us);
    bool granted = one->tokens >= 1 && all->tokens >= 1;
    if (granted) {
        one->tokens -= 1;
        all->tokens -= 1;
    }
    pthread_mutex_unlock(&rates->lock);
    return granted;
}
