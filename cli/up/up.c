#include "cli/up/up.h"

#include "cli/out.h"
#include "common/clock.h"
#include "common/daemon.h"
#include "common/json/scan.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 100
#define PROGRAMS_MS 1150 // their grace is a second
#define DATABASE_MS 500  // for a clean shutdown; then PostgreSQL recovers at the next start
#define LAST_MS 250
#define STEP_MS 10

static bool all_run(struct up *up)
{
    struct child *const children[] = {
            &up->receiver, &up->dispatcher, &up->sink, &up->cluster.postgres};
    for (size_t i = 0; i < ARRAY_LEN(children); i++)
        if (children[i]->pid && !child_runs(children[i]))
            return false;
    return true;
}

bool up_has_terminal(void)
{
    AUTO_CLOSE int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0;
}

// A shell sends its jobs the SIGHUP of its terminal too, so who sent it tells nothing.
static void on_signal(struct up *up, int signal)
{
    if (signal != SIGHUP || (up->terminal && !up_has_terminal())) {
        up->ending |= signal != 0;
        return;
    }
    child_signal(&up->receiver, SIGHUP);
    child_signal(&up->dispatcher, SIGHUP);
    out_note(up->call, "SIGHUP: policy and secrets are loaded again");
}

bool up_pause(void *ctx, int ms)
{
    struct up *up = ctx;
    struct pollfd p = {.fd = up->signal_fd, .events = POLLIN};
    if (poll(&p, 1, ms) > 0)
        on_signal(up, daemon_read_signal(up->signal_fd));
    return !up->ending && all_run(up);
}

bool up_died(struct up *up, struct err *err)
{
    struct child *const children[] = {
            &up->receiver, &up->dispatcher, &up->sink, &up->cluster.postgres};
    for (size_t i = 0; i < ARRAY_LEN(children); i++) {
        char how[64];
        if (!children[i]->pid || child_runs(children[i]))
            continue;
        enum err_kind kind =
                WIFEXITED(children[i]->status) && WEXITSTATUS(children[i]->status) == EXIT_CONFIG
                        ? ERR_FATAL
                        : ERR_TEMP;
        err_set(err, kind, "%s %s", children[i]->name, child_ending(children[i], how));
        return true;
    }
    return false;
}

static void wait_for(struct child *const *children, size_t n, int ms)
{
    int64_t deadline_ms = clock_mono_ms() + ms;
    for (bool some = true; some && clock_mono_ms() < deadline_ms;) {
        some = false;
        for (size_t i = 0; i < n; i++)
            some = child_runs(children[i]) || some;
        if (some)
            poll(NULL, 0, STEP_MS);
    }
}

static void end(struct child *const *children, size_t n, int how, int ms)
{
    for (size_t i = 0; i < n; i++)
        child_signal(children[i], how);
    wait_for(children, n, ms);
}

void up_stop(struct up *up)
{
    struct child *const programs[] = {&up->receiver, &up->dispatcher};
    struct child *const rest[] = {&up->sink, &up->cluster.postgres};
    if (up->cluster.postgres.pid)
        out_note(up->call, "ending");
    end(programs, 2, SIGTERM, PROGRAMS_MS);
    end(programs, 2, SIGKILL, STEP_MS);
    child_signal(&up->sink, SIGTERM);
    end(&rest[1], 1, SIGINT, DATABASE_MS);
    end(&rest[1], 1, SIGQUIT, LAST_MS);
    end(rest, 2, SIGKILL, LAST_MS);
    if (up->lock_fd >= 0)
        close(up->lock_fd);
    if (up->signal_fd >= 0)
        close(up->signal_fd);
    ports_free(&up->ports);
    place_fini(&up->place);
}

static void tell_what_to_try(const struct up *up)
{
    bool usual = !up->call->values[FLAG_DIR]; // found without being named
    const char *flag = usual ? "" : " -c ", *config = usual ? "" : up->config;
    out_note(up->call, "try        pawl%s%s trigger stripe:payment_intent.succeeded --copies 5",
            flag, config);
    out_note(up->call, "           pawl%s%s story 1001", flag, config);
    if (!up->call->values[FLAG_CONFIG])
        out_note(up->call, "           change %s/policy.yaml; pawl%s%s policy apply", up->place.dir,
                flag, config);
}

static int tell(const struct up *up)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, 16384);
    if (call_has(up->call, FLAG_JSON)) {
        text_str(&out, "{\"dir\":");
        json_quote(&out, slice_of(up->place.dir));
        text_str(&out, ",\"config\":");
        json_quote(&out, slice_of(up->config));
        text_fmt(&out, ",\"port\":%d,\"admin_port\":%d,\"sink_port\":%d}\n", up->port,
                up->admin_port, up->sink_port);
        return out_data(&out, EXIT_DONE);
    }
    out_note(up->call, "webhooks   http://127.0.0.1:%d/hooks/SOURCE", up->port);
    out_note(up->call, "metrics    http://127.0.0.1:%d/metrics and :%d", up->admin_port,
            up->admin_port + 1);
    if (up->sink_port)
        out_note(up->call, "mail       ends in %s (a sink on port %d)", up->mails, up->sink_port);
    else
        out_note(up->call, "mail       goes where the policy says");
    out_note(up->call, "config     %s", up->config);
    tell_what_to_try(up);
    out_note(up->call, "Running; ^C ends it and keeps the data.");
    return EXIT_DONE;
}

int up_command(const struct call *call)
{
    struct up up;
    struct err err = {0};
    bool started = up_start(&up, call, "up", &err);
    int code = started ? tell(&up) : EXIT_DONE;
    while (started && code == EXIT_DONE && up_pause(&up, LOOK_MS))
        continue;
    if (started && !up.ending && code == EXIT_DONE)
        started = !up_died(&up, &err);
    bool asked = up.ending;
    up_stop(&up);
    if (started || asked)
        return code;
    return out_fail(call, &err);
}
