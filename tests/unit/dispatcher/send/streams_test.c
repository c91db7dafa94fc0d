// What libcurl's words say of an HTTP/2 request, and who goes ahead on a new connection.
#include "dispatcher/send/streams.h"
#include "tests/test.h"

#define OPENED "Connected to h (127.0.0.1) port 443 (#4)\n"
#define REUSED "Re-using existing connection #4 with host h\n"
#define STREAM5 "Using Stream ID: 5 (easy handle 0x55)\n"
#define DIED "Connection died, retrying a fresh connect (retry count: 1)\n"

static void what_the_peer_did_not_process_is_known_by_its_words(void **state)
{
    (void)state;
    const struct {
        const char *name, *lines[5];
        bool want;
    } rows[] = {
            {"nothing was said", {NULL}, false},
            {"the connection died", {REUSED, STREAM5, DIED}, false},
            {"refused", {OPENED, STREAM5, "REFUSED_STREAM, retrying a fresh connect\n"}, true},
            {"refused, and begun again",
                    {OPENED, STREAM5, "REFUSED_STREAM, retrying a fresh connect\n", DIED,
                            "Connected to h (127.0.0.1) port 443 (#5)\n"},
                    true},
            {"refused, begun again and sent there",
                    {STREAM5, "REFUSED_STREAM, retrying a fresh connect\n", DIED,
                            "Connected to h (127.0.0.1) port 443 (#5)\n", STREAM5},
                    false},
            {"above the last", {REUSED, STREAM5, "recveived GOAWAY, error=0, last_stream=3\n"},
                    true},
            {"above the last, and begun again",
                    {REUSED, STREAM5, "recveived GOAWAY, error=0, last_stream=3\n", DIED}, true},
            {"the last", {REUSED, STREAM5, "recveived GOAWAY, error=0, last_stream=5\n"}, false},
            {"the last, and the connection died",
                    {REUSED, STREAM5, "recveived GOAWAY, error=0, last_stream=5\n", DIED}, false},
            {"no stream yet", {REUSED, "recveived GOAWAY, error=0, last_stream=3\n"}, false},
            {"words of another version", {REUSED, "[HTTP/2] [5] OPENED stream\n"}, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct goaways goaways = {0};
        struct stream stream = {0};
        for (size_t j = 0; j < 5 && rows[i].lines[j]; j++)
            stream_line(&stream, &goaways, slice_of(rows[i].lines[j]));
        assert_row(stream_not_taken(&stream, &goaways) == rows[i].want, rows[i].name);
    }
}

#define REFUSED "REFUSED_STREAM, retrying a fresh connect\n"

// libcurl 7.88 sets a flag when a stream is refused, and clears it only where it says so: not on a
// kept connection.
static void a_refusal_from_before_is_not_believed(void **state)
{
    (void)state;
    struct goaways goaways = {0};
    struct stream stream = {0};
    stream_begin(&stream);
    stream_line(&stream, &goaways, SLICE(REUSED));
    stream_line(&stream, &goaways, SLICE(STREAM5));
    stream_line(&stream, &goaways, SLICE(DIED));
    stream_line(&stream, &goaways, SLICE(OPENED));
    stream_line(&stream, &goaways, SLICE(STREAM5));
    stream_line(&stream, &goaways, SLICE(REFUSED));
    assert_false(stream_not_taken(&stream, &goaways));
    stream_line(&stream, &goaways, SLICE(DIED));
    assert_false(stream_not_taken(&stream, &goaways));
    // What was told of is forgotten.
    stream_begin(&stream);
    stream_line(&stream, &goaways, SLICE(OPENED));
    stream_line(&stream, &goaways, SLICE(STREAM5));
    stream_line(&stream, &goaways, SLICE(REFUSED));
    assert_true(stream_not_taken(&stream, &goaways));
    // One that ended without a word may have been refused.
    stream_begin(&stream);
    assert_true(stream.suspect);
}

static void a_goaway_holds_for_all_on_its_connection_and_for_no_other(void **state)
{
    (void)state;
    struct goaways goaways = {0};
    struct stream heard = {0}, above = {0}, elsewhere = {0};
    stream_line(&heard, &goaways, SLICE(REUSED));
    assert_true(stream_line(&heard, &goaways, SLICE("recveived GOAWAY, error=0, last_stream=3\n")));
    stream_line(&above, &goaways, SLICE(REUSED));
    stream_line(&above, &goaways, SLICE(STREAM5));
    stream_line(&elsewhere, &goaways, SLICE("Re-using existing connection #5 with host h\n"));
    stream_line(&elsewhere, &goaways, SLICE(STREAM5));
    assert_true(stream_not_taken(&above, &goaways));
    assert_false(stream_not_taken(&elsewhere, &goaways));
}

static struct key peer(unsigned char n)
{
    return (struct key){{n}};
}

static void one_goes_ahead_until_something_was_answered(void **state)
{
    (void)state;
    struct scouts scouts = {0};
    bool scout = false;
    assert_true(scouts_may_go(&scouts, peer(1), 1000, &scout));
    assert_true(scout);
    assert_false(scouts_may_go(&scouts, peer(1), 1000, &scout));
    assert_true(scouts_may_go(&scouts, peer(2), 1000, &scout)); // another peer's
    scouts_prove(&scouts, peer(1), 1000);
    scouts_back(&scouts, peer(1), true);
    assert_true(scouts_may_go(&scouts, peer(1), 1000, &scout));
    assert_false(scout);
    scouts_forget(&scouts, peer(1));
    assert_true(scouts_may_go(&scouts, peer(1), 1000, &scout));
    assert_true(scout);
}

static void one_that_was_not_answered_is_followed_by_another(void **state)
{
    (void)state;
    struct scouts scouts = {0};
    bool scout = false;
    assert_true(scouts_may_go(&scouts, peer(1), 1000, &scout));
    scouts_back(&scouts, peer(1), true);
    assert_true(scouts_may_go(&scouts, peer(1), 1000, &scout));
    assert_true(scout);
    scouts_prove(&scouts, peer(1), 1000);
    scouts_back(&scouts, peer(1), true);
    assert_true(scouts_may_go(&scouts, peer(1), 1000 + SCOUT_PROVEN_MS, &scout));
    assert_true(scout);
}

static void more_peers_than_rows_do_not_wait_for_each_other(void **state)
{
    (void)state;
    struct scouts scouts = {0};
    bool scout = false;
    for (unsigned char n = 1; n <= SCOUTS + 3; n++)
        assert_true(scouts_may_go(&scouts, peer(n), 1000, &scout));
    assert_false(scout);
    assert_false(scouts_may_go(&scouts, peer(1), 1000, &scout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(what_the_peer_did_not_process_is_known_by_its_words),
            cmocka_unit_test(a_refusal_from_before_is_not_believed),
            cmocka_unit_test(a_goaway_holds_for_all_on_its_connection_and_for_no_other),
            cmocka_unit_test(one_goes_ahead_until_something_was_answered),
            cmocka_unit_test(one_that_was_not_answered_is_followed_by_another),
            cmocka_unit_test(more_peers_than_rows_do_not_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
