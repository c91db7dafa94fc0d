#include "dispatcher/send/http.h"
#include "tests/test.h"

#include <stdio.h>

static void every_control_character_is_refused_in_a_header(void **state)
{
    (void)state;
    static const char *const around[] = {"x@y", "@x", "x@", "x@\nInjected: 1", "a@ b: c"};
    size_t vectors = 0;
    for (int c = 0; c < 0x80; c++) {
        if (c >= 0x20 && c != 0x7f)
            continue;
        for (size_t i = 0; i < ARRAY_LEN(around); i++, vectors++) {
            AUTO_HTTP_REQUEST struct http_request request = {0};
            struct err err = {0};
            char value[40];
            snprintf(value, sizeof value, "%s", around[i]);
            struct slice bytes = {(const unsigned char *)value, strlen(value)};
            *strchr(value, '@') = (char)c;
            assert_true(http_request_begin(&request, "https://x", "/", &err));
            assert_false(http_head_add(&request, "X-Test", bytes, &err));
            assert_false(http_head_secret(&request, "X-Test", "Bearer ", bytes, &err));
            assert_int_equal(err.kind, ERR_INPUT);
            assert_int_equal(request.head.len, 0);
        }
    }
    assert_true(vectors >= 50);
}

static void a_header_name_is_a_token(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "A B", "A:", "A\r\nB", "A\n", "\xc3\xa4", "A(", "A\t"};
    AUTO_HTTP_REQUEST struct http_request request = {0};
    struct err err = {0};
    assert_true(http_request_begin(&request, "https://x", "/", &err));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_row(!http_head_add(&request, bad[i], SLICE("v"), &err), bad[i]);
    assert_true(http_head_add(&request, "X-Good_1", SLICE("a \"b\""), &err));
    assert_true(http_head_basic(&request, SLICE("user"), SLICE("pass"), &err));
    assert_string_equal(
            text_cstr(&request.head), "X-Good_1: a \"b\"\r\nAuthorization: Basic dXNlcjpwYXNz\r\n");
}

static void only_https_and_loopback_http_make_a_url(void **state)
{
    (void)state;
    static const struct {
        const char *base, *path, *want; // want NULL: refused
    } rows[] = {
            {"https://api.example.com", "/emails", "https://api.example.com/emails"},
            {"https://api.example.com/", "/emails", "https://api.example.com/emails"},
            {"https://gw.example.com:8443/v1", "/emails?x=1",
                    "https://gw.example.com:8443/v1/emails?x=1"},
            {"http://127.0.0.1:8000", "/e", "http://127.0.0.1:8000/e"},
            {"http://[::1]:8000", "/e", "http://[::1]:8000/e"},
            {"http://localhost", "/e", "http://localhost/e"},
            {"http://api.example.com", "/e", NULL},
            {"http://127.0.0.1.evil.example", "/e", NULL},
            {"http://127.0.0.1@evil.example", "/e", NULL},
            {"https://user:pw@x", "/e", NULL},
            {"https://", "/e", NULL},
            {"ftp://x", "/e", NULL},
            {"file:///etc/passwd", "", NULL},
            {"https://x\r\nHost: y", "/e", NULL},
            {"https://x y", "/e", NULL},
            {"https://x", "/e\r\nX: y", NULL},
            {"https://x", "/e#f", NULL},
            {"", "/e", NULL},
            {NULL, "/e", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        struct err err = {0};
        const char *name = rows[i].base ? rows[i].base : "(null)";
        bool ok = http_request_begin(&request, rows[i].base, rows[i].path, &err);
        assert_row(ok == (rows[i].want != NULL), name);
        assert_row(!ok || strcmp(request.url, rows[i].want) == 0, name);
    }
}

static void finds_a_header_by_its_whole_name(void **state)
{
    (void)state;
    struct slice head = SLICE("HTTP/1.1 200 OK\r\nX-Idx: no\r\nx-id:  one \t\r\nX-Id: two\r\n\r\n");
    struct slice value;
    assert_true(http_head_find(head, "X-ID", &value));
    assert_true(slice_eq(value, SLICE("one")));
    assert_false(http_head_find(head, "X-I", &value));
    assert_false(http_head_find(head, "Retry-After", &value));
    assert_false(http_head_find((struct slice){0}, "X-Id", &value));
}

static void reads_retry_after_in_both_forms(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int64_t want_ms;
    } rows[] = {
            {"7", 7000},
            {"0", 0},
            {"120", 120000},
            {"99999999999999999999", HTTP_RETRY_AFTER_MAX_MS},
            {"-5", 0},
            {"1.5", 0},
            {"soon", 0},
            {"", 0},
            {"Sun, 06 Nov 1994 08:49:47 GMT", 10000},
            {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
            {"Sun, 06 Nov 1994 08:00:00 GMT", 0},
            {"Sun, 06 Nov 2094 08:49:47 GMT", HTTP_RETRY_AFTER_MAX_MS},
            {"Sun, 06 Nov 1994 08:49:47 GMTx", 0},
            {"Sun, 06 Xyz 1994 08:49:47 GMT", 0},
            {"Sun, 06 anF 1994 08:49:47 GMT", 0},
            {"Sunday, 06-Nov-94 08:49:47 GMT", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char head[100];
        snprintf(head, sizeof head, "HTTP/1.1 429 X\r\nRetry-After: %s\r\n\r\n", rows[i].value);
        struct http_reply reply = {.head = slice_of(head), .now_us = INT64_C(784111777000000)};
        assert_row(http_retry_after_ms(&reply) == rows[i].want_ms, rows[i].value);
    }
}

static void what_is_not_documented_is_never_guessed_at(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum http_end end;
        int status;
        enum attempt_outcome outcome;
        enum failure_level level;
    } rows[] = {
            {"nothing sent", HTTP_NOT_SENT, 0, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"cut", HTTP_CUT, 0, ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
            {"200", HTTP_REPLIED, 200, ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
            {"202", HTTP_REPLIED, 202, ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
            {"redirect", HTTP_REPLIED, 302, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"308", HTTP_REPLIED, 308, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"400", HTTP_REPLIED, 400, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"401", HTTP_REPLIED, 401, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"404", HTTP_REPLIED, 404, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"413", HTTP_REPLIED, 413, ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {"429", HTTP_REPLIED, 429, ATTEMPT_RETRY, LEVEL_PROVIDER},
            {"500", HTTP_REPLIED, 500, ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
            {"502", HTTP_REPLIED, 502, ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
            {"503", HTTP_REPLIED, 503, ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
            {"504", HTTP_REPLIED, 504, ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct attempt_result result = {0};
        http_result_undocumented(
                &(struct http_reply){.end = rows[i].end, .status = rows[i].status}, &result);
        assert_row(result.outcome == rows[i].outcome, rows[i].name);
        assert_row(result.level == rows[i].level, rows[i].name);
        assert_row(result.code == rows[i].status, rows[i].name);
        assert_row(result.detail[0], rows[i].name);
    }
}

static void what_a_provider_says_is_kept_printable_and_cut(void **state)
{
    (void)state;
    struct attempt_result result = {0};
    struct http_reply reply = {.status = 422};
    http_result(&reply, ATTEMPT_REFUSED, LEVEL_MESSAGE, SLICE("no\r\n\x1b[2J\xff"), &result);
    assert_string_equal(result.detail, "422 no???[2J?");
    char lengthy[400];
    memset(lengthy, 'x', sizeof lengthy);
    http_result(&reply, ATTEMPT_REFUSED, LEVEL_MESSAGE,
            (struct slice){(unsigned char *)lengthy, sizeof lengthy}, &result);
    assert_int_equal(strlen(result.detail), sizeof result.detail - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_control_character_is_refused_in_a_header),
            cmocka_unit_test(a_header_name_is_a_token),
            cmocka_unit_test(only_https_and_loopback_http_make_a_url),
            cmocka_unit_test(finds_a_header_by_its_whole_name),
            cmocka_unit_test(reads_retry_after_in_both_forms),
            cmocka_unit_test(what_is_not_documented_is_never_guessed_at),
            cmocka_unit_test(what_a_provider_says_is_kept_printable_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
