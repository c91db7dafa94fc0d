// The small written forms: what each takes and what it refuses.
#include "common/config/value.h"
#include "tests/test.h"

struct number_row {
    const char *input;
    int64_t want; // -1 = refused
};

static void durations_are_one_number_and_one_unit(void **state)
{
    (void)state;
    static const struct number_row rows[] = {{"10s", 10000}, {"1m", 60000}, {"5m", 300000},
            {"2h", 7200000}, {"7d", 604800000}, {"2500ms", 2500}, {"0s", 0}, {"0ms", 0},
            {"3660d", INT64_C(316224000000)}, {"3661d", -1}, {"", -1}, {"s", -1}, {"10", -1},
            {"10 s", -1}, {" 10s", -1}, {"10s ", -1}, {"-1s", -1}, {"+1s", -1}, {"01s", -1},
            {"1.5h", -1}, {"1h30m", -1}, {"10S", -1}, {"10sec", -1}, {"1w", -1}, {"1y", -1},
            {"9223372036854775807ms", -1}, {"999999999999999d", -1}, {"0x10s", -1}, {"1e3s", -1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ms = -1;
        bool ok = value_duration_ms(slice_of(rows[i].input), &ms);
        assert_row(ok == (rows[i].want >= 0) && ms == rows[i].want, rows[i].input);
    }
}

static void sizes_are_bytes_or_binary_units(void **state)
{
    (void)state;
    static const struct number_row rows[] = {{"0", 0}, {"512", 512}, {"256KiB", 262144},
            {"2MiB", 2097152}, {"1GiB", 1073741824}, {"1024GiB", INT64_C(1) << 40}, {"1025GiB", -1},
            {"", -1}, {"KiB", -1}, {"1KB", -1}, {"1kib", -1}, {"1 MiB", -1}, {"-1", -1},
            {"1.5MiB", -1}, {"1TiB", -1}, {"9999999999999999", -1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t bytes = 0;
        bool ok = value_size(slice_of(rows[i].input), &bytes);
        assert_row(ok == (rows[i].want >= 0), rows[i].input);
        assert_row(!ok || (int64_t)bytes == rows[i].want, rows[i].input);
    }
}

static void rates_are_a_second(void **state)
{
    (void)state;
    static const struct {
        const char *input;
        double want; // 0 = refused
    } rows[] = {{"500/s", 500}, {"30/m", 0.5}, {"3600/h", 1}, {"0.5/s", 0.5}, {"0/s", 0}, {"5", 0},
            {"/s", 0}, {"5/d", 0}, {"5 /s", 0}, {"5./s", 0}, {".5/s", 0}, {"-5/s", 0},
            {"9999999999/s", 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double rate = 0;
        bool ok = value_rate(slice_of(rows[i].input), &rate);
        double off = rate - rows[i].want;
        assert_row(ok == (rows[i].want > 0) && off < 1e-9 && off > -1e-9, rows[i].input);
    }
}

static void dates_are_days_that_exist(void **state)
{
    (void)state;
    static const struct number_row rows[] = {{"1970-01-01", 0}, {"2026-12-31", 1798675200},
            {"2024-02-29", 1709164800}, {"2026-02-29", -1}, {"2026-13-01", -1}, {"2026-00-10", -1},
            {"2026-04-31", -1}, {"1969-12-31", -1}, {"2026-1-1", -1}, {"20261231", -1},
            {"2026/12/31", -1}, {"2026-12-31T00:00:00Z", -1}, {"", -1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t at = -1;
        bool ok = value_date(slice_of(rows[i].input), &at);
        assert_row(ok == (rows[i].want >= 0) && at == rows[i].want, rows[i].input);
    }
}

static bool name_source(struct slice text)
{
    return value_name(text, "-");
}

struct form_row {
    bool (*form)(struct slice text);
    const char *name, *good, *bad; // words, separated by a bar
};

static void check_words(const struct form_row *row, const char *words, bool want)
{
    for (const char *at = words; at;) {
        const char *end = strchr(at, '|');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        struct slice word = {(const unsigned char *)at, n};
        if (row->form(word) != want)
            fail_msg("%s: '%.*s' should %sbe taken", row->name, (int)n, at, want ? "" : "not ");
        at = end ? end + 1 : NULL;
    }
}

static void every_form_takes_its_own_and_nothing_else(void **state)
{
    (void)state;
    static const struct form_row rows[] = {
            {value_wall_time, "time of day", "00:00|21:00|23:59|08:30",
                    "24:00|12:60|8:00|21|21:0|2100|21:00:00|ab:cd|"},
            {value_pointer, "pointer", "/a|/a/b|/a~0b/~1|/0|/a b", "a||/|/a~|/a~2|/~|/a\nb"},
            {value_text, "text", "a|a b|\xc3\xa4", "|a\nb|a\tb|\x7f"},
            {name_source, "source", "a|shop-1|9|twilio-status", "|-a|A|a_b|a.b|a/b|a b|\xc3\xa4"},
            {value_field, "field", "a|_a|A1|order_id", "|1a|a-b|a.b|a b"},
            {value_header, "header", "X-Time|A", "|X_Time|1A|X Time|X:|-a"},
            {value_credential, "credential", "a|apns.p8|a_b-c|A", "|.a|a/b|..|a b|../a"},
            {value_zone, "zone", "UTC|Europe/Berlin|Etc/GMT+1",
                    "|/etc|../UTC|Europe/|Europe Berlin|a\nb"},
            {value_locale, "locale", "en|de-AT|gsw|zh-Hant-TW", "|e|EN|de_AT|engl|de-|de-A|en."},
            {value_listen, "listen", "127.0.0.1:80|[::1]:0|0.0.0.0:65535|localhost:1|[fe80::1]:80",
                    "|127.0.0.1|:80|::1:80|[::1]|a.b:80|127.0.0.1:65536|127.0.0.1:|1.2.3:80|[1.2.3."
                    "4]:80"},
            {value_network, "network", "127.0.0.1|10.0.0.0/8|::1|fd00::/8|0.0.0.0/0",
                    "|10.0.0.0/33|::/129|localhost|10/8|10.0.0.0/|10.0.0.0/a"},
            {value_web_url, "url", "https://a|http://a.b:80/c?d=e|https://[::1]/x",
                    "|a.b|ftp://a|https://|https://u@a/|https://a b/|https://a#f|https://a:0x/"},
            {value_https_url, "https url", "https://a|https://a.b:80/c|https://[::1]/x",
                    "|http://a|https://a?b|https://u@a/|https://a\\\\b|https://a#f|HTTPS://a"},
            {value_topic, "topic",
                    "arn:aws:sns:eu-west-1:123456789012:a|arn:aws-cn:sns:cn-north-1:1:A_b-c.fifo|"
                    "arn:aws:sns:eu-west-1:1:*",
                    "|*|a|arn:aws:sns:eu-west-1:1|arn:aws:sns:eu-west-1:1:|arn:aws:sns:*:1:a|"
                    "arn:aws:sns:eu-west-1:*:a|arn:aws:sqs:eu-west-1:1:a|arn:aws:sns:eu-west-1:1:a*"
                    "|"
                    "arn:aws:sns:eu-west-1:1:a:b|ARN:aws:sns:eu-west-1:1:a"},
            {value_detour, "detour", "a=127.0.0.1:1|keys.example.com=[::1]:443|a=b:2",
                    "|a|a=|a=b|=b:1|a=b:0|a=b:c|a b=c:1|a=b=c:1|https://a=b:1"},
            {value_mailbox, "mailbox", "a@b|a.b+c@d.e|N <a@b.c>|\xc3\xa4 <a@b>",
                    "|a|@b|a@|N <a@b|N a@b|a@b@c|a@b, c@d|a b@c|<a@b> x|a@b\nBcc: c@d|a@-b|a@b..c"},
            {value_phone_sender, "sender", "+4915112345|Shop|MY SHOP 1|+1234567",
                    "|+123|+12345678901234567|Shop+1|ABCDEFGHIJKL|+49 151 1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_words(&rows[i], rows[i].good, true);
        check_words(&rows[i], rows[i].bad, false);
    }
}

static void names_have_at_most_63_bytes(void **state)
{
    (void)state;
    char name[65];
    memset(name, 'a', 64);
    name[64] = '\0';
    assert_false(value_name(slice_of(name), "-"));
    name[63] = '\0';
    assert_true(value_name(slice_of(name), "-"));
}

static void a_nul_byte_is_in_no_form(void **state)
{
    (void)state;
    assert_false(value_text(SLICE("a\0b")));
    assert_false(value_name(SLICE("a\0b"), "-"));
    assert_false(value_credential(SLICE("a\0b")));
    assert_false(value_listen(SLICE("127.0.0.1\0:80")));
    assert_false(value_mailbox(SLICE("a\0@b")));
}

static void smtp_urls_give_host_port_and_tls(void **state)
{
    (void)state;
    static const struct {
        const char *input, *host; // NULL = refused
        int port;
        bool implicit;
    } rows[] = {{"smtp://localhost:2525", "localhost", 2525, false},
            {"smtps://mail.example.net", "mail.example.net", 0, true},
            {"smtps://mail.example.net:465/", "mail.example.net", 465, true},
            {"smtp://[::1]:25", "::1", 25, false}, {"smtp://", NULL, 0, false},
            {"http://a", NULL, 0, false}, {"smtp://u:p@a", NULL, 0, false},
            {"smtp://a:0", NULL, 0, false}, {"smtp://a:65536", NULL, 0, false},
            {"smtp://a/b", NULL, 0, false}, {"smtp://a b", NULL, 0, false},
            {"SMTP://a", NULL, 0, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value_smtp_url url = {0};
        const char *why = NULL;
        bool ok = value_smtp_url(slice_of(rows[i].input), &url, &why);
        assert_row(ok == (rows[i].host != NULL) && ok == (why == NULL), rows[i].input);
        if (!ok)
            continue;
        assert_row(slice_eq(url.host, slice_of(rows[i].host)), rows[i].input);
        assert_row(url.port == rows[i].port && url.implicit_tls == rows[i].implicit, rows[i].input);
    }
}

static void only_this_machine_is_loopback(void **state)
{
    (void)state;
    assert_true(value_is_loopback(SLICE("localhost")));
    assert_true(value_is_loopback(SLICE("127.9.9.9")));
    assert_true(value_is_loopback(SLICE("::1")));
    assert_false(value_is_loopback(SLICE("127.example.net")));
    assert_false(value_is_loopback(SLICE("localhost.example.net")));
    assert_false(value_is_loopback(SLICE("10.0.0.1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(durations_are_one_number_and_one_unit),
            cmocka_unit_test(sizes_are_bytes_or_binary_units),
            cmocka_unit_test(rates_are_a_second),
            cmocka_unit_test(dates_are_days_that_exist),
            cmocka_unit_test(every_form_takes_its_own_and_nothing_else),
            cmocka_unit_test(names_have_at_most_63_bytes),
            cmocka_unit_test(a_nul_byte_is_in_no_form),
            cmocka_unit_test(smtp_urls_give_host_port_and_tls),
            cmocka_unit_test(only_this_machine_is_loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
