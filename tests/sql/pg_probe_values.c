#include <poll.h>

#include "common/clock.h"
#include "tests/sql/pg_probe.h"

void a_large_flight_is_stepped_both_ways(void)
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
    CHECK(fly(pg, 60000)); // under valgrind it takes half a minute
    struct slice back = pg_array_bytes(pg, 1, 0, 0, 0);
    CHECK(back.len == BYTES && back.ptr[BYTES - 1] == 7 && pg_int(pg, 1, 0, 1) == BYTES);
    CHECK(!pg_too_large(pg));
    for (int i = 0; i < 7; i++) {
        pg_add(pg, ECHO_BYTEAS);
        pg_p_byteas(pg);
        pg_e_bytes(pg, (struct slice){bytes, BYTES});
    }
    CHECK(!fly(pg, 60000) && pg_too_large(pg)); // 140 MiB
    CHECK(pg_alive(pg) && pid_of(pg) > 0);
    pg_close(pg);
}

void arrays_keep_null_and_empty(void)
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

void ten_thousand_elements_arrive(void)
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

void scalars_go_both_ways(void)
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

void a_script_names_the_line_of_its_error(void)
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

void a_flight_is_stepped_without_blocking(void)
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
