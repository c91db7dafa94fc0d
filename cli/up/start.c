#include "cli/up/up.h"

#include "cli/context.h"
#include "cli/http_post.h"
#include "cli/migrate/migrate.h"
#include "cli/out.h"
#include "cli/policy/policy.h"
#include "cli/sink/sink.h"
#include "cli/up/starter.h"
#include "common/clock.h"
#include "common/daemon.h"
#include "common/store/policy_store.h"
#include "dispatcher/main.h"
#include "receiver/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define READY_MS 20000
#define READY_LOOK_MS 30
#define LOCK_MS 10000
#define OUTPUT_MAX (1 << 20)

static pid_t owner_of(int fd)
{
    char number[16] = "";
    ssize_t n = pread(fd, number, sizeof number - 1, 0);
    return n > 0 ? (pid_t)strtol(number, NULL, 10) : 0;
}

// What a killed `up` started ends by itself; as long as that takes, it is waited for.
static bool lock_within(struct up *up, int64_t deadline_ms)
{
    while (flock(up->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        pid_t owner = owner_of(up->lock_fd);
        bool alive = owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH;
        if (alive || clock_mono_ms() > deadline_ms || !up_pause(up, READY_LOOK_MS))
            return false;
    }
    return true;
}

// The lock is held by this process and, until they are gone, by the programs it forked: a second
// `up` never meets the first one's.
static bool lock(struct up *up, struct err *err)
{
    char path[512], number[16];
    snprintf(path, sizeof path, "%.500s/lock", up->place.dir);
    up->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (up->lock_fd < 0)
        return err_set(err, ERR_TEMP, "can't write '%.200s': %s", path, strerror(errno));
    if (!lock_within(up, clock_mono_ms() + LOCK_MS))
        return err_set(err, ERR_CONFLICT, "another `pawl %s` (pid %d) runs on '%.180s'", up->name,
                (int)owner_of(up->lock_fd), up->place.dir);
    int n = snprintf(number, sizeof number, "%d\n", (int)getpid());
    return (ftruncate(up->lock_fd, 0) == 0 && pwrite(up->lock_fd, number, (size_t)n, 0) == n) ||
           err_set(err, ERR_TEMP, "can't write '%.200s': %s", path, strerror(errno));
}

static int serve_sink(void *arg)
{
    return sink_main(arg);
}

static int listen_on(int port)
{
    char address[32];
    struct err ignored;
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    return daemon_listen(address, NULL, &ignored);
}

// The sink stands where the policy sends its mail, if that is the sink. Below `up` the policy
// follows it, when someone else has the port.
static bool start_sink(struct up *up, struct err *err)
{
    int wanted = starter_sink_port(up->place.dir), port = wanted;
    if (wanted == 0)
        return true; // the policy sends elsewhere
    AUTO_CLOSE int fd = listen_on(port);
    if (fd < 0) {
        port = ports_take(&up->ports, STARTER_SINK_PORT, 1);
        fd = port ? listen_on(port) : -1;
        if (fd < 0)
            return err_set(err, ERR_TEMP, "no free port for the mail sink");
        out_note(up->call,
                "port %d is taken: the mail sink has %d, which is written into %s/policy.yaml",
                wanted, port, up->place.dir);
    }
    if (!starter_set_sink_port(up->place.dir, wanted, port, err))
        return false;
    snprintf(up->mails, sizeof up->mails, "%.500s/mails", up->place.dir);
    if (mkdir(up->mails, 0700) != 0 && errno != EEXIST)
        return err_set(err, ERR_TEMP, "can't make '%.200s': %s", up->mails, strerror(errno));
    up->sink_port = port;
    struct sink_options options = {.listen_fd = fd, .dir = up->mails};
    return child_call(
            &up->sink, "pawl-sink", serve_sink, &options, (struct child_how){SIGTERM, -1}, err);
}

// --- Configuration

static bool configure(struct up *up, const struct host_config *of, struct err *err)
{
    char database[512];
    ports_free(&up->ports);
    up->port = ports_take(&up->ports, STARTER_PORT, 1);
    up->admin_port = ports_take(&up->ports, STARTER_ADMIN_PORT, 2);
    if (!up->port || !up->admin_port)
        return err_set(
                err, ERR_TEMP, "no free ports from %d or %d on", STARTER_PORT, STARTER_ADMIN_PORT);
    cluster_conninfo(&up->cluster, NULL, "pawl", database);
    snprintf(up->database, sizeof up->database, "%s", database);
    snprintf(up->config, sizeof up->config, "%.490s/pawl.yaml", up->place.dir);
    const struct starter_host host = {.dir = up->place.dir,
            .database = database,
            .port = up->port,
            .admin_port = up->admin_port,
            .of = of};
    return starter_host_write(&host, err);
}

// path NULL: what --config names can't be resolved, or there is no --config.
static bool read_own(
        struct up *up, const char *path, struct host_config **ret_host, struct err *err)
{
    const char *named = up->call->values[FLAG_CONFIG];
    *ret_host = NULL;
    if (!named)
        return starter_write(up->place.dir, err);
    if (!path)
        return err_set(err, ERR_FATAL, "can't open '%.180s'", named);
    struct diag diag = {0};
    *ret_host = host_config_new(path, &diag);
    if (!*ret_host)
        context_findings(up->call, &diag, EXIT_CONFIG);
    diag_fini(&diag);
    return *ret_host || err_set(err, ERR_FATAL, "the host file has errors");
}

static bool apply_policy(struct up *up, struct err *err)
{
    struct diag diag = {0};
    struct host_config *host = host_config_new(up->config, &diag);
    AUTO_POLICY struct policy *policy =
            host ? policy_from_files(host, NULL, 0, NULL, &diag, err) : NULL;
    host_config_free(host);
    if (!policy && diag.errors > 0) {
        context_findings(up->call, &diag, EXIT_INVALID);
        err_set(err, ERR_INPUT, "the policy has errors");
    }
    diag_fini(&diag);
    struct policy_stored stored = {0};
    if (!policy ||
            !policy_store_apply(up->database, policy, "pawl up", up->place.user, &stored, err))
        return false;
    out_note(up->call, "policy     version %d%s", stored.version, stored.is_new ? ", new" : "");
    return true;
}

static bool prepare_database(struct up *up, struct err *err)
{
    char owner[512];
    AUTO_TEXT struct text done = {0};
    text_init(&done, OUTPUT_MAX);
    cluster_conninfo(&up->cluster, "pawl", "pawl", owner);
    if (!cluster_database(&up->cluster, err) || migrate_up(owner, &done, err) == MIGRATE_FAILED)
        return false;
    return apply_policy(up, err);
}

// --- Programs

static int serve_receiver(void *arg)
{
    const struct up *up = arg;
    const struct receiver_options options = {.config = up->config, .die_with_parent = true};
    return receiver_main(&options);
}

static int serve_dispatcher(void *arg)
{
    const struct up *up = arg;
    const struct dispatcher_options options = {.config = up->config, .die_with_parent = true};
    return dispatcher_main(&options);
}

static bool ready(int port)
{
    struct http_target target = {.host = "127.0.0.1"};
    struct http_answer answer;
    snprintf(target.port, sizeof target.port, "%d", port);
    const struct http_request request = {.method = "GET", .path = "/readyz", .timeout_ms = 1000};
    http_exchange(&target, &request, &answer);
    return answer.status == 200;
}

static bool wait_ready(struct up *up, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + READY_MS;
    while (!ready(up->admin_port) || !ready(up->admin_port + 1)) {
        if (up_died(up, err))
            return false;
        if (clock_mono_ms() > deadline_ms)
            return err_set(
                    err, ERR_TEMP, "the programs are not ready within %d s", READY_MS / 1000);
        if (!up_pause(up, READY_LOOK_MS))
            return up_died(up, err) ? false : err_set(err, ERR_TEMP, "ended while it started");
    }
    return !up_died(up, err); // someone else may have answered
}

static bool start_programs(struct up *up, struct err *err)
{
    const struct child_how how = {SIGTERM, -1};
    return child_call(&up->receiver, "pawl-receiver", serve_receiver, up, how, err) &&
           child_call(&up->dispatcher, "pawl-dispatch", serve_dispatcher, up, how, err) &&
           wait_ready(up, err);
}

static bool start_cluster(struct up *up, struct err *err)
{
    bool old = cluster_exists(up->place.dir);
    out_note(up->call, "data       %s%s", up->place.dir, old ? " (of an earlier run)" : "");
    out_note(up->call, old ? "PostgreSQL starts" : "PostgreSQL is made, this takes some seconds");
    return cluster_prepare(&up->cluster, up_pause, up, err) &&
           cluster_start(&up->cluster, up_pause, up, err);
}

// libpq's variables of the caller must not lead to another database.
static void forget_pg_variables(void)
{
    static const char *const names[] = {"PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER",
            "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGOPTIONS", "PGAPPNAME",
            "PGREQUIREPEER", "PGTARGETSESSIONATTRS", "PGSSLMODE", "PGDATA", "PGCLIENTENCODING"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
}

bool up_start(struct up *up, const struct call *call, const char *name, struct err *err)
{
    struct host_config *of = NULL;
    // place_take() changes the directory.
    AUTO_FREE char *config =
            call->values[FLAG_CONFIG] ? realpath(call->values[FLAG_CONFIG], NULL) : NULL;
    *up = (struct up){.call = call,
            .name = name,
            .lock_fd = -1,
            .signal_fd = -1,
            .terminal = up_has_terminal()};
    daemon_block_signals();
    up->signal_fd = daemon_signal_fd();
    forget_pg_variables();
    if (!place_take(call->values[FLAG_DIR], name, &up->place, err) || !lock(up, err))
        return false;
    up->cluster.dir = up->place.dir;
    bool ok = read_own(up, config, &of, err) && (of || start_sink(up, err)) &&
              configure(up, of, err) && start_cluster(up, err) && prepare_database(up, err) &&
              start_programs(up, err);
    host_config_free(of);
    return ok;
}
