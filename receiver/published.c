#include "receiver/published.h"

#include "receiver/fetch/fetch.h"

struct published {
    struct fetch *fetch;
    struct key_ring ring;
    struct door_keys keys;
    int version; // of the policy whose key sets are watched
};

static bool confirm(void *user, const char *source, const char *url)
{
    struct published *published = user;
    return fetch_confirm(published->fetch, source, url);
}

struct published *published_start(const struct host_config *host, struct err *err)
{
    struct fetch_options options = {.ca = host->receiver.fetch.ca,
            .connect = host->receiver.fetch.connect,
            .n_connect = host->receiver.fetch.n_connect};
    struct fetch *fetch = fetch_start(&options, err);
    if (!fetch)
        return NULL;
    struct published *published = xcalloc(1, sizeof *published);
    published->fetch = fetch;
    published->ring = (struct key_ring){fetch_find, fetch};
    published->keys =
            (struct door_keys){.ring = &published->ring, .confirm = confirm, .user = published};
    return published;
}

void published_stop(struct published *published)
{
    if (!published)
        return;
    fetch_stop(published->fetch);
    free(published);
}

const struct door_keys *published_keys(const struct published *published)
{
    return &published->keys;
}

void published_watch(struct published *published, const struct policy *policy)
{
    if (policy->version == published->version)
        return;
    AUTO_FREE const char **urls = xcalloc(policy->n_sources + 1, sizeof *urls);
    size_t n = 0;
    for (size_t i = 0; i < policy->n_sources; i++)
        if (policy->sources[i].active && policy->sources[i].jwks)
            urls[n++] = policy->sources[i].jwks;
    fetch_watch(published->fetch, urls, n);
    published->version = policy->version;
}
