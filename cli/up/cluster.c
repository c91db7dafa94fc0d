#include "cli/up/cluster.h"

#include "cli/cluster_sql.h"
#include "common/clock.h"
#include "common/pg/pg.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_MS 60000
#define INIT_MS 180000
#define OLD_ONE_MS 20000
#define LOOK_MS 50
#define CONNECT_MS 3000
#define SOCKET_PATH_MAX 100 // sun_path has 108, the socket's own name needs its part
#define VERSION_LEAST 15

static void auto_pg(struct pg **pg)
{
    pg_close(*pg);
}
#define AUTO_PG __attribute__((cleanup(auto_pg)))

static bool path_in(const struct cluster *cluster, const char *name, char out[512])
{
    int n = snprintf(out, 512, "%s/%s", cluster->dir, name);
    return n > 0 && n < 512;
}

void cluster_conninfo(
        const struct cluster *cluster, const char *user, const char *database, char out[512])
{
    snprintf(out, 512, "host='%s/run' port=5432 dbname=%s%s%s", cluster->dir, database,
            user ? " user=" : "", user ? user : "");
}

static long version_in(const char *path)
{
    char line[16] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    return strtol(line, NULL, 10);
}

static long data_version(const char *dir)
{
    char path[512];
    const struct cluster cluster = {.dir = dir};
    return path_in(&cluster, "data/PG_VERSION", path) ? version_in(path) : 0;
}

bool cluster_exists(const char *dir)
{
    return data_version(dir) > 0;
}

// Debian's place: not in PATH on a stock system.
static bool find_bin(struct cluster *cluster, long wanted, struct err *err)
{
    static const char start[] = "/usr/lib/postgresql/";
    glob_t found = {0};
    long best = 0;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) != 0)
        found.gl_pathc = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        long version = strtol(found.gl_pathv[i] + sizeof start - 1, NULL, 10);
        if (version > best && (wanted == 0 || version == wanted))
            best = version;
    }
    globfree(&found);
    if (best < VERSION_LEAST)
        return err_set(err, ERR_TEMP,
                wanted ? "PostgreSQL %ld, which made the data, is not installed"
                       : "PostgreSQL %ld or newer is not installed (Debian: "
                         "postgresql-15)",
                wanted ? wanted : (long)VERSION_LEAST);
    snprintf(cluster->bin, sizeof cluster->bin, "/usr/lib/postgresql/%ld/bin", best);
    return true;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static bool write_file(const char *dir, const char *name, const struct text *text, struct err *err)
{
    char path[512];
    snprintf(path, sizeof path, "%.380s/%.120s", dir, name);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : write(fd, text_cstr(text), text->len);
    return (n == (ssize_t)text->len && fsync(fd) == 0) ||
           err_set(err, ERR_TEMP, "can't write '%s': %s", path, strerror(errno));
}

// Who may log in: the user the cluster runs as, and root, who could become that user anyway.
static bool write_access(const char *data, struct err *err)
{
    static const char *const roles[] = {
            "pawl", "pawl_receiver", "pawl_dispatcher", "pawl_operator", "pawl_maint"};
    AUTO_TEXT struct text hba = {0}, ident = {0};
    text_init(&hba, 4096);
    text_init(&ident, 4096);
    const struct passwd *user = getpwuid(geteuid());
    text_str(&hba, "# written by pawl up: nothing but this socket, and only its own users\n"
                   "local all all peer map=pawl\n");
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        text_fmt(&ident, "pawl \"%s\" %s\npawl root %s\n", user ? user->pw_name : "postgres",
                roles[i], roles[i]);
    return write_file(data, "pg_hba.conf", &hba, err) &&
           write_file(data, "pg_ident.conf", &ident, err);
}

static int open_log(const struct cluster *cluster, struct err *err)
{
    char path[512];
    path_in(cluster, "postgres.log", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        err_set(err, ERR_TEMP, "can't write '%s': %s", path, strerror(errno));
    return fd;
}

static bool given_up(struct child *child, struct err *err)
{
    child_signal(child, SIGTERM);
    for (int i = 0; i < 20 && child_runs(child); i++)
        usleep(LOOK_MS * 1000);
    child_signal(child, SIGKILL);
    return err_set(err, ERR_TEMP, "ended while %s ran", child->name);
}

static bool init(
        struct cluster *cluster, const char *into, cluster_pause pause, void *ctx, struct err *err)
{
    char initdb[300], data[512];
    struct child child = {0};
    snprintf(initdb, sizeof initdb, "%s/initdb", cluster->bin);
    snprintf(data, sizeof data, "%s", into);
    char *const argv[] = {initdb, (char[]){"-D"}, data, (char[]){"-U"}, (char[]){"pawl"},
            (char[]){"-A"}, (char[]){"peer"}, (char[]){"-E"}, (char[]){"UTF8"},
            (char[]){"--locale=C.UTF-8"}, (char[]){"--no-instructions"}, NULL};
    AUTO_CLOSE int log_fd = open_log(cluster, err);
    if (log_fd < 0 || !child_exec(&child, "initdb", argv, (struct child_how){SIGTERM, log_fd}, err))
        return false;
    int64_t deadline_ms = clock_mono_ms() + INIT_MS;
    while (child_runs(&child))
        if (!pause(ctx, LOOK_MS) || clock_mono_ms() > deadline_ms)
            return given_up(&child, err);
    char how[64];
    return child.status == 0 || err_set(err, ERR_TEMP, "initdb %s: see %s/postgres.log",
                                        child_ending(&child, how), cluster->dir);
}

static bool make(struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err)
{
    char half[512], data[512];
    if (!path_in(cluster, "data.new", half) || !path_in(cluster, "data", data))
        return err_set(err, ERR_INPUT, "the directory's name is too long");
    if (access(half, F_OK) == 0)
        nftw(half, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (!init(cluster, half, pause, ctx, err))
        return false;
    // Only what is whole gets the name that counts.
    return rename(half, data) == 0 ||
           err_set(err, ERR_TEMP, "can't make '%s': %s", data, strerror(errno));
}

bool cluster_prepare(struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err)
{
    char run[512], data[512];
    if (!path_in(cluster, "run", run) || strlen(run) + sizeof "/.s.PGSQL.5432" > SOCKET_PATH_MAX)
        return err_set(err, ERR_INPUT,
                "'%.120s' is too long for a unix socket: name a shorter one by --dir",
                cluster->dir);
    if (strchr(cluster->dir, '\'') || strchr(cluster->dir, '\\') || strchr(cluster->dir, ',') ||
            strchr(cluster->dir, '"'))
        return err_set(err, ERR_INPUT, "the directory's name may not have ' \" \\ or ,");
    if ((mkdir(run, 0700) != 0 && errno != EEXIST) || chmod(run, 0700) != 0)
        return err_set(err, ERR_TEMP, "can't make '%s': %s", run, strerror(errno));
    long version = data_version(cluster->dir);
    if (!find_bin(cluster, version, err) || (version == 0 && !make(cluster, pause, ctx, err)))
        return false;
    path_in(cluster, "data", data);
    return write_access(data, err);
}

// A postmaster.pid whose process works in this very data directory is a cluster that still runs: a
// killed run's, on its way out. Any other number is a leftover, or now someone else's.
static bool runs_here(const char *data, pid_t pid)
{
    char link[64], cwd[512], real[512] = "";
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
    ssize_t n = readlink(link, cwd, sizeof cwd - 1);
    AUTO_FREE char *resolved = realpath(data, NULL);
    if (n <= 0 || !resolved)
        return false;
    cwd[n] = '\0';
    snprintf(real, sizeof real, "%s", resolved);
    return strcmp(cwd, real) == 0;
}

static bool wait_for_old(struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err)
{
    char data[512], file[512];
    path_in(cluster, "data", data);
    path_in(cluster, "data/postmaster.pid", file);
    pid_t pid = (pid_t)version_in(file);
    int64_t deadline_ms = clock_mono_ms() + OLD_ONE_MS;
    while (pid > 0 && runs_here(data, pid)) {
        if (!pause(ctx, LOOK_MS) || clock_mono_ms() > deadline_ms)
            return err_set(err, ERR_CONFLICT,
                    "PostgreSQL (pid %d) still runs on '%s': end it first", (int)pid, data);
    }
    if (pid > 0)
        unlink(file);
    return true;
}

static struct pg *connect_to(const struct cluster *cluster, const char *database,
        const struct pg_stmt *stmts, size_t n, struct err *err)
{
    char conninfo[512];
    cluster_conninfo(cluster, "pawl", database, conninfo);
    const struct pg_options options = {.conninfo = conninfo,
            .application = "pawl up",
            .stmts = stmts,
            .n_stmts = n,
            .connect_timeout_ms = CONNECT_MS};
    return pg_connect(&options, err);
}

static bool answers(const struct cluster *cluster, struct err *err)
{
    AUTO_PG struct pg *pg = connect_to(cluster, "postgres", NULL, 0, err);
    return pg != NULL;
}

static bool wait_until_up(struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + START_MS;
    while (!answers(cluster, err)) {
        char how[64];
        if (!child_runs(&cluster->postgres))
            return err_set(err, ERR_TEMP, "PostgreSQL %s: see %s/postgres.log",
                    child_ending(&cluster->postgres, how), cluster->dir);
        if (clock_mono_ms() > deadline_ms)
            return err_prefix(err, "PostgreSQL does not answer");
        if (!pause(ctx, LOOK_MS) && child_runs(&cluster->postgres))
            return err_set(err, ERR_TEMP, "ended while PostgreSQL started");
    }
    return true;
}

bool cluster_start(struct cluster *cluster, cluster_pause pause, void *ctx, struct err *err)
{
    char program[300], data[512], sockets[600];
    if (!wait_for_old(cluster, pause, ctx, err))
        return false;
    snprintf(program, sizeof program, "%s/postgres", cluster->bin);
    path_in(cluster, "data", data);
    snprintf(sockets, sizeof sockets, "unix_socket_directories=%s/run", cluster->dir);
    char *const argv[] = {program, (char[]){"-D"}, data, (char[]){"-c"}, sockets, (char[]){"-c"},
            (char[]){"listen_addresses="}, (char[]){"-c"}, (char[]){"port=5432"}, (char[]){"-c"},
            (char[]){"unix_socket_permissions=0700"}, (char[]){"-c"},
            (char[]){"logging_collector=off"}, (char[]){"-c"}, (char[]){"max_connections=60"},
            NULL};
    AUTO_CLOSE int log_fd = open_log(cluster, err);
    // SIGINT is PostgreSQL's fast shutdown: it ends its own children.
    if (log_fd < 0 || !child_exec(&cluster->postgres, "postgres", argv,
                              (struct child_how){SIGINT, log_fd}, err))
        return false;
    return wait_until_up(cluster, pause, ctx, err);
}

bool cluster_database(struct cluster *cluster, struct err *err)
{
    AUTO_PG struct pg *pg = connect_to(cluster, "postgres", cluster_statements, CLUSTER_COUNT, err);
    if (!pg)
        return false;
    pg_add(pg, CLUSTER_DATABASE_EXISTS);
    if (!pg_fly(pg, clock_mono_ms() + CONNECT_MS, err))
        return false;
    return pg_bool(pg, 0, 0, 0) || pg_script(pg, "CREATE DATABASE pawl", err);
}
