#include "cli/migrate/migrate.h"

#include <poll.h>

#include "cli/migrate/ledger_sql.h"
#include "cli/migrate/migrate_sql.h"
#include "cli/migrate/plan.h"
#include "cli/migrate/script_sql.h"
#include "common/clock.h"
#include "common/pg/pg.h"
#include "migrations/migrations_sql.h"

#define CONNECT_TIMEOUT_MS 10000
#define STEP_TIMEOUT_MS 10000 // one small statement
#define LOCK_WAIT_MS 60000    // for another run
#define LOCK_RETRY_MS 200
#define APPLY_TRIES 10 // a table's lock is asked for 2 s each

// The login roles of the programs; no member of anything, so SET ROLE leads nowhere.
static const struct {
    const char *name, *create;
} roles[] = {
        {"pawl_receiver", "CREATE ROLE pawl_receiver LOGIN NOINHERIT"},
        {"pawl_dispatcher", "CREATE ROLE pawl_dispatcher LOGIN NOINHERIT"},
        {"pawl_maint", "CREATE ROLE pawl_maint LOGIN NOINHERIT"},
        {"pawl_operator", "CREATE ROLE pawl_operator LOGIN NOINHERIT"},
};

static void pg_auto_close(struct pg **pg)
{
    pg_close(*pg);
}
#define AUTO_PG __attribute__((cleanup(pg_auto_close)))

static int64_t soon(void)
{
    return clock_mono_ms() + STEP_TIMEOUT_MS;
}

static struct pg *open_as(const char *conninfo, const char *role, struct err *err)
{
    const struct pg_options options = {.conninfo = conninfo,
            .role = role,
            .application = "pawl migrate",
            .stmts = migrate_statements,
            .n_stmts = MIGRATE_COUNT,
            .connect_timeout_ms = CONNECT_TIMEOUT_MS};
    return pg_connect(&options, err);
}

static struct pg *open_database(const char *conninfo, struct err *err)
{
    return open_as(conninfo, NULL, err);
}

static bool ask(struct pg *pg, int stmt, const char *param, bool *ret_answer, struct err *err)
{
    pg_add(pg, stmt);
    if (param)
        pg_p_text(pg, slice_of(param));
    if (!pg_fly(pg, soon(), err))
        return false;
    *ret_answer = pg_bool(pg, 0, 0, 0);
    return true;
}

static bool take_lock(struct pg *pg, struct err *err)
{
    int64_t end_ms = clock_mono_ms() + LOCK_WAIT_MS;
    for (;;) {
        bool got = false;
        if (!ask(pg, MIGRATE_TRY_LOCK, NULL, &got, err))
            return false;
        if (got)
            return true;
        if (clock_mono_ms() > end_ms)
            return err_set(err, ERR_TEMP, "another migration is running on this database");
        poll(NULL, 0, LOCK_RETRY_MS);
    }
}

// Roles belong to the whole cluster: another database's run may make one at the same moment.
static bool make_role(struct pg *pg, size_t i, struct err *err)
{
    bool found = false;
    if (!ask(pg, MIGRATE_ROLE_EXISTS, roles[i].name, &found, err))
        return false;
    if (found || pg_script(pg, roles[i].create, err))
        return true;
    struct err ignored;
    if (pg_alive(pg) && ask(pg, MIGRATE_ROLE_EXISTS, roles[i].name, &found, &ignored) && found)
        return true;
    return err_prefix(err, "create role %s", roles[i].name);
}

static bool bootstrap(struct pg *pg, struct err *err)
{
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (!make_role(pg, i, err))
            return false;
    if (!ask(pg, MIGRATE_LEDGER_EXISTS, NULL, &found, err))
        return false;
    if (!found && !pg_script(pg, script_statements[SCRIPT_BOOTSTRAP].sql, err))
        return err_prefix(err, "create schema pawl");
    return true;
}

// --- The ledger

// The ledger's statements can't be prepared before it is there.
struct ledger {
    int base; // number of its first statement
    int applied;
    size_t newer;
};

static bool ledger_open(struct pg *pg, struct ledger *ret_ledger, struct err *err)
{
    struct ledger ledger = {.base = MIGRATE_COUNT};
    if (!pg_prepare(pg, ledger_statements, LEDGER_COUNT, soon(), err))
        return false;
    pg_add(pg, ledger.base + LEDGER_READ);
    if (!pg_fly(pg, soon(), err))
        return false;
    size_t n = (size_t)pg_rows(pg, 0);
    AUTO_FREE struct ledger_row *rows = xcalloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct ledger_row){.number = pg_int(pg, 0, (int)i, 0),
                .name = pg_bytes(pg, 0, (int)i, 1),
                .sha256 = pg_bytes(pg, 0, (int)i, 2)};
    ledger.applied = plan_applied(migrations, ARRAY_LEN(migrations), rows, n, &ledger.newer, err);
    *ret_ledger = ledger;
    return ledger.applied >= 0;
}

// --- Applying

static bool apply_once(
        struct pg *pg, const struct ledger *ledger, const struct migration *file, struct err *err)
{
    // enable_seqscan is off for the programs; a backfill wants it.
    if (!pg_script(pg, "BEGIN; SET LOCAL lock_timeout = '2s'; SET LOCAL enable_seqscan = on", err))
        return false;
    if (!pg_script(pg, file->sql, err))
        return false;
    pg_add(pg, ledger->base + LEDGER_ADD);
    pg_p_int(pg, file->number);
    pg_p_text(pg, slice_of(file->name));
    pg_p_text(pg, slice_of(file->sha256));
    pg_p_text(pg, slice_of(PAWL_VERSION));
    pg_add_commit(pg);
    return pg_fly(pg, soon(), err);
}

// A lock that a running program holds, or a deadlock with one: worth another try.
static bool worth_again(struct pg *pg)
{
    return strcmp(pg_sqlstate(pg), "55P03") == 0 || pg_failure_of(pg) == PGF_AGAIN;
}

static bool apply(struct pg *pg, const struct ledger *ledger, const struct migration *file,
        struct text *out, struct err *err)
{
    int64_t from_ms = clock_mono_ms();
    for (int i = 0; !apply_once(pg, ledger, file, err); i++) {
        bool again = worth_again(pg) && i + 1 < APPLY_TRIES;
        if (!pg_rollback(pg) || !again)
            return err_prefix(err, "migration %04d_%s", file->number, file->name);
        poll(NULL, 0, LOCK_RETRY_MS);
    }
    text_fmt(out, "applied %04d_%s (%lld ms)\n", file->number, file->name,
            (long long)(clock_mono_ms() - from_ms));
    return true;
}

static bool up(struct pg *pg, struct text *out, struct err *err)
{
    struct ledger ledger = {0};
    if (!take_lock(pg, err) || !bootstrap(pg, err) || !ledger_open(pg, &ledger, err))
        return false;
    if ((size_t)ledger.applied == ARRAY_LEN(migrations))
        text_fmt(out, "nothing to do: %d applied\n", ledger.applied);
    for (size_t i = (size_t)ledger.applied; i < ARRAY_LEN(migrations); i++)
        if (!apply(pg, &ledger, &migrations[i], out, err))
            return false;
    return true;
}

int migrate_up(const char *conninfo, struct text *out, struct err *err)
{
    AUTO_PG struct pg *pg = open_database(conninfo, err);
    return pg && up(pg, out, err) ? MIGRATE_DONE : MIGRATE_FAILED;
}

// --- Looking

// Reads the ledger without changing anything; the rows stay readable in pg as call 0.
static bool look(struct pg *pg, struct ledger *ret_ledger, bool *ret_found, struct err *err)
{
    if (!ask(pg, MIGRATE_LEDGER_EXISTS, NULL, ret_found, err))
        return false;
    *ret_ledger = (struct ledger){0};
    return !*ret_found || ledger_open(pg, ret_ledger, err);
}

static void list_row(struct pg *pg, int i, const struct ledger *ledger, bool json, struct text *out)
{
    const struct migration *file = &migrations[i];
    bool applied = i < ledger->applied;
    struct slice at = applied ? pg_bytes(pg, 0, i, 3) : SLICE("");
    struct slice by = applied ? pg_bytes(pg, 0, i, 4) : SLICE("");
    text_fmt(out, json ? "%s{\"number\":%d,\"name\":\"%s\",\"state\":\"%s\"," : "%s%04d_%s  %s",
            json && i > 0 ? "," : "", file->number, file->name, applied ? "applied" : "pending");
    text_fmt(out, json ? "\"applied_at\":\"%.*s\",\"by_version\":\"%.*s\"}" : "  %.*s  %.*s\n",
            (int)at.len, (const char *)at.ptr, (int)by.len, (const char *)by.ptr);
}

int migrate_list(const char *conninfo, bool json, struct text *out, struct err *err)
{
    AUTO_PG struct pg *pg = open_database(conninfo, err);
    struct ledger ledger;
    bool found = false;
    if (!pg || !look(pg, &ledger, &found, err))
        return MIGRATE_FAILED;
    text_str(out, json ? "[" : "");
    for (int i = 0; i < (int)ARRAY_LEN(migrations); i++)
        list_row(pg, i, &ledger, json, out);
    text_str(out, json ? "]\n" : "");
    if (ledger.newer > 0 && !json)
        text_fmt(out, "and %zu of a newer version\n", ledger.newer);
    return MIGRATE_DONE;
}

int migrate_check(const char *conninfo, struct text *out, struct err *err)
{
    return migrate_check_as(conninfo, NULL, out, err);
}

int migrate_check_as(const char *conninfo, const char *role, struct text *out, struct err *err)
{
    AUTO_PG struct pg *pg = open_as(conninfo, role, err);
    struct ledger ledger;
    bool found = false;
    if (!pg || !look(pg, &ledger, &found, err))
        return MIGRATE_FAILED;
    for (size_t i = (size_t)ledger.applied; i < ARRAY_LEN(migrations); i++)
        text_fmt(out, "pending %04d_%s\n", migrations[i].number, migrations[i].name);
    if ((size_t)ledger.applied < ARRAY_LEN(migrations))
        return MIGRATE_PENDING;
    text_fmt(out, "nothing pending: %d applied\n", ledger.applied);
    return MIGRATE_DONE;
}

// --- For people who run SQL themselves

static void sql_head(struct text *out)
{
    text_str(out, "-- Pawl " PAWL_VERSION ": for psql, as the owner of the schema.\n"
                  "\\set ON_ERROR_STOP on\n");
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        text_fmt(out,
                "SELECT '%s' WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '%s') "
                "\\gexec\n",
                roles[i].create, roles[i].name);
    text_str(out, script_statements[SCRIPT_BOOTSTRAP].sql);
}

void migrate_sql(int from, int to, struct text *out)
{
    if (from <= 1)
        sql_head(out);
    for (size_t i = 0; i < ARRAY_LEN(migrations); i++) {
        const struct migration *file = &migrations[i];
        if (file->number < from || (to > 0 && file->number > to))
            continue;
        text_fmt(out, "\n-- %04d_%s\nBEGIN;\nSET LOCAL search_path = pawl, pg_catalog;\n",
                file->number, file->name);
        text_str(out, "SET LOCAL lock_timeout = '2s';\n");
        text_str(out, file->sql);
        text_fmt(out,
                "INSERT INTO migrations (number, name, sha256, by_version) VALUES (%d, '%s', "
                "'%s', '%s');\nCOMMIT;\n",
                file->number, file->name, file->sha256, PAWL_VERSION);
    }
}
