// pg_probe.c: drives common/pg against a real server; tests/sql/test_pg.py starts it and disturbs
// the server while it waits. Usage: pg_probe CONNINFO; exit 0 when every case held.
#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/pg/pg.h"

enum { INSERT, COUNT, DIVIDE, PIDS, ECHO_TEXTS, ECHO_INTS, SLEEP, DEFER, SCALARS, ECHO_BYTEAS };
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

static const char *conninfo;
static int failures;
static const char *current;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAILED %s: line %d: %s\n", current, __LINE__, #condition);                     \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

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

static struct pg *open_probe(void)
{
    return open_with(stmts, ARRAY_LEN(stmts));
}

static struct pg *open_admin(void)
{
    return open_with(admin_stmts, ARRAY_LEN(admin_stmts));
}

static bool fly(struct pg *pg, int timeout_ms)
{
    struct err err = {0};
    bool ok = pg_fly(pg, clock_mono_ms() + timeout_ms, &err);
    if (!ok)
        printf("  (%s: %s [%s])\n", current, err.msg, pg_sqlstate(pg));
    CHECK(ok || err.msg[0] != '\0');
    return ok;
}

static int64_t count(int id)
{
    struct pg *pg = open_probe();
    pg_add(pg, COUNT);
    pg_p_int(pg, id);
    int64_t n = fly(pg, 5000) ? pg_big(pg, 0, 0, 0) : -1;
    pg_close(pg);
    return n;
}

static int pid_of(struct pg *pg)
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

static void a_flight_is_stepped_without_blocking(void)
{
    struct pg *pg = open_probe();
    struct err err = {0};
    pg_add(pg, SLEEP);
    pg_p_double(pg, 0.3);
    int64_t from_ms = clock_mono_ms();
    CHECK(pg_launch(pg, &err) && pg_step(pg, &err) == PG_WAIT);
    CHECK(clock_mono_ms() - from_ms < 200);
    enum pg_progress progress = PG_WAIT;
    int turns = 0;
    while (progress == PG_WAIT && turns++ < 50) {
        struct pollfd ready = {.fd = pg_fd(pg), .events = pg_events(pg)};
        poll(&ready, 1, 1000);
        progress = pg_step(pg, &err);
    }
    CHECK(progress == PG_DONE && turns < 10);
    CHECK(pg_rows(pg, 0) == 1);
    pg_close(pg);
}

static void a_large_flight_is_stepped_both_ways(void)
{
    // Larger than all socket buffers in both directions.
    enum { BYTES = 20 << 20 };
    AUTO_FREE unsigned char *bytes = xcalloc(1, BYTES);
    bytes[BYTES - 1] = 7;
    struct pg *pg = open_probe();
    for (int i = 0; i < 2; i++) {
        pg_add(pg, ECHO_BYTEAS);
        pg_p_byteas(pg);
        pg_e_bytes(pg, (struct slice){bytes, BYTES});
    }
    CHECK(fly(pg, 20000));
    struct slice back = pg_array_bytes(pg, 1, 0, 0, 0);
    CHECK(back.len == BYTES && back.ptr[BYTES - 1] == 7 && pg_int(pg, 1, 0, 1) == BYTES);
    for (int i = 0; i < 4; i++) {
        pg_add(pg, ECHO_BYTEAS);
        pg_p_byteas(pg);
        pg_e_bytes(pg, (struct slice){bytes, BYTES});
    }
    CHECK(!fly(pg, 20000)); // 80 MiB
    CHECK(pg_alive(pg) && pid_of(pg) > 0);
    pg_close(pg);
}

static void arrays_keep_null_and_empty(void)
{
    struct pg *pg = open_probe();
    pg_add(pg, ECHO_TEXTS);
    pg_p_texts(pg);
    pg_e_bytes(pg, SLICE("one"));
    pg_e_null(pg);
    pg_e_bytes(pg, SLICE(""));
    pg_e_bytes(pg, SLICE("vier"));
    pg_add(pg, ECHO_TEXTS);
    pg_p_texts(pg);
    pg_add(pg, ECHO_TEXTS);
    pg_p_null(pg);
    CHECK(fly(pg, 5000));
    CHECK(pg_array_len(pg, 0, 0, 0) == 4 && pg_int(pg, 0, 0, 1) == 4);
    CHECK(slice_eq(pg_array_bytes(pg, 0, 0, 0, 3), SLICE("vier")));
    CHECK(pg_array_bytes(pg, 0, 0, 0, 1).ptr == NULL);
    CHECK(pg_array_bytes(pg, 0, 0, 0, 2).ptr && pg_array_bytes(pg, 0, 0, 0, 2).len == 0);
    CHECK(slice_eq(pg_array_bytes(pg, 0, 0, 0, 0), SLICE("one")));
    CHECK(pg_array_len(pg, 1, 0, 0) == 0 && pg_int(pg, 1, 0, 1) == 0 && !pg_bool(pg, 1, 0, 2));
    CHECK(pg_null(pg, 2, 0, 0) && pg_array_len(pg, 2, 0, 0) == 0 && pg_bool(pg, 2, 0, 2));
    pg_close(pg);
}

static void ten_thousand_elements_arrive(void)
{
    enum { N = 10000 };
    struct pg *pg = open_probe();
    pg_add(pg, ECHO_INTS);
    pg_p_ints(pg);
    for (int i = 0; i < N; i++)
        pg_e_int(pg, i - 10);
    CHECK(fly(pg, 5000));
    CHECK(pg_array_len(pg, 0, 0, 0) == N);
    int64_t sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += pg_array_big(pg, 0, 0, 0, i);
    CHECK(sum == pg_big(pg, 0, 0, 1) && sum == (int64_t)N * (N - 1) / 2 - 10 * N);
    pg_close(pg);
}

static void scalars_go_both_ways(void)
{
    struct pg *pg = open_probe();
    struct key key = key_derive(&SLICE("probe"), 1);
    pg_add(pg, SCALARS);
    pg_p_big(pg, INT64_MIN);
    pg_p_bool(pg, true);
    pg_p_double(pg, -2.5);
    pg_p_text(pg, SLICE(""));
    pg_p_bytea(pg, (struct slice){(const unsigned char *)"a\0b", 3});
    pg_p_uuid(pg, key);
    pg_p_null(pg);
    pg_p_uuids(pg);
    pg_e_uuid(pg, key);
    pg_p_bools(pg);
    pg_e_bool(pg, true);
    pg_p_doubles(pg);
    pg_e_double(pg, 1.5);
    pg_p_bigs(pg);
    pg_e_big(pg, -1);
    CHECK(fly(pg, 5000));
    CHECK(pg_big(pg, 0, 0, 0) == INT64_MIN && pg_bool(pg, 0, 0, 1));
    double double_back = pg_double(pg, 0, 0, 2);
    CHECK(double_back < -2.4 && double_back > -2.6);
    CHECK(!pg_null(pg, 0, 0, 3) && pg_bytes(pg, 0, 0, 3).len == 0);
    CHECK(pg_bytes(pg, 0, 0, 4).len == 3 && memcmp(pg_bytes(pg, 0, 0, 4).ptr, "a\0b", 3) == 0);
    struct key back = pg_uuid(pg, 0, 0, 5);
    CHECK(memcmp(&back, &key, sizeof key) == 0);
    CHECK(pg_null(pg, 0, 0, 6) && pg_int(pg, 0, 0, 6) == 0);
    CHECK(pg_array_bytes(pg, 0, 0, 7, 0).len == KEY_BYTES && pg_array_len(pg, 0, 0, 8) == 1);
    CHECK(pg_array_big(pg, 0, 0, 10, 0) == -1);
    pg_close(pg);
}

static void a_script_names_the_line_of_its_error(void)
{
    struct pg *pg = open_probe();
    struct err err = {0};
    CHECK(!pg_script(pg, "SELECT 1; -- \xc3\xa9\nSELECT 2;\nSELEC 3;", &err));
    CHECK(strncmp(err.msg, "line 3: ", 8) == 0 && strcmp(pg_sqlstate(pg), "42601") == 0);
    CHECK(pg_script(pg, "BEGIN; INSERT INTO probe VALUES(30); SELECT 1", &err));
    CHECK(!pg_script(pg, "INSERT INTO probe VALUES(30)", &err) && pg_rollback(pg));
    CHECK(pid_of(pg) > 0 && count(30) == 0);
    pg_close(pg);
}

static void a_missing_table_is_fatal_at_connect(void)
{
    struct err err = {0};
    const struct pg_stmt bad[] = {{"bad_table", "SELECT 1 FROM no_such_table"}};
    struct pg_options options = {.conninfo = conninfo, .stmts = bad, .n_stmts = 1};
    CHECK(pg_connect(&options, &err) == NULL);
    CHECK(err.kind == ERR_FATAL && strstr(err.msg, "bad_table"));
}

static void the_second_host_is_tried(void)
{
    struct err err = {0};
    AUTO_FREE char *list = xcalloc(1, 1000);
    const char *host = strstr(conninfo, "host=");
    snprintf(list, 1000, "host=127.0.0.1,%.*s port=1,5432 dbname=pawl user=pawl",
            (int)strcspn(host + 5, " "), host + 5);
    struct pg_options options = {.conninfo = list, .connect_timeout_ms = 4000};
    struct pg *pg = pg_connect(&options, &err);
    CHECK(pg != NULL);
    pg_close(pg);
    options.conninfo = "host=127.0.0.1 port=1 dbname=pawl";
    CHECK(pg_connect(&options, &err) == NULL && err.kind == ERR_TEMP);
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

static void durability_off_is_refused(const char *setting)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .demand_durable = true};
    struct pg *pg = pg_connect(&options, &err);
    CHECK(pg == NULL && err.kind == ERR_FATAL && strstr(err.msg, setting));
    pg_close(pg);
}

static void durability_on_is_taken(void)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .demand_durable = true};
    struct pg *pg = pg_connect(&options, &err);
    CHECK(pg != NULL);
    pg_close(pg);
}

static void a_stopped_server_ends_connect_at_the_deadline(void)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .connect_timeout_ms = 800};
    int64_t from_ms = clock_mono_ms();
    CHECK(pg_connect(&options, &err) == NULL && err.kind == ERR_TEMP);
    int64_t took_ms = clock_mono_ms() - from_ms;
    CHECK(took_ms >= 790 && took_ms < 1500);
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
  stopped_cases[] = {
          CASE(a_stopped_server_ends_connect_at_the_deadline),
};

#define RUN_ALL(cases)                                                                             \
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {                                                \
        current = (cases)[i].name;                                                                 \
        (cases)[i].run();                                                                          \
    }

// pg_probe CONNINFO plain | standby | stopped | refuse SETTING
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
    else if (strcmp(argv[2], "stopped") == 0)
        RUN_ALL(stopped_cases)
    else if (argc == 4)
        durability_off_is_refused(argv[3]);
    printf("%d failed\n", failures);
    return failures > 0;
}
