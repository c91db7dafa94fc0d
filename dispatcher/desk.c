#include "dispatcher/desk.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"

#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>

enum { QUIET_AFTER_FAILURE_MS = 100 };

void desk_init(
        struct desk *desk, const struct pg_options *options, void (*wake)(void *user), void *user)
{
    *desk = (struct desk){.connector = connector_new(options, wake, user), .watched_fd = -1};
}

void desk_fini(struct desk *desk)
{
    connector_free(desk->connector);
    pg_close(desk->pg);
    *desk = (struct desk){.watched_fd = -1};
}

// --- The connection

void desk_count_failure(const struct pg *pg)
{
    char class[3] = "08"; // connection exception
    const char *state = pg ? pg_sqlstate(pg) : "";
    if (state[0])
        snprintf(class, sizeof class, "%.2s", state);
    series_inc(metric(METRIC_DB_ERRORS, class, NULL));
}

enum connecting desk_connect(struct desk *desk, struct err *err)
{
    enum connecting how = connector_turn(desk->connector, &desk->pg, err);
    if (how == CONNECT_FAILED) {
        desk_count_failure(NULL);
        LOG(WARNING, "database.unreachable", "can't connect to the database",
                L_STR("error", err->msg));
    }
    return how;
}

void desk_disconnect(struct desk *desk)
{
    pg_close(desk->pg); // epoll forgets what is closed
    desk->pg = NULL;
    desk->watched_fd = -1;
}

// --- Work

static void failed(struct desk *desk, const struct err *err)
{
    desk->working = false;
    desk_count_failure(desk->pg);
    LOG(WARNING, "database.failed", "database work failed, it will be done again",
            L_STR("work", desk->work.name), L_STR("sqlstate", pg_sqlstate(desk->pg)),
            L_STR("error", err->msg));
    desk->work.fail(desk->work.self, desk->pg);
    desk->quiet_until_ms = clock_mono_ms() + QUIET_AFTER_FAILURE_MS;
    if (!pg_alive(desk->pg) || !pg_rollback(desk->pg))
        desk_disconnect(desk);
}

static bool went(struct desk *desk, enum work how, const struct err *err)
{
    if (how == WORK_FAILED)
        failed(desk, err);
    else if (how == WORK_FLYING)
        desk->launched_ms = clock_mono_ms();
    else
        desk->working = false;
    return how == WORK_DONE;
}

bool desk_begin(struct desk *desk, struct work_kind work)
{
    struct err err = {0};
    desk->work = work;
    desk->working = true;
    return went(desk, work.start(work.self, desk->pg, &err), &err);
}

static void hung(struct desk *desk)
{
    desk->working = false;
    desk_count_failure(NULL);
    LOG(WARNING, "database.hung", "the database does not answer", L_STR("work", desk->work.name));
    desk->work.fail(desk->work.self, desk->pg);
    desk_disconnect(desk);
}

bool desk_go_on(struct desk *desk)
{
    struct err err = {0};
    switch (pg_step(desk->pg, &err)) {
    case PG_DONE:
        return went(desk, desk->work.next(desk->work.self, desk->pg, &err), &err);
    case PG_FAILED:
        failed(desk, &err);
        return false;
    case PG_WAIT:
        break;
    }
    if (clock_mono_ms() - desk->launched_ms > DESK_FLIGHT_MAX_MS)
        hung(desk);
    return false;
}

bool desk_meanwhile(struct desk *desk)
{
    return desk->working && desk->work.meanwhile && desk->work.meanwhile(desk->work.self);
}

bool desk_free(const struct desk *desk, int64_t now_ms)
{
    return desk->pg && !desk->working && now_ms >= desk->quiet_until_ms;
}

// --- Waiting

static uint32_t epoll_events(short events)
{
    return (events & POLLIN ? EPOLLIN : 0U) | (events & POLLOUT ? EPOLLOUT : 0U);
}

// An idle connection is not watched: one that the server closed would always be ready.
void desk_watch(struct desk *desk, int epoll_fd)
{
    int fd = desk->pg && desk->working ? pg_fd(desk->pg) : -1;
    short events = fd < 0 ? 0 : pg_events(desk->pg);
    if (fd == desk->watched_fd && events == desk->watched)
        return;
    if (desk->watched_fd >= 0)
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, desk->watched_fd, NULL);
    struct epoll_event event = {.events = epoll_events(events)};
    desk->watched_fd = fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? fd : -1;
    desk->watched = events;
}

int64_t desk_next_ms(const struct desk *desk, int64_t now_ms)
{
    if (!desk->pg)
        return now_ms + QUIET_AFTER_FAILURE_MS;
    return desk->working ? desk->launched_ms + DESK_FLIGHT_MAX_MS + 1 : INT64_MAX;
}
