#include "common/log.h"

#include "common/clock.h"
#include "tests/test.h"

#include <fcntl.h>
#include <unistd.h>

static char got[65536];
static int saved_stderr, out_fd;

// Sends stderr to a file that stop() reads back.
static void start(void)
{
    char path[] = "/tmp/pawl-log-XXXXXX";
    out_fd = mkstemp(path);
    assert_true(out_fd >= 0);
    unlink(path);
    saved_stderr = dup(STDERR_FILENO);
    dup2(out_fd, STDERR_FILENO);
}

static const char *stop(void)
{
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    ssize_t n = pread(out_fd, got, sizeof got - 1, 0);
    close(out_fd);
    assert_true(n >= 0);
    got[n] = '\0';
    return got;
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void writes_one_json_line_an_event(void **state)
{
    (void)state;
    log_init("receiver", true, LOG_LVL_INFO);
    start();
    LOG(INFO, "test.json", "two \"words\"", L_STR("source", "shop"), L_INT("n", -5));
    const char *line = stop();
    assert_non_null(strstr(
            line, "\"level\":\"info\",\"event\":\"test.json\",\"msg\":\"two \\\"words\\\"\""));
    assert_non_null(strstr(line, "\"component\":\"receiver\""));
    assert_non_null(strstr(line, ",\"source\":\"shop\",\"n\":-5}\n"));
    assert_int_equal(lines_of(line), 1);
}

static void escapes_what_would_break_the_line(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {'a', '\n', '\\', 0, 0xff, 0xc3, 0xa4, 0xed, 0xa0, 0x80};
    log_init("receiver", true, LOG_LVL_INFO);
    start();
    LOG(INFO, "test.escape", "m", L_SLICE("v", ((struct slice){bytes, sizeof bytes})));
    const char *line = stop();
    assert_non_null(
            strstr(line, "\"v\":\"a\\u000a\\\\\\u0000\\ufffd\xc3\xa4\\ufffd\\ufffd\\ufffd\"}\n"));
}

static void writes_text_lines_when_asked(void **state)
{
    (void)state;
    log_init("receiver", false, LOG_LVL_INFO);
    start();
    LOG(WARNING, "test.text", "hello", L_STR("plain", "shop"), L_STR("quoted", "a b"));
    const char *line = stop();
    assert_non_null(strstr(line, " warning test.text: hello plain=shop quoted=\"a b\"\n"));
}

static void drops_what_is_below_the_level(void **state)
{
    (void)state;
    log_init("receiver", true, LOG_LVL_WARNING);
    start();
    LOG0(INFO, "test.level", "m");
    assert_string_equal(stop(), "");
}

static void keeps_a_line_below_four_kilobytes_and_valid(void **state)
{
    (void)state;
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    log_init("receiver", true, LOG_LVL_INFO);
    start();
    LOG(INFO, "test.big", "m", L_STR("a", big), L_STR("b", big), L_STR("c", big), L_STR("d", big),
            L_INT("last", 7));
    const char *line = stop();
    assert_true(strlen(line) <= 4096);
    assert_non_null(strstr(line, "xxx...\",\"b\":\""));
    assert_non_null(strstr(line, ",\"last\":7,\"truncated\":true}\n"));
    assert_null(strstr(line, "\"d\":"));
}

static void shows_ten_repeats_a_second_and_counts_the_rest(void **state)
{
    (void)state;
    log_init("receiver", true, LOG_LVL_INFO);
    start();
    for (int i = 0; i < 100; i++)
        LOG0(INFO, "test.flood", "m");
    LOG0(INFO, "test.calm", "m");
    // A second border may lie between the hundred lines.
    size_t n = lines_of(stop());
    assert_in_range(n, 11, 21);
}

static void says_how_many_lines_of_an_earlier_second_were_left_out(void **state)
{
    (void)state;
    int64_t earlier = clock_mono_ms() - 2000, before = -1;
    for (int i = 0; i < 30; i++) {
        bool said = log_each_second("test.earlier", earlier - earlier % 1000 + i, &before);
        assert_true(said == (i < 10) && before == 0);
    }
    log_init("receiver", true, LOG_LVL_INFO);
    start();
    LOG0(INFO, "test.earlier", "m");
    LOG0(INFO, "test.earlier", "m");
    const char *lines = stop();
    assert_non_null(strstr(lines, ",\"suppressed\":20}\n"));
    assert_null(strstr(strchr(lines, '\n'), "suppressed"));
}

static void says_each_kind_once_a_minute_and_counts_the_rest(void **state)
{
    (void)state;
    int64_t left_out = -1;
    assert_true(log_each_minute("test.minute", "shop", "mac", 1000, &left_out));
    assert_int_equal(left_out, 0);
    for (int i = 0; i < 30; i++)
        assert_false(log_each_minute("test.minute", "shop", "mac", 1000 + i, &left_out));
    assert_true(log_each_minute("test.minute", "shop", "too_old", 1000, &left_out));
    assert_true(log_each_minute("test.minute", "erp", "mac", 1000, &left_out));
    assert_true(log_each_minute("test.minute", "er", "pmac", 1000, &left_out));
    assert_false(log_each_minute("test.minute", "shop", "mac", 60999, &left_out));
    assert_true(log_each_minute("test.minute", "shop", "mac", 61000, &left_out));
    assert_int_equal(left_out, 31);
    assert_true(log_each_minute("test.minute", "shop", "mac", 121000, &left_out));
    assert_int_equal(left_out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(writes_one_json_line_an_event),
            cmocka_unit_test(escapes_what_would_break_the_line),
            cmocka_unit_test(writes_text_lines_when_asked),
            cmocka_unit_test(drops_what_is_below_the_level),
            cmocka_unit_test(keeps_a_line_below_four_kilobytes_and_valid),
            cmocka_unit_test(shows_ten_repeats_a_second_and_counts_the_rest),
            cmocka_unit_test(says_how_many_lines_of_an_earlier_second_were_left_out),
            cmocka_unit_test(says_each_kind_once_a_minute_and_counts_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
