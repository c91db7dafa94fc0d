#include "dispatcher/connector.h"

#include "common/clock.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WAIT_MIN_MS = 100, WAIT_MAX_MS = 1000 };

struct connector {
    const struct pg_options *options;
    void (*wake)(void *user);
    void *user;
    pthread_t thread;
    bool running;
    atomic_bool ended;
    struct pg *pg;
    struct err err;
    int64_t wait_ms, next_ms;
};

struct connector *connector_new(
        const struct pg_options *options, void (*wake)(void *user), void *user)
{
    struct connector *c = xcalloc(1, sizeof *c);
    c->options = options;
    c->wake = wake;
    c->user = user;
    c->wait_ms = WAIT_MIN_MS;
    return c;
}

void connector_free(struct connector *c)
{
    if (!c)
        return;
    if (c->running)
        pthread_join(c->thread, NULL);
    pg_close(c->pg);
    free(c);
}

static void *attempt(void *arg)
{
    struct connector *c = arg;
    c->pg = pg_connect(c->options, &c->err);
    atomic_store(&c->ended, true);
    c->wake(c->user);
    return NULL;
}

static void start(struct connector *c)
{
    c->err = (struct err){0};
    atomic_store(&c->ended, false);
    c->running = pthread_create(&c->thread, NULL, attempt, c) == 0;
}

static enum connecting finish(struct connector *c, struct pg **ret_pg, struct err *err)
{
    pthread_join(c->thread, NULL);
    c->running = false;
    if (c->pg) {
        c->wait_ms = WAIT_MIN_MS;
        *ret_pg = steal(&c->pg);
        return CONNECTED;
    }
    *err = c->err;
    c->next_ms = clock_mono_ms() + c->wait_ms;
    c->wait_ms = c->wait_ms * 2 < WAIT_MAX_MS ? c->wait_ms * 2 : WAIT_MAX_MS;
    return CONNECT_FAILED;
}

enum connecting connector_turn(struct connector *c, struct pg **ret_pg, struct err *err)
{
    if (c->running && atomic_load(&c->ended))
        return finish(c, ret_pg, err);
    if (!c->running && clock_mono_ms() >= c->next_ms)
        start(c);
    return CONNECTING;
}
