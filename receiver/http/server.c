#include "receiver/http/server.h"

#include "common/clock.h"
#include "receiver/http/lane.h"

#include <pthread.h>
#include <stdatomic.h>

#define APP_KEYS_MAX 65536

struct server {
    struct stages stages;
    struct inflight *inflight;
    struct rates *rates;
    struct lane *lanes[SERVER_LANES_MAX];
    pthread_t threads[SERVER_LANES_MAX];
    int n_lanes, n_threads;
    atomic_bool stop;
    _Atomic int64_t grace_ms;
};

struct start {
    struct server *server;
    struct lane *lane;
};

struct server *server_new(const struct server_options *options, struct err *err)
{
    struct server *server = xcalloc(1, sizeof *server);
    int lanes = options->lanes < SERVER_LANES_MAX ? options->lanes : SERVER_LANES_MAX;
    int share = options->connections / lanes;
    server->stages = options->stages;
    server->inflight = inflight_new(APP_KEYS_MAX);
    server->rates = rates_new();
    for (int i = 0; i < lanes; i++) {
        struct lane_options lane = {.http = {.fds = options->fds,
                                            .n_fds = options->n_fds,
                                            .connections = share > 0 ? share : 1,
                                            .body_max = options->body_max},
                .stages = &server->stages,
                .inflight = server->inflight,
                .rates = server->rates,
                .index = i,
                .deadline_ms = options->deadline_ms};
        server->lanes[i] = lane_new(&lane, err);
        if (!server->lanes[i]) {
            server_free(server);
            return NULL;
        }
        server->n_lanes++;
    }
    return server;
}

static void *run(void *arg)
{
    struct start start = *(struct start *)arg;
    free(arg);
    lane_run(start.lane, &start.server->stop, &start.server->grace_ms);
    return NULL;
}

bool server_start(struct server *server, struct err *err)
{
    for (int i = 0; i < server->n_lanes; i++) {
        struct start *start = xmalloc(sizeof *start);
        *start = (struct start){server, server->lanes[i]};
        int rc = pthread_create(&server->threads[i], NULL, run, start);
        if (rc != 0) {
            free(start);
            server_drain(server, 0);
            return err_set(err, ERR_FATAL, "can't start a loop thread: %s", strerror(rc));
        }
        server->n_threads++;
    }
    return true;
}

void server_drain(struct server *server, int64_t grace_ms)
{
    server->grace_ms = grace_ms;
    server->stop = true;
    for (int i = 0; i < server->n_threads; i++)
        lane_wake(server->lanes[i]);
    for (int i = 0; i < server->n_threads; i++)
        pthread_join(server->threads[i], NULL);
    server->n_threads = 0;
}

void server_free(struct server *server)
{
    if (!server)
        return;
    for (int i = 0; i < server->n_lanes; i++)
        lane_free(server->lanes[i]);
    inflight_free(server->inflight);
    rates_free(server->rates);
    free(server);
}

void server_hand_back(struct server *server, int lane, struct arrival *batch)
{
    lane_hand_back(server->lanes[lane], batch);
}

int64_t server_idle_ms(const struct server *server)
{
    int64_t oldest = INT64_MAX;
    for (int i = 0; i < server->n_lanes; i++) {
        int64_t turned = lane_turned_ms(server->lanes[i]);
        oldest = turned < oldest ? turned : oldest;
    }
    return clock_mono_ms() - oldest;
}
