#include "common/clock.h"
#include "tests/sql/pg_probe.h"

void a_missing_table_is_fatal_at_connect(void)
{
    struct err err = {0};
    const struct pg_stmt bad[] = {{"bad_table", "SELECT 1 FROM no_such_table"}};
    struct pg_options options = {.conninfo = conninfo, .stmts = bad, .n_stmts = 1};
    CHECK(pg_connect(&options, &err) == NULL);
    CHECK(err.kind == ERR_FATAL && strstr(err.msg, "bad_table"));
}

void the_second_host_is_tried(void)
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

void durability_off_is_refused(const char *setting)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .demand_durable = true};
    struct pg *pg = pg_connect(&options, &err);
    CHECK(pg == NULL && err.kind == ERR_FATAL && strstr(err.msg, setting));
    pg_close(pg);
}

void durability_on_is_taken(void)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .demand_durable = true};
    struct pg *pg = pg_connect(&options, &err);
    CHECK(pg != NULL);
    pg_close(pg);
}

void a_stopped_server_ends_connect_at_the_deadline(void)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .connect_timeout_ms = 800};
    int64_t from_ms = clock_mono_ms();
    CHECK(pg_connect(&options, &err) == NULL && err.kind == ERR_TEMP);
    int64_t took_ms = clock_mono_ms() - from_ms;
    CHECK(took_ms >= 790 && took_ms < 1500);
}

// conninfo names a host that never answers, then the server.
void a_host_that_swallows_all_does_not_use_up_the_time(void)
{
    struct err err = {0};
    struct pg_options options = {.conninfo = conninfo, .connect_timeout_ms = 2000};
    struct pg *pg = pg_connect(&options, &err);
    CHECK(pg && pg_alive(pg));
    pg_close(pg);
}
