#include "tests/bench/dispatch/free_send.h"

#include "common/clock.h"
#include "dispatcher/send/send.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TIMEOUT_MS = 1000, WAIT_MAX_MS = 60000 };

struct transport {
    int transfers, busy;
    struct delivery *head, **tail;
    int wake_fd;
};

static struct {
    struct free_send_plan plan;
    int64_t count, first_ms;
    bool stopped;
} run;

void free_send_plan(const struct free_send_plan *plan)
{
    run.plan = *plan;
}

int64_t free_send_count(void)
{
    return run.count;
}

static void stop_when_over(void)
{
    int64_t now = clock_mono_ms();
    if (run.first_ms == 0)
        run.first_ms = now;
    bool enough = run.plan.limit > 0 && run.count >= run.plan.limit;
    bool late = run.plan.for_ms > 0 && now >= run.first_ms + run.plan.for_ms;
    if (run.stopped || !(enough || late))
        return;
    run.stopped = true;
    kill(getpid(), SIGTERM);
}

struct transport *transport_new(const struct transport_options *options, struct err *err)
{
    (void)err;
    struct transport *t = xcalloc(1, sizeof *t);
    t->transfers = options->transfers;
    t->tail = &t->head;
    t->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return t;
}

void transport_free(struct transport *t)
{
    if (!t)
        return;
    close(t->wake_fd);
    free(t);
}

int64_t transport_timeout_ms(const struct transport *t)
{
    (void)t;
    return TIMEOUT_MS;
}

int transport_free_slots(const struct transport *t)
{
    return t->transfers - t->busy;
}

bool transport_start(struct transport *t, const struct channel *channel,
        const struct provider *provider, const struct bearer *bearer, struct delivery *delivery,
        struct err *err)
{
    (void)channel;
    (void)provider;
    (void)bearer;
    (void)err;
    delivery->result = (struct attempt_result){.outcome = ATTEMPT_ACCEPTED, .code = 250};
    delivery->next = NULL;
    *t->tail = delivery;
    t->tail = &delivery->next;
    t->busy++;
    run.count++;
    stop_when_over();
    return true;
}

bool transport_fetch(struct transport *t, struct http_request *request,
        const struct transport_fetch *fetch, struct err *err)
{
    (void)t;
    (void)request;
    (void)fetch;
    return err_set(err, ERR_TEMP, "nothing is fetched here");
}

struct delivery *transport_done(struct transport *t)
{
    struct delivery *delivery = t->head;
    if (!delivery)
        return NULL;
    t->head = delivery->next;
    if (!t->head)
        t->tail = &t->head;
    t->busy--;
    return delivery;
}

void transport_poll(
        struct transport *t, int64_t wait_ms, int extra_fd, short extra_events, short *ret_extra)
{
    struct pollfd fds[2] = {
            {.fd = t->wake_fd, .events = POLLIN}, {.fd = extra_fd, .events = extra_events}};
    int64_t wait = t->head ? 0 : wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS;
    if (poll(fds, 2, (int)wait) <= 0)
        fds[0].revents = fds[1].revents = 0;
    uint64_t wakes = 0;
    if (fds[0].revents && read(t->wake_fd, &wakes, sizeof wakes) < 0)
        wakes = 0;
    *ret_extra = fds[1].revents;
}

void transport_wakeup(struct transport *t)
{
    const uint64_t one = 1;
    if (write(t->wake_fd, &one, sizeof one) < 0)
        return; // it is readable already
}

// What was started has ended: there is nothing to cut off.
void transport_abort(struct transport *t)
{
    (void)t;
}
