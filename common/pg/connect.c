#include <poll.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/pg/internal.h"
#include "common/pg/pg_sql.h"

#define CONNECT_DEFAULT_MS 5000
#define SCRIPT_MAX_MS 3600000
#define HOSTS_MAX 16

// --- Hosts: each gets its share of the time, so that one that swallows packets can't use up all.

// Item i of a comma-separated list, or the only item; NULL when there is no list.
static char *list_item(const char *list, size_t i)
{
    if (!list || !*list)
        return NULL;
    const char *at = list;
    for (size_t left = i; left > 0 && at; left--) {
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    if (!at) // one port for all hosts
        at = strchr(list, ',') ? "" : list;
    return slice_dup((struct slice){(const unsigned char *)at, strcspn(at, ",")});
}

static size_t list_len(const char *list)
{
    size_t n = list && *list ? 1 : 0;
    for (const char *at = list; n > 0 && (at = strchr(at, ',')) != NULL; at++)
        n++;
    return n;
}

struct target {
    char *host, *hostaddr, *port; // lists, as libpq understands them
    bool session_attrs;           // conninfo says target_session_attrs itself
    size_t n;
};

static void target_fini(struct target *target)
{
    free(target->host);
    free(target->hostaddr);
    free(target->port);
}

static char *option_of(PQconninfoOption *options, const char *keyword, const char *env)
{
    for (PQconninfoOption *o = options; o->keyword; o++)
        if (strcmp(o->keyword, keyword) == 0 && o->val && *o->val)
            return xstrdup(o->val);
    const char *value = getenv(env);
    return value && *value ? xstrdup(value) : NULL;
}

static bool target_parse(const char *conninfo, struct target *ret_target, struct err *err)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(conninfo, &message);
    if (!options) {
        // libpq quotes the conninfo, which may hold a password.
        PQfreemem(message);
        return err_set(err, ERR_FATAL, "the database's connection string can't be read");
    }
    struct target target = {.host = option_of(options, "host", "PGHOST"),
            .hostaddr = option_of(options, "hostaddr", "PGHOSTADDR"),
            .port = option_of(options, "port", "PGPORT")};
    AUTO_FREE char *attrs = option_of(options, "target_session_attrs", "PGTARGETSESSIONATTRS");
    PQconninfoFree(options);
    target.session_attrs = attrs != NULL;
    target.n = list_len(target.hostaddr);
    if (list_len(target.host) > target.n)
        target.n = list_len(target.host);
    if (target.n == 0)
        target.n = 1; // libpq's own default
    *ret_target = target;
    return true;
}

// --- One connection

// Drives libpq's handshake; the socket may change with every step.
static bool handshake(PGconn *conn, int64_t deadline_ms)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING) {
        short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (!socket_wait(PQsocket(conn), events, deadline_ms))
            return false;
        status = PQconnectPoll(conn);
    }
    return status == PGRES_POLLING_OK;
}

static PGconn *start(const struct pg_options *options, const struct target *target, size_t i)
{
    AUTO_FREE char *host = list_item(target->host, i);
    AUTO_FREE char *hostaddr = list_item(target->hostaddr, i);
    AUTO_FREE char *port = list_item(target->port, i);
    bool several = target->n > 1 && !target->session_attrs;
    // Later keywords win; NULL and empty values are left out by libpq.
    const char *keys[] = {"dbname", "host", "hostaddr", "port", "user", "application_name",
            "client_encoding", several ? "target_session_attrs" : NULL, NULL};
    const char *values[] = {options->conninfo ? options->conninfo : "", host, hostaddr, port,
            options->role, options->application, "UTF8", "read-write", NULL};
    return PQconnectStartParams(keys, values, 1);
}

static void note_warning(void *user, const PGresult *result)
{
    struct pg *pg = user;
    struct flight *flight = &pg->flight;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (!severity || strcmp(severity, "WARNING") != 0 || flight->phase != FLIGHT_FLYING)
        return;
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (flight->warning[0] == '\0')
        snprintf(flight->warning, sizeof flight->warning, "%s", primary ? primary : "a warning");
}

static bool open_host(struct pg *pg, const struct pg_options *options, const struct target *target,
        size_t i, int64_t deadline_ms, struct err *err)
{
    PQfinish(pg->conn);
    pg->conn = start(options, target, i);
    if (!pg->conn)
        return err_set(err, ERR_FATAL, "out of memory");
    if (PQstatus(pg->conn) != CONNECTION_BAD && handshake(pg->conn, deadline_ms)) {
        PQsetNoticeReceiver(pg->conn, note_warning, pg);
        return true;
    }
    if (PQstatus(pg->conn) == CONNECTION_BAD)
        failure_connection(pg, "connect to the database", err);
    else
        err_set(err, ERR_TEMP, "could not connect to the database: no answer in time");
    return false;
}

static bool open_any(
        struct pg *pg, const struct pg_options *options, int64_t deadline_ms, struct err *err)
{
    __attribute__((cleanup(target_fini))) struct target target = {0};
    if (!target_parse(options->conninfo ? options->conninfo : "", &target, err))
        return false;
    size_t n = target.n < HOSTS_MAX ? target.n : HOSTS_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t now_ms = clock_mono_ms();
        int64_t share_ms = (deadline_ms - now_ms) / (int64_t)(n - i);
        if (open_host(pg, options, &target, i, now_ms + share_ms, err))
            return true;
    }
    return false;
}

// --- The session

static bool setup(
        struct pg *pg, const struct pg_options *options, int64_t deadline_ms, struct err *err)
{
    char timeout[16];
    snprintf(timeout, sizeof timeout, "%d", options->statement_timeout_ms);
    if (PQsetnonblocking(pg->conn, 1) != 0 || PQenterPipelineMode(pg->conn) != 1) {
        failure_connection(pg, "use pipeline mode", err);
        return false;
    }
    flight_add(pg, CALL_SQL, -1, pg_statements[PG_SETUP].sql);
    pg_p_text(pg, slice_of(timeout));
    if (!pg_fly(pg, deadline_ms, err))
        return err_prefix(err, "set up the database session");
    return true;
}

static bool says(const struct pg *pg, int col, const char *value)
{
    return slice_eq(pg_bytes(pg, 0, 0, col), slice_of(value));
}

static bool check_durable(struct pg *pg, int64_t deadline_ms, struct err *err)
{
    flight_add(pg, CALL_SQL, -1, pg_statements[PG_DURABLE].sql);
    if (!pg_fly(pg, deadline_ms, err))
        return err_prefix(err, "read the durability settings");
    const char *names[] = {"fsync", "full_page_writes", "synchronous_commit"};
    for (int col = 0; col < (int)ARRAY_LEN(names); col++)
        if (says(pg, col, "off"))
            return err_set(err, ERR_FATAL,
                    "%s is off: what is acknowledged would not survive a crash", names[col]);
    if (says(pg, 2, "local") && !says(pg, 3, ""))
        return err_set(err, ERR_FATAL,
                "synchronous_commit is local although synchronous_standby_names is set: what is "
                "acknowledged would not survive a failover");
    return true;
}

bool pg_prepare(
        struct pg *pg, const struct pg_stmt *stmts, size_t n, int64_t deadline_ms, struct err *err)
{
    if (n == 0)
        return true;
    pg->stmts = xrealloc(pg->stmts, (pg->n_stmts + n) * sizeof *pg->stmts);
    for (size_t i = 0; i < n; i++) {
        pg->stmts[pg->n_stmts] = stmts[i];
        flight_add(pg, CALL_PREPARE, (int)pg->n_stmts++, stmts[i].sql);
    }
    if (pg_fly(pg, deadline_ms, err))
        return true;
    // Class 42: a table, column or right is missing, so the binary does not fit the schema.
    if (strncmp(pg->sqlstate, "42", 2) == 0 && err)
        err->kind = ERR_FATAL;
    if (strncmp(pg->sqlstate, "3F", 2) == 0 && err) // no such schema
        err->kind = ERR_FATAL;
    return err_prefix(err, "prepare");
}

size_t pg_stmt_count(const struct pg *pg)
{
    return pg->n_stmts;
}

static bool connect_all(struct pg *pg, const struct pg_options *options, struct err *err)
{
    int timeout_ms =
            options->connect_timeout_ms > 0 ? options->connect_timeout_ms : CONNECT_DEFAULT_MS;
    int64_t deadline_ms = clock_mono_ms() + timeout_ms;
    return open_any(pg, options, deadline_ms, err) && setup(pg, options, deadline_ms, err) &&
           (!options->demand_durable || check_durable(pg, deadline_ms, err)) &&
           pg_prepare(pg, options->stmts, options->n_stmts, deadline_ms, err);
}

struct pg *pg_connect(const struct pg_options *options, struct err *err)
{
    struct pg *pg = xcalloc(1, sizeof *pg);
    pg->cursor = xcalloc(1, sizeof *pg->cursor);
    pg->script_timeout_ms =
            options->statement_timeout_ms > 0 ? options->statement_timeout_ms : SCRIPT_MAX_MS;
    flight_init(&pg->flight);
    if (connect_all(pg, options, err))
        return pg;
    pg_close(pg);
    return NULL;
}

void pg_close(struct pg *pg)
{
    if (!pg)
        return;
    flight_fini(&pg->flight);
    if (pg->dead && PQstatus(pg->conn) == CONNECTION_OK)
        cancel_in_background(pg->conn); // given up, not broken: the server may still be at it
    PQfinish(pg->conn);                 // never waits: the connection is non-blocking
    free(pg->stmts);
    free(pg->cursor);
    free(pg);
}
