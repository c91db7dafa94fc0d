// pg_probe.c: drives common/pg against a real server; tests/sql/test_pg.py starts it and disturbs
// the server while it waits. Usage: pg_probe CONNINFO; exit 0 when every case held.
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/sql/pg_probe.h"

enum { ADMIN_TERMINATE, ADMIN_CANCEL, ADMIN_STATE };
static const struct pg_stmt stmts[] = {
        {"insert", "INSERT INTO probe(id) VALUES($1::int4)"},
        {"count", "SELECT count(*) FROM probe WHERE id=$1::int4"},
        {"divide", "SELECT 1/$1::int4"},
        {"pids", "SELECT pg_backend_pid()"},
        {"echo_texts", "SELECT $1::text[], cardinality($1::text[]), $1::text[] IS NULL"},
        {"echo_ints", "SELECT $1::int4[], (SELECT sum(x) FROM unnest($1::int4[]) x)::int8"},
        {"sleep", "SELECT pg_sleep($1::float8)"},
        {"defer", "INSERT INTO probe_child(id) VALUES($1::int4)"},
        {"scalars",
                "SELECT $1::int8, $2::bool, $3::float8, $4::text, $5::bytea, $6::uuid, $7::int2,"
                " $8::uuid[], $9::bool[], $10::float8[], $11::int8[]"},
        {"echo_byteas", "SELECT $1::bytea[], octet_length(($1::bytea[])[1])"},
};
static const struct pg_stmt admin_stmts[] = {
        {"terminate", "SELECT pg_terminate_backend($1::int4)"},
        {"cancel", "SELECT pg_cancel_backend($1::int4)"},
        {"state", "SELECT coalesce((SELECT wait_event FROM pg_stat_activity WHERE pid=$1::int4), "
                  "'')"},
};

const char *conninfo;
int failures;
const char *current;

static struct pg *open_with(const struct pg_stmt *list, size_t n)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo,
            .application = "pg_probe",
            .stmts = list,
            .n_stmts = n,
            .connect_timeout_ms = 5000,
            .statement_timeout_ms = 20000};
    struct pg *pg = pg_connect(&options, &err);
    if (!pg) {
        printf("FAILED %s: connect: %s\n", current, err.msg);
        exit(1);
    }
    return pg;
}

struct pg *open_probe(void)
{
    return open_with(stmts, ARRAY_LEN(stmts));
}

static struct pg *open_admin(void)
{
    return open_with(admin_stmts, ARRAY_LEN(admin_stmts));
}

bool fly(struct pg *pg, int timeout_ms)
{
    struct err err = {0};
    bool ok = pg_fly(pg, clock_mono_ms() + timeout_ms, &err);
    if (!ok)
        printf("  (%s: %s [%s])\n", current, err.msg, pg_sqlstate(pg));
    CHECK(ok || err.msg[0] != '\0');
    return ok;
}

int64_t count(int id)
{
    struct pg *pg = open_probe();
    pg_add(pg, COUNT);
    pg_p_int(pg, id);
    int64_t n = fly(pg, 5000) ? pg_big(pg, 0, 0, 0) : -1;
    pg_close(pg);
    return n;
}

int pid_of(struct pg *pg)
{
    pg_add(pg, PIDS);
    return fly(pg, 5000) ? pg_int(pg, 0, 0, 0) : -1;
}

static void insert(struct pg *pg, int id)
{
    pg_add(pg, INSERT);
    pg_p_int(pg, id);
}

// Steps until the flight has ended, at most five seconds.
static enum pg_progress land(struct pg *pg, struct err *err)
{
    enum pg_progress progress = PG_WAIT;
    for (int i = 0; i < 500 && progress == PG_WAIT; i++, usleep(10000))
        progress = pg_step(pg, err);
    return progress;
}

static bool admin_signal(int stmt, int pid)
{
    struct pg *admin = open_admin();
    pg_add(admin, stmt);
    pg_p_int(admin, pid);
    bool done = fly(admin, 5000) && pg_bool(admin, 0, 0, 0);
    pg_close(admin);
    return done;
}

static bool waits_for(int pid, struct slice event)
{
    struct pg *admin = open_admin();
    bool waits = false;
    for (int i = 0; i < 500 && !waits; i++) {
        pg_add(admin, ADMIN_STATE);
        pg_p_int(admin, pid);
        waits = fly(admin, 5000) && slice_eq(pg_bytes(admin, 0, 0, 0), event);
        usleep(10000);
    }
    pg_close(admin);
    return waits;
}

// --- Cases

static void a_flight_of_three_statements_commits(void)
{
    struct pg *pg = open_probe();
    pg_add_begin(pg);
    insert(pg, 1);
    pg_add(pg, COUNT);
    pg_p_int(pg, 1);
    pg_add_commit(pg);
    CHECK(fly(pg, 5000));
    CHECK(pg_committed(pg) && !pg_commit_unknown(pg));
    CHECK(pg_affected(pg, 1) == 1 && pg_rows(pg, 2) == 1 && pg_big(pg, 2, 0, 0) == 1);
    pg_close(pg);
    CHECK(count(1) == 1);
}

static void an_error_in_the_middle_leaves_the_connection_usable(void)
{
    struct pg *pg = open_probe();
    pg_add_begin(pg);
    insert(pg, 2);
    pg_add(pg, DIVIDE);
    pg_p_int(pg, 0);
    insert(pg, 3);
    pg_add_commit(pg);
    CHECK(!fly(pg, 5000));
    CHECK(strcmp(pg_sqlstate(pg), "22012") == 0 && pg_failure_of(pg) == PGF_DATA);
    CHECK(!pg_committed(pg) && !pg_commit_unknown(pg) && pg_alive(pg));
    CHECK(pg_affected(pg, 1) == 1 && pg_rows(pg, 2) == 0);
    CHECK(pg_rollback(pg) && pg_affected(pg, 1) == 1);
    CHECK(strcmp(pg_sqlstate(pg), "22012") == 0);
    CHECK(pid_of(pg) > 0);
    insert(pg, 1); // breaks the primary key
    CHECK(!fly(pg, 5000) && pg_failure_of(pg) == PGF_DATA && pg_rollback(pg));
    pg_close(pg);
    CHECK(count(2) == 0 && count(3) == 0);
}

static void a_transaction_of_several_flights_rolls_back(void)
{
    struct pg *pg = open_probe();
    pg_add_begin(pg);
    insert(pg, 4);
    CHECK(fly(pg, 5000));
    insert(pg, 5);
    CHECK(fly(pg, 5000));
    CHECK(pg_rollback(pg));
    pg_close(pg);
    CHECK(count(4) == 0 && count(5) == 0);
}

static void a_commit_that_is_answered_rollback_is_not_committed(void)
{
    struct pg *pg = open_probe();
    pg_add_begin(pg);
    insert(pg, 6);
    pg_add(pg, DIVIDE);
    pg_p_int(pg, 0);
    CHECK(!fly(pg, 5000));
    pg_add_commit(pg); // of a failed transaction: tag ROLLBACK, no error
    CHECK(!fly(pg, 5000));
    CHECK(!pg_committed(pg) && !pg_commit_unknown(pg) && pg_alive(pg));
    pg_close(pg);
    CHECK(count(6) == 0);
}

static void a_constraint_that_fails_at_commit_is_not_committed(void)
{
    struct pg *pg = open_probe();
    pg_add_begin(pg);
    pg_add(pg, DEFER);
    pg_p_int(pg, 999);
    pg_add_commit(pg);
    CHECK(!fly(pg, 5000));
    CHECK(!pg_committed(pg) && !pg_commit_unknown(pg));
    CHECK(pg_failure_of(pg) == PGF_DATA && pg_rollback(pg));
    pg_add(pg, DEFER); // without BEGIN it fails at the Sync
    pg_p_int(pg, 999);
    CHECK(!fly(pg, 5000) && pg_failure_of(pg) == PGF_DATA && pg_alive(pg));
    CHECK(pid_of(pg) > 0);
    pg_close(pg);
}

static void a_backend_killed_before_the_commit_is_known(void)
{
    struct pg *pg = open_probe();
    struct err err = {0};
    int pid = pid_of(pg);
    pg_add_begin(pg);
    insert(pg, 7);
    pg_add(pg, SLEEP);
    pg_p_double(pg, 10);
    pg_add_commit(pg);
    CHECK(pg_launch(pg, &err) && waits_for(pid, SLICE("PgSleep")));
    CHECK(admin_signal(ADMIN_TERMINATE, pid));
    CHECK(land(pg, &err) == PG_FAILED && !pg_alive(pg) && !pg_rollback(pg));
    CHECK(strcmp(pg_sqlstate(pg), "57P01") == 0 && pg_failure_of(pg) == PGF_OTHER);
    CHECK(!pg_committed(pg) && !pg_commit_unknown(pg));
    insert(pg, 7);
    CHECK(!fly(pg, 1000)); // a dead connection answers at once, and nothing was sent
    CHECK(!pg_commit_unknown(pg));
    pg_close(pg);
    CHECK(count(7) == 0);
}

static void a_timeout_with_a_stopped_backend_ends_at_the_deadline(void)
{
    struct pg *pg = open_probe();
    int pid = pid_of(pg);
    kill(pid, SIGSTOP);
    int64_t from_ms = clock_mono_ms();
    pg_add_begin(pg);
    insert(pg, 8);
    CHECK(!fly(pg, 700));
    int64_t took_ms = clock_mono_ms() - from_ms;
    CHECK(took_ms >= 690 && took_ms < 1200);
    CHECK(!pg_alive(pg) && !pg_commit_unknown(pg) && !pg_rollback(pg));
    pg_close(pg);
    kill(pid, SIGCONT);
}

static void a_timeout_during_commit_is_unknown(void)
{
    struct pg *pg = open_probe();
    int pid = pid_of(pg);
    pg_add_begin(pg);
    insert(pg, 9);
    CHECK(fly(pg, 5000));
    kill(pid, SIGSTOP);
    pg_add_commit(pg);
    CHECK(!fly(pg, 300));
    CHECK(!pg_committed(pg) && pg_commit_unknown(pg) && !pg_alive(pg));
    pg_close(pg);
    kill(pid, SIGCONT);
    for (int i = 0; i < 100 && count(9) != 1; i++)
        usleep(20000);
    CHECK(count(9) == 1); // it did happen
}

static void a_backend_killed_in_commit_is_unknown(void)
{
    struct pg *pg = open_probe();
    int pid = pid_of(pg);
    pg_add_begin(pg);
    insert(pg, 10);
    CHECK(fly(pg, 5000));
    CHECK(admin_signal(ADMIN_TERMINATE, pid));
    usleep(100000);
    pg_add_commit(pg); // meets a closed socket
    CHECK(!fly(pg, 3000));
    CHECK(!pg_committed(pg) && !pg_alive(pg));
    pg_close(pg);
    CHECK(count(10) == 0);
}

// Needs synchronous_standby_names to name a standby that is not there: the commit waits for ever.
static void a_cancelled_wait_for_the_standby_is_not_committed(void)
{
    struct pg *pg = open_probe();
    struct err err = {0};
    int pid = pid_of(pg);
    pg_add_begin(pg);
    insert(pg, 20);
    pg_add_commit(pg);
    CHECK(pg_launch(pg, &err) && waits_for(pid, SLICE("SyncRep")));
    CHECK(admin_signal(ADMIN_CANCEL, pid));
    CHECK(land(pg, &err) == PG_FAILED);
    printf("  (%s: %s)\n", current, err.msg);
    CHECK(!pg_committed(pg) && pg_commit_unknown(pg));
    CHECK(pg_alive(pg) && pg_rollback(pg) && pid_of(pg) == pid);
    pg_close(pg);
    CHECK(count(20) == 1); // in this server, but nowhere else
}

static void a_terminated_wait_for_the_standby_is_unknown(void)
{
    struct pg *pg = open_probe();
    struct err err = {0};
    int pid = pid_of(pg);
    pg_add_begin(pg);
    insert(pg, 21);
    pg_add_commit(pg);
    CHECK(pg_launch(pg, &err) && waits_for(pid, SLICE("SyncRep")));
    CHECK(admin_signal(ADMIN_TERMINATE, pid));
    CHECK(land(pg, &err) == PG_FAILED);
    CHECK(!pg_committed(pg) && pg_commit_unknown(pg) && !pg_alive(pg));
    pg_close(pg);
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct {
    const char *name;
    void (*run)(void);
} plain_cases[] =
        {
                CASE(a_flight_of_three_statements_commits),
                CASE(an_error_in_the_middle_leaves_the_connection_usable),
                CASE(a_transaction_of_several_flights_rolls_back),
                CASE(a_commit_that_is_answered_rollback_is_not_committed),
                CASE(a_constraint_that_fails_at_commit_is_not_committed),
                CASE(a_backend_killed_before_the_commit_is_known),
                CASE(a_timeout_with_a_stopped_backend_ends_at_the_deadline),
                CASE(a_timeout_during_commit_is_unknown),
                CASE(a_backend_killed_in_commit_is_unknown),
                CASE(a_flight_is_stepped_without_blocking),
                CASE(a_large_flight_is_stepped_both_ways),
                CASE(arrays_keep_null_and_empty),
                CASE(ten_thousand_elements_arrive),
                CASE(scalars_go_both_ways),
                CASE(a_script_names_the_line_of_its_error),
                CASE(a_missing_table_is_fatal_at_connect),
                CASE(the_second_host_is_tried),
                CASE(durability_on_is_taken),
},
  standby_cases[] =
          {
                  CASE(a_cancelled_wait_for_the_standby_is_not_committed),
                  CASE(a_terminated_wait_for_the_standby_is_unknown),
},
  swallow_cases[] =
          {
                  CASE(a_host_that_swallows_all_does_not_use_up_the_time),
},
  stopped_cases[] = {
          CASE(a_stopped_server_ends_connect_at_the_deadline),
};

#define RUN_ALL(cases)                                                                             \
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {                                                \
        current = (cases)[i].name;                                                                 \
        (cases)[i].run();                                                                          \
    }

// pg_probe CONNINFO plain | standby | stopped | swallow | refuse SETTING
int main(int argc, char **argv)
{
    assert(argc >= 3);
    setvbuf(stdout, NULL, _IOLBF, 0);
    conninfo = argv[1];
    current = argv[2];
    if (strcmp(argv[2], "plain") == 0)
        RUN_ALL(plain_cases)
    else if (strcmp(argv[2], "standby") == 0)
        RUN_ALL(standby_cases)
    else if (strcmp(argv[2], "swallow") == 0)
        RUN_ALL(swallow_cases)
    else if (strcmp(argv[2], "stopped") == 0)
        RUN_ALL(stopped_cases)
    else if (argc == 4)
        durability_off_is_refused(argv[3]);
    printf("%d failed\n", failures);
    return failures > 0;
}
