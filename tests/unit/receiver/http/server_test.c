#include "common/log.h"
#include "common/metrics.h"
#include "tests/unit/receiver/http/play.h"

#define HEAD "Host: a\r\nConnection: close\r\n"
#define GOOD "POST /hooks/shop HTTP/1.1\r\n" HEAD "X-Token: abc\r\nContent-Length: 2\r\n\r\n{}"
#define APP(key)                                                                                   \
    "POST /hooks/app HTTP/1.1\r\n" HEAD "Idempotency-Key: " key "\r\nContent-Length: 2\r\n\r\n{}"

static void answers_when_the_arrival_comes_back(void **state)
{
    (void)state;
    ask(GOOD);
    assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(got, "\r\n\r\n{\"received\":true}\n"));
    assert_non_null(strstr(got, "Connection: close\r\n"));
    assert_non_null(strstr(play.headers, "x-token: sha256:ba7816bf8f01\n"));
}

static void answers_each_case_of_the_table(void **state)
{
    (void)state;
    static const struct {
        const char *name, *request, *status, *also;
    } rows[] = {
            {"unknown source", "POST /hooks/nobody HTTP/1.1\r\n" HEAD "\r\n", "404 Not Found",
                    "\"code\":\"unknown_source\""},
            {"dots are not resolved", "POST /x/../hooks/shop HTTP/1.1\r\n" HEAD "\r\n",
                    "404 Not Found", "\"code\""},
            {"wrong method", "GET /hooks/shop HTTP/1.1\r\n" HEAD "\r\n", "405 Method Not Allowed",
                    "allow: POST\r\n"},
            {"HEAD", "HEAD /hooks/shop HTTP/1.1\r\n" HEAD "\r\n", "405 Method Not Allowed",
                    "allow: POST\r\n"},
            {"any content type",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD
                    "Content-Type: image/png\r\nContent-Length: 2\r\n\r\n{}",
                    "200 OK", "received"},
            {"empty body", "POST /hooks/shop HTTP/1.1\r\n" HEAD "Content-Length: 0\r\n\r\n",
                    "200 OK", "received"},
            {"no length", "POST /hooks/shop HTTP/1.1\r\n" HEAD "\r\n", "200 OK", "received"},
            {"chunked",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD
                    "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                    "200 OK", "received"},
            {"length and coding",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD
                    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\n\r\n",
                    "400 Bad Request", "\"code\":\"malformed_http\""},
            {"two lengths",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD
                    "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
                    "400 Bad Request", "\"code\":\"malformed_http\""},
            {"two hosts",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD "Host: b\r\nContent-Length: 2\r\n\r\n{}",
                    "400 Bad Request", "\"code\":\"malformed_http\""},
            {"folded",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD
                    "X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}",
                    "400 Bad Request", ""},
            {"bare LF", "POST /hooks/shop HTTP/1.1\nHost: a\nContent-Length: 2\n\n{}",
                    "400 Bad Request", "\"code\":\"malformed_http\""},
            {"no HTTP", "nonsense\r\n\r\n", "400 Bad Request", ""},
            {"bad length", "POST /hooks/shop HTTP/1.1\r\n" HEAD "Content-Length: x\r\n\r\n", "400 ",
                    "\"code\":\"malformed_http\""},
            {"larger than the host's bound",
                    "POST /hooks/app HTTP/1.1\r\n" HEAD "Content-Length: 5000\r\n\r\n", "413 ",
                    "\"code\":\"too_large\""},
            {"larger than the source's",
                    "POST /hooks/shop HTTP/1.1\r\n" HEAD "Content-Length: 65\r\n\r\n"
                    "0123456789012345678901234567890123456789"
                    "0123456789012345678901234",
                    "413 ", "\"code\":\"too_large\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask(rows[i].request);
        char want[64];
        snprintf(want, sizeof want, "HTTP/1.1 %s", rows[i].status);
        assert_row(strncmp(got, want, strlen(want)) == 0, rows[i].name);
        assert_row(strstr(got, rows[i].also), rows[i].name);
        bool error = rows[i].status[0] == '4' && rows[i].also[0];
        assert_row(
                !error || strstr(got, "content-type: application/problem+json\r\n"), rows[i].name);
    }
}

static void refuses_by_the_verdict_without_a_word_why(void **state)
{
    (void)state;
    play.verdict = VERDICT_REFUSED;
    assert_non_null(strstr(ask(GOOD), " 401 Unauthorized\r\n"));
    assert_null(strstr(got, "signature_mismatch"));
    assert_non_null(strstr(got, "www-authenticate: "));
    play.verdict = VERDICT_NO_SECRET;
    assert_non_null(strstr(ask(GOOD), " 503 Service Unavailable\r\n"));
    assert_non_null(strstr(got, "retry-after: 5\r\n"));
    play.verdict = VERDICT_NO_KEY;
    assert_non_null(strstr(ask(GOOD), " 400 Bad Request\r\n"));
    assert_int_equal(play.taken, 0);
}

static void says_503_when_it_can_not_store(void **state)
{
    (void)state;
    play.full = true;
    assert_non_null(strstr(ask(GOOD), "\"code\":\"queue_full\""));
    play.full = false;
    play.away = true;
    assert_non_null(strstr(ask(GOOD), "\"code\":\"unavailable\""));
    assert_non_null(strstr(got, "retry-after: 5\r\n"));
    play.no_policy = true;
    assert_non_null(strstr(ask(GOOD), " 503 "));
}

static void says_503_at_the_deadline_even_if_nothing_comes_back(void **state)
{
    (void)state;
    set_answers(NEVER);
    assert_non_null(strstr(ask(GOOD), "\"code\":\"deadline\""));
    assert_int_equal(play.taken, 1);
    release(); // comes back after its request was answered: dropped
    set_answers(AT_ONCE);
    assert_non_null(strstr(ask(GOOD), " 200 OK"));
}

static void says_409_to_a_copy_whose_first_is_still_under_way(void **state)
{
    (void)state;
    set_answers(NEVER);
    int first = dial(), copy = dial(), other = dial();
    send_text(first, APP("k1"));
    usleep(50000);
    send_text(copy, APP("k1"));
    send_text(other, APP("k2"));
    assert_non_null(strstr(read_all(first), " 503 "));
    assert_non_null(strstr(read_all(copy), " 409 Conflict\r\n"));
    assert_non_null(strstr(read_all(other), " 503 "));
    close(first);
    close(copy);
    close(other);
}

static void forgets_requests_whose_client_is_gone(void **state)
{
    (void)state;
    set_answers(LATER);
    for (int i = 0; i < 20; i++) {
        int fd = dial();
        send_text(fd, GOOD);
        usleep(2000);
        struct linger now = {.l_onoff = 1};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(fd); // a reset
    }
    usleep(50000);
    release();
    set_answers(AT_ONCE);
    assert_non_null(strstr(ask(GOOD), " 200 OK"));
}

static void keeps_connections_open_between_requests(void **state)
{
    (void)state;
    int fd = dial();
    for (int i = 0; i < 3; i++) {
        send_text(fd, "POST /hooks/shop HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
        ssize_t n = recv(fd, got, sizeof got - 1, 0);
        assert_true(n > 0);
        got[n] = '\0';
        assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
    }
    // Two requests in one packet, the second one malformed: the first is still answered.
    send_text(fd, "POST /hooks/shop HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
                  "POST /hooks/shop HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    read_all(fd);
    assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(got, "HTTP/1.1 400 Bad Request\r\n"));
    close(fd);
}

static void waits_with_connections_beyond_its_bound(void **state)
{
    (void)state;
    int idle[16];
    for (size_t i = 0; i < ARRAY_LEN(idle); i++)
        idle[i] = dial();
    usleep(50000);
    int fd = dial();
    send_text(fd, GOOD);
    struct timeval wait = {.tv_usec = 100000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    assert_string_equal(read_all(fd), "");
    close(idle[0]);
    wait.tv_sec = 3;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    assert_non_null(strstr(read_all(fd), " 200 OK"));
    close(fd);
    for (size_t i = 1; i < ARRAY_LEN(idle); i++)
        close(idle[i]);
}

static void counts_by_source_and_outcome(void **state)
{
    (void)state;
    AUTO_TEXT struct text out;
    text_init(&out, 1 << 20);
    assert_true(metrics_write(&out));
    const char *text = text_cstr(&out);
    assert_non_null(
            strstr(text, "pawl_webhook_requests_total{source=\"shop\",outcome=\"rejected\"} "));
    assert_non_null(
            strstr(text, "pawl_webhook_requests_total{source=\"unknown\",outcome=\"rejected\"} "));
    assert_non_null(
            strstr(text, "pawl_webhook_rejected_total{source=\"shop\",reason=\"too_large\"} 1\n"));
    assert_non_null(strstr(
            text, "pawl_webhook_rejected_total{source=\"unknown\",reason=\"two_lengths\"} 1\n"));
    assert_non_null(strstr(text, "pawl_inflight{component=\"receiver\"} 0\n"));
    assert_null(strstr(text, "nobody"));
}

// Last: the server does not come back.
static void drains_what_is_parked_and_closes_what_is_idle(void **state)
{
    (void)state;
    set_answers(LATER);
    int idle = dial(), busy = dial();
    send_text(busy, "POST /hooks/shop HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
    usleep(50000);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop, NULL), 0);
    assert_string_equal(read_all(idle), "");
    release();
    read_all(busy);
    assert_non_null(strstr(got, " 200 OK\r\n"));
    assert_non_null(strstr(got, "Connection: close\r\n"));
    pthread_join(thread, NULL);
    close(idle);
    close(busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup(answers_when_the_arrival_comes_back, reset),
            cmocka_unit_test_setup(answers_each_case_of_the_table, reset),
            cmocka_unit_test_setup(refuses_by_the_verdict_without_a_word_why, reset),
            cmocka_unit_test_setup(says_503_when_it_can_not_store, reset),
            cmocka_unit_test_setup(says_503_at_the_deadline_even_if_nothing_comes_back, reset),
            cmocka_unit_test_setup(says_409_to_a_copy_whose_first_is_still_under_way, reset),
            cmocka_unit_test_setup(forgets_requests_whose_client_is_gone, reset),
            cmocka_unit_test_setup(keeps_connections_open_between_requests, reset),
            cmocka_unit_test_setup(waits_with_connections_beyond_its_bound, reset),
            cmocka_unit_test_setup(counts_by_source_and_outcome, reset),
            cmocka_unit_test_setup(drains_what_is_parked_and_closes_what_is_idle, reset),
    };
    log_init("test", true, LOG_LVL_ERROR); // refusals are what is tested here
    return cmocka_run_group_tests(tests, start, NULL);
}
