#include "dispatcher/send/peer.h"

#include "common/clock.h"
#include "tests/test.h"

// A peer without a network: answers from a script, and counts.
static struct rig {
    const char *script; // what is still to be received; "" = nothing now, NULL = closed
    bool send_fails, connect_fails, loud;
    int connects, drops, sent_messages;
    struct text sent;
} rig;

static bool rig_connect(struct peer *peer, int64_t left_ms)
{
    (void)peer;
    assert_true(left_ms > 0);
    rig.connects++;
    return !rig.connect_fails;
}

static void rig_drop(struct peer *peer)
{
    (void)peer;
    rig.drops++;
}

static enum peer_io_result rig_send(struct peer *peer, struct slice bytes, size_t *ret_n)
{
    (void)peer;
    if (rig.send_fails)
        return PEER_IO_CLOSED;
    assert_true(text_add(&rig.sent, bytes));
    if (bytes.len > 5 && memcmp(bytes.ptr + bytes.len - 5, "\r\n.\r\n", 5) == 0)
        rig.sent_messages++;
    *ret_n = bytes.len;
    return PEER_IO_OK;
}

// One line of the script at a time, as if each came alone.
static enum peer_io_result rig_receive(
        struct peer *peer, unsigned char *bytes, size_t max, size_t *ret_n)
{
    (void)peer;
    if (!rig.script)
        return PEER_IO_CLOSED;
    size_t n = strcspn(rig.script, "\n");
    if (rig.script[n] == '\0')
        return PEER_IO_AGAIN;
    assert_true(++n <= max);
    memcpy(bytes, rig.script, n);
    rig.script += n;
    if (strncmp(rig.script, "CLOSE", 5) == 0)
        rig.script = NULL;
    *ret_n = n;
    return PEER_IO_OK;
}

static bool rig_is_quiet(const struct peer *peer)
{
    (void)peer;
    return !rig.loud;
}

static const struct peer_io io = {
        .connect = rig_connect,
        .drop = rig_drop,
        .send = rig_send,
        .receive = rig_receive,
        .is_quiet = rig_is_quiet,
};

static struct transport_options options = {
        .transfers = 2, .connect_ms = 1000, .reply_ms = 1000, .final_reply_ms = 5000};
static struct finished finished;
static struct peer peers[2];
static struct delivery delivery;

static int set_up(void **state)
{
    (void)state;
    rig = (struct rig){.script = ""};
    text_init(&rig.sent, 1 << 16);
    finished = (struct finished){.end = &finished.first};
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        peers[i] = (struct peer){.io = &io, .options = &options, .finished = &finished};
        dialog_init(&peers[i].dialog);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    text_fini(&rig.sent);
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        dialog_fini(&peers[i].dialog);
        smtp_request_fini(&peers[i].request);
    }
    return 0;
}

static void start(struct peer *peer)
{
    struct smtp_request request = {
            .mail_from = xstrdup("shop@example.net"), .rcpt = xstrdup("ann@example.org")};
    text_init(&request.wire, 100);
    assert_true(text_str(&request.wire, "message\r\n.\r\n"));
    delivery = (struct delivery){.started_ms = clock_mono_ms()};
    finished = (struct finished){.end = &finished.first};
    peer_start(peer, &request, &delivery);
}

static bool ended(enum attempt_outcome outcome)
{
    return finished.first == &delivery && delivery.result.outcome == outcome;
}

static const char good[] = "250 ok\r\n250 ok\r\n354 go\r\n250 queued\r\n";

static void keep_one(struct peer *peer)
{
    start(peer);
    rig.script = good;
    peer_connected(peer);
    assert_true(ended(ATTEMPT_ACCEPTED));
    assert_int_equal(peer->state, PEER_IDLE);
}

static void keeps_the_connection_for_the_next(void **state)
{
    (void)state;
    keep_one(&peers[0]);
    assert_ptr_equal(peer_pick(peers, 2, (struct key){0}), &peers[0]);
    rig.script = good;
    start(&peers[0]);
    assert_true(ended(ATTEMPT_ACCEPTED));
    assert_int_equal(rig.connects, 1);
    assert_int_equal(rig.sent_messages, 2);
}

static void another_identity_takes_another_slot(void **state)
{
    (void)state;
    keep_one(&peers[0]);
    struct key other = {.bytes = {1}};
    assert_ptr_equal(peer_pick(peers, 2, other), &peers[1]);
    assert_int_equal(rig.drops, 0);
    peers[1].delivery = &delivery; // taken
    assert_ptr_equal(peer_pick(peers, 2, other), &peers[0]);
    assert_int_equal(peers[0].state, PEER_EMPTY);
    assert_int_equal(rig.drops, 1);
    peers[0].delivery = &delivery;
    assert_null(peer_pick(peers, 2, other));
}

static void a_kept_connection_that_spoke_up_is_not_used(void **state)
{
    (void)state;
    keep_one(&peers[0]);
    rig.loud = true;
    assert_ptr_equal(peer_pick(peers, 2, (struct key){0}), &peers[0]);
    assert_int_equal(peers[0].state, PEER_EMPTY);
}

static void a_stale_connection_is_replaced_once(void **state)
{
    (void)state;
    static const char *const ways[] = {NULL, "421 idle too long\r\n", "421 bye\r\nCLOSE"};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        assert_int_equal(tear_down(NULL), 0);
        assert_int_equal(set_up(NULL), 0);
        keep_one(&peers[0]);
        rig.script = ways[i];
        start(&peers[0]);
        assert_int_equal(peers[0].state, PEER_CONNECTING);
        assert_null(finished.first);
        rig.script = NULL; // and now it is a fresh one that closes: that ends the try
        peer_connected(&peers[0]);
        assert_true(ended(ATTEMPT_RETRY));
        assert_int_equal(rig.connects, 2);
        assert_int_equal(rig.sent_messages, 1);
    }
}

static void what_was_taken_on_a_kept_connection_is_never_said_again(void **state)
{
    (void)state;
    keep_one(&peers[0]);
    rig.script = "250 ok\r\n250 ok\r\n354 go\r\nCLOSE";
    start(&peers[0]);
    assert_true(ended(ATTEMPT_UNKNOWN));
    assert_int_equal(rig.connects, 1);
    assert_int_equal(rig.sent_messages, 2);
}

static void a_refused_mail_is_followed_by_rset(void **state)
{
    (void)state;
    start(&peers[0]);
    rig.script = "250 ok\r\n550 5.1.1 no\r\n";
    peer_connected(&peers[0]);
    assert_true(ended(ATTEMPT_REFUSED));
    assert_non_null(strstr(text_cstr(&rig.sent), "RSET\r\n"));
    assert_int_equal(peers[0].state, PEER_TALKING);
    rig.script = "250 ok\r\n";
    peer_pump(&peers[0]);
    assert_int_equal(peers[0].state, PEER_IDLE);
}

static void a_server_that_refuses_rset_is_left(void **state)
{
    (void)state;
    start(&peers[0]);
    rig.script = "250 ok\r\n550 5.1.1 no\r\n500 what\r\n";
    peer_connected(&peers[0]);
    assert_true(ended(ATTEMPT_REFUSED));
    assert_int_equal(peers[0].state, PEER_EMPTY);
}

static void what_a_closing_server_said_is_read_before_it_counts_as_lost(void **state)
{
    (void)state;
    start(&peers[0]);
    rig.send_fails = true;
    rig.script = "421 4.3.2 going down\r\nCLOSE";
    peer_connected(&peers[0]);
    assert_true(ended(ATTEMPT_RETRY));
    assert_int_equal(delivery.result.code, 421);
}

static void a_failed_send_alone_is_a_lost_connection(void **state)
{
    (void)state;
    start(&peers[0]);
    rig.send_fails = true;
    peer_connected(&peers[0]);
    assert_true(ended(ATTEMPT_RETRY));
    assert_int_equal(delivery.result.code, 0);
    assert_int_equal(peers[0].state, PEER_EMPTY);
}

static void each_wait_has_its_end(void **state)
{
    (void)state;
    start(&peers[0]);
    int64_t now = clock_mono_ms();
    assert_in_range(peers[0].due_ms, now + 2900, now + 3000); // connect + 2 replies
    peer_connected(&peers[0]);
    assert_in_range(peers[0].due_ms, now + 1000, now + 1100);
    rig.script = "250 ok\r\n250 ok\r\n354 go\r\n";
    peer_pump(&peers[0]);
    assert_in_range(peers[0].due_ms, now + 5000, now + 5100); // the last reply has longer
    peer_expire(&peers[0], peers[0].due_ms - 1);
    assert_null(finished.first);
    peer_expire(&peers[0], peers[0].due_ms);
    assert_true(ended(ATTEMPT_UNKNOWN));
}

static void an_idle_connection_is_closed_with_quit(void **state)
{
    (void)state;
    keep_one(&peers[0]);
    peer_expire(&peers[0], peers[0].due_ms);
    assert_int_equal(peers[0].state, PEER_EMPTY);
    assert_non_null(strstr(text_cstr(&rig.sent), "QUIT\r\n"));
}

static void a_connection_carries_a_bounded_number_of_mails(void **state)
{
    (void)state;
    keep_one(&peers[0]);
    int n = 1;
    while (peers[0].state == PEER_IDLE && n++ < 1000) {
        text_reset(&rig.sent);
        rig.script = good;
        start(&peers[0]);
        assert_true(ended(ATTEMPT_ACCEPTED));
    }
    assert_int_equal(n, 100);
}

static void no_connection_at_all_is_an_end_too(void **state)
{
    (void)state;
    rig.connect_fails = true;
    start(&peers[0]);
    assert_true(ended(ATTEMPT_RETRY));
    assert_int_equal(delivery.result.level, LEVEL_PROVIDER);
}

static void probe(struct peer *peer)
{
    struct smtp_request request = {.probe = true};
    delivery = (struct delivery){.started_ms = clock_mono_ms(), .probe = true};
    finished = (struct finished){.end = &finished.first};
    peer_start(peer, &request, &delivery);
}

static void a_probe_says_quit_and_nothing_else(void **state)
{
    (void)state;
    rig.script = good;
    probe(&peers[0]);
    assert_null(finished.first);
    peer_connected(&peers[0]);
    assert_true(ended(ATTEMPT_ACCEPTED));
    assert_string_equal(text_cstr(&rig.sent), "QUIT\r\n");
    assert_int_equal(peers[0].state, PEER_EMPTY);
    keep_one(&peers[0]);
    text_reset(&rig.sent);
    rig.script = good;
    probe(&peers[0]);
    assert_true(ended(ATTEMPT_ACCEPTED));
    assert_string_equal(text_cstr(&rig.sent), "QUIT\r\n");
}

static void a_probe_that_is_not_let_in_says_why(void **state)
{
    (void)state;
    probe(&peers[0]);
    peer_failed(&peers[0], SMTP_NO_AUTH);
    assert_true(ended(ATTEMPT_RETRY));
    assert_non_null(strstr(delivery.result.detail, "sign-in failed"));
}

#define with_rig(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            with_rig(keeps_the_connection_for_the_next),
            with_rig(another_identity_takes_another_slot),
            with_rig(a_kept_connection_that_spoke_up_is_not_used),
            with_rig(a_stale_connection_is_replaced_once),
            with_rig(what_was_taken_on_a_kept_connection_is_never_said_again),
            with_rig(a_refused_mail_is_followed_by_rset),
            with_rig(a_server_that_refuses_rset_is_left),
            with_rig(what_a_closing_server_said_is_read_before_it_counts_as_lost),
            with_rig(a_failed_send_alone_is_a_lost_connection),
            with_rig(each_wait_has_its_end),
            with_rig(an_idle_connection_is_closed_with_quit),
            with_rig(a_connection_carries_a_bounded_number_of_mails),
            with_rig(no_connection_at_all_is_an_end_too),
            with_rig(a_probe_says_quit_and_nothing_else),
            with_rig(a_probe_that_is_not_let_in_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
