// The server: reached, its settings, its clock, dead rows.
#include "cli/doctor/findings.h"
#include "cli/doctor_sql.h"
#include "common/clock.h"

#define SKEW_WARN_US 1000000
#define SKEW_FAIL_US 60000000
#define VERSION_LEAST 150000
#define SNAPSHOT_WARN_S 600.0
#define XID_AGE_WARN 1000000000

static struct slice cell(const struct pg *pg, int row, int col)
{
    return pg_bytes(pg, 0, row, col);
}

// What each setting has to be, and what follows when it is not.
static const struct rule {
    const char *name, *refused; // the value that is wrong
    enum finding_verdict verdict;
    const char *why;
} rules[] = {
        {"fsync", "off", FINDING_FAIL, "what was acknowledged may be lost with the power"},
        {"full_page_writes", "off", FINDING_FAIL, "a page half written can't be mended"},
        {"synchronous_commit", "off", FINDING_FAIL, "COMMIT is told before the disk has it"},
        {"autovacuum", "off", FINDING_FAIL, "dead rows stay and everything slows down"},
        {"default_transaction_isolation", "serializable", FINDING_WARN,
                "the statements are made "
                "for read committed"},
        {"default_transaction_isolation", "repeatable read", FINDING_WARN,
                "the statements are made for read committed"},
};

static void judge_setting(struct visit *visit, int row)
{
    AUTO_FREE char *name = slice_dup(cell(visit->pg, row, 0));
    AUTO_FREE char *value = slice_dup(cell(visit->pg, row, 1));
    AUTO_FREE char *where = slice_dup(cell(visit->pg, row, 2));
    bool server = strcmp(where, "the server") == 0;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (strcmp(rules[i].name, name) != 0 || strcmp(rules[i].refused, value) != 0)
            continue;
        found(visit, rules[i].verdict, "settings", "%s is %s for %s: %s", name, value, where,
                rules[i].why);
        if (server)
            mend_sql(visit, "-c 'ALTER SYSTEM RESET %s' -c 'SELECT pg_reload_conf()'", name);
        else
            mend_sql(visit, "-c 'ALTER ROLE %s RESET %s'", where, name);
    }
    if (strcmp(name, "server_version_num") == 0 && strtol(value, NULL, 10) < VERSION_LEAST)
        found(visit, FINDING_FAIL, "settings", "the server is version %s, 15 is the least", value);
    if (strcmp(name, "server_encoding") == 0 && strcmp(value, "UTF8") != 0)
        found(visit, FINDING_FAIL, "settings", "the database's encoding is %s, not UTF8", value);
}

static bool ask(struct visit *visit, int statement)
{
    struct err err = {0};
    pg_add(visit->pg, statement);
    if (pg_fly(visit->pg, context_soon(), &err))
        return true;
    found_err(visit, "database", &err);
    return false;
}

static void settings(struct visit *visit, bool *ret_wants_standby)
{
    if (!ask(visit, DOCTOR_SETTINGS))
        return;
    size_t before = visit->findings.n;
    for (int row = 0; row < pg_rows(visit->pg, 0); row++) {
        judge_setting(visit, row);
        if (slice_eq(cell(visit->pg, row, 0), SLICE("synchronous_standby_names")))
            *ret_wants_standby = cell(visit->pg, row, 1).len > 0;
    }
    if (visit->findings.n == before)
        found(visit, FINDING_OK, "settings", "a confirmed COMMIT lasts");
}

static void standbys_and_clock(struct visit *visit, bool wants_standby)
{
    int64_t from_us = clock_now_us();
    if (!ask(visit, DOCTOR_STANDBYS))
        return;
    int64_t to_us = clock_now_us();
    long long n = pg_big(visit->pg, 0, 0, 0);
    if (wants_standby && n == 0) {
        found(visit, FINDING_FAIL, "standby",
                "a synchronous standby is named and none connected: "
                "no COMMIT is confirmed");
        mend_sql(visit, "-c 'SELECT * FROM pg_stat_replication' -c 'SHOW "
                        "synchronous_standby_names'");
    } else {
        found(visit, FINDING_OK, "standby",
                wants_standby
                        ? "%lld connected, a synchronous one is named"
                        : "%lld connected, none is waited for: this server's disk is the promise",
                n);
    }
    // Within the round trip nobody can tell.
    int64_t there_us = pg_big(visit->pg, 0, 0, 1), skew_us = 0;
    if (there_us < from_us)
        skew_us = from_us - there_us;
    else if (there_us > to_us)
        skew_us = there_us - to_us;
    bool off = skew_us >= SKEW_WARN_US;
    found(visit,
            skew_us >= SKEW_FAIL_US ? FINDING_FAIL
            : off                   ? FINDING_WARN
                                    : FINDING_OK,
            "clock", "this host's clock is %s the database's by %.3f s", off ? "off" : "with",
            (double)skew_us / 1e6);
    if (off)
        mend(visit, "timedatectl set-ntp true");
}

// Why there is no connection. Only a server that is not there is started.
static void judge_away(struct visit *visit, const char *why, int64_t waited_ms)
{
    if (strstr(why, "the database system is ")) { // starting, in recovery or shutting down
        found(visit, FINDING_FAIL, "database", "%s: wait, it ends by itself; stop nothing", why);
        mend(visit, "sleep 10; pawl doctor");
    } else if (strstr(why, "answer in time")) {
        found(visit, FINDING_FAIL, "database",
                "it does not answer within %.0f s: it hangs, or its machine or the way there does",
                (double)waited_ms / 1000);
        mend(visit, "ps -C postgres -o pid,stat,wchan:20,args # there; T: was stopped, kill -CONT; "
                    "D: waits for its disk");
    } else {
        found(visit, FINDING_FAIL, "database", "%s", why);
        if (strstr(why, "role \""))
            mend(visit, "pawl migrate up");
        else
            mend_program(visit, REMEDY_START, "postgresql");
    }
}

void visit_database(struct visit *visit)
{
    struct err err = {0};
    bool wants_standby = false;
    int64_t from_ms = clock_mono_ms();
    visit->pg = context_connect(visit->context, doctor_statements, DOCTOR_COUNT, &err);
    if (!visit->pg) {
        judge_away(visit, err.msg, clock_mono_ms() - from_ms);
        return;
    }
    found(visit, FINDING_OK, "database", "reached as pawl_operator");
    settings(visit, &wants_standby);
    if (pg_alive(visit->pg))
        standbys_and_clock(visit, wants_standby);
}

static void dead_rows(struct visit *visit)
{
    if (!ask(visit, DOCTOR_VACUUM))
        return;
    for (int row = 0; row < pg_rows(visit->pg, 0); row++) {
        AUTO_FREE char *table = slice_dup(cell(visit->pg, row, 0));
        found(visit, FINDING_WARN, "vacuum", "%s has %lld dead rows and %lld living ones", table,
                (long long)pg_big(visit->pg, 0, row, 1), (long long)pg_big(visit->pg, 0, row, 2));
        mend_sql(visit, "-c 'VACUUM (VERBOSE) pawl.%s'", table);
    }
    if (pg_rows(visit->pg, 0) == 0)
        found(visit, FINDING_OK, "vacuum", "no table has more dead rows than living ones");
}

static void snapshots(struct visit *visit)
{
    if (!ask(visit, DOCTOR_OLDEST))
        return;
    const struct pg *pg = visit->pg;
    double age_s = pg_null(pg, 0, 0, 1) ? 0 : pg_double(pg, 0, 0, 1);
    if (!pg_bool(pg, 0, 0, 0)) {
        found(visit, FINDING_NOTE, "snapshots", "not seen: only pg_read_all_stats may");
        mend_sql(visit, "-c 'GRANT pg_read_all_stats TO pawl_operator' -c 'ALTER ROLE "
                        "pawl_operator INHERIT'");
    } else if (age_s > SNAPSHOT_WARN_S) {
        found(visit, FINDING_WARN, "snapshots",
                "a transaction open for %.0f s (pid %d) keeps dead rows", age_s,
                pg_int(pg, 0, 0, 2));
        mend_sql(visit, "-c 'SELECT pg_terminate_backend(%d)'", pg_int(pg, 0, 0, 2));
    } else {
        found(visit, FINDING_OK, "snapshots", "none is older than ten minutes");
    }
    if (!pg_null(pg, 0, 0, 3)) {
        AUTO_FREE char *slot = slice_dup(cell(pg, 0, 3));
        found(visit, FINDING_WARN, "snapshots", "replication slot '%s' keeps dead rows", slot);
        mend_sql(visit, "-c \"SELECT pg_drop_replication_slot('%s')\"", slot);
    }
    if (pg_int(pg, 0, 0, 4) > XID_AGE_WARN) {
        found(visit, FINDING_WARN, "vacuum", "transaction ids run out: the oldest is %d old",
                pg_int(pg, 0, 0, 4));
        mend(visit, "vacuumdb --freeze --dbname=..");
    }
}

void visit_vacuum(struct visit *visit)
{
    if (!visit->pg || !pg_alive(visit->pg))
        return;
    dead_rows(visit);
    if (pg_alive(visit->pg))
        snapshots(visit);
}
