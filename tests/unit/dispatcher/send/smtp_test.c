#include "dispatcher/send/smtp.h"
#include "tests/test.h"

#include <stdio.h>

// The outcome table of docs/smtp.md, row by row.
static const struct row {
    const char *name;
    enum smtp_end end;
    enum smtp_phase phase;
    const char *said; // the last reply
    enum attempt_outcome outcome;
    enum failure_level level;
    int code;
    const char *enhanced;
} table[] = {
        {"250 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "250 2.0.0 ok", ATTEMPT_ACCEPTED,
                LEVEL_MESSAGE, 250, "2.0.0"},
        {"550 at RCPT", SMTP_REPLY, SMTP_RCPT, "550 5.1.1 no such user", ATTEMPT_REFUSED,
                LEVEL_ADDRESS, 550, "5.1.1"},
        {"550 at RCPT without an enhanced code", SMTP_REPLY, SMTP_RCPT, "550 no", ATTEMPT_REFUSED,
                LEVEL_ADDRESS, 550, ""},
        {"550 at RCPT by policy", SMTP_REPLY, SMTP_RCPT, "550 5.7.1 blocked", ATTEMPT_REFUSED,
                LEVEL_MESSAGE, 550, "5.7.1"},
        {"451 at RCPT", SMTP_REPLY, SMTP_RCPT, "451 try again", ATTEMPT_RETRY, LEVEL_ADDRESS, 451,
                ""},
        {"550 at RCPT, SPF", SMTP_REPLY, SMTP_RCPT, "550 5.7.23 SPF failed", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 550, "5.7.23"},
        {"550 after the dot, DMARC", SMTP_REPLY, SMTP_END_OF_DATA, "550 5.7.26 unauthenticated",
                ATTEMPT_RETRY, LEVEL_PROVIDER, 550, "5.7.26"},
        {"550 after the dot, another policy", SMTP_REPLY, SMTP_END_OF_DATA, "550 5.7.2 no list",
                ATTEMPT_REFUSED, LEVEL_MESSAGE, 550, "5.7.2"},
        {"450 at RCPT, greylisted", SMTP_REPLY, SMTP_RCPT, "450 4.7.1 later", ATTEMPT_RETRY,
                LEVEL_MESSAGE, 450, "4.7.1"},
        {"452 at RCPT, mailbox full", SMTP_REPLY, SMTP_RCPT, "452 4.2.2 full", ATTEMPT_RETRY,
                LEVEL_ADDRESS, 452, "4.2.2"},
        {"452 at RCPT, over our quota", SMTP_REPLY, SMTP_RCPT, "452 4.5.3 quota", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 452, "4.5.3"},
        {"552 at RCPT, mailbox full", SMTP_REPLY, SMTP_RCPT, "552 5.2.2 full", ATTEMPT_REFUSED,
                LEVEL_ADDRESS, 552, "5.2.2"},
        {"552 at RCPT, too long for the mailbox", SMTP_REPLY, SMTP_RCPT, "552 5.2.3 big",
                ATTEMPT_REFUSED, LEVEL_MESSAGE, 552, "5.2.3"},
        {"530 at RCPT", SMTP_REPLY, SMTP_RCPT, "530 5.7.0 sign in first", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 530, "5.7.0"},
        {"421 at RCPT", SMTP_REPLY, SMTP_RCPT, "421 closing", ATTEMPT_RETRY, LEVEL_PROVIDER, 421,
                ""},
        {"550 at MAIL FROM", SMTP_REPLY, SMTP_MAIL, "550 5.1.8 bad sender", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 550, "5.1.8"},
        {"450 at MAIL FROM", SMTP_REPLY, SMTP_MAIL, "450 wait", ATTEMPT_RETRY, LEVEL_PROVIDER, 450,
                ""},
        {"552 at MAIL FROM, too big", SMTP_REPLY, SMTP_MAIL, "552 5.3.4 too big", ATTEMPT_REFUSED,
                LEVEL_MESSAGE, 552, "5.3.4"},
        {"421 at DATA", SMTP_REPLY, SMTP_DATA, "421 4.3.2 shutting down", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 421, "4.3.2"},
        {"554 at DATA", SMTP_REPLY, SMTP_DATA, "554 no", ATTEMPT_REFUSED, LEVEL_MESSAGE, 554, ""},
        {"451 at DATA", SMTP_REPLY, SMTP_DATA, "451 later", ATTEMPT_RETRY, LEVEL_MESSAGE, 451, ""},
        {"lost before the DATA reply", SMTP_CLOSED, SMTP_DATA, "250 ok", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 250, ""},
        {"no DATA reply in time", SMTP_TIMEOUT, SMTP_DATA, "250 ok", ATTEMPT_RETRY, LEVEL_PROVIDER,
                250, ""},
        {"lost in the body, not drained", SMTP_CLOSED, SMTP_BODY, "354 go", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 354, ""},
        {"stalled in the body", SMTP_TIMEOUT, SMTP_BODY, "354 go", ATTEMPT_RETRY, LEVEL_PROVIDER,
                354, ""},
        {"552 in the body", SMTP_REPLY, SMTP_BODY, "552 5.3.4 too big", ATTEMPT_REFUSED,
                LEVEL_MESSAGE, 552, "5.3.4"},
        {"421 in the body", SMTP_REPLY, SMTP_BODY, "421 closing", ATTEMPT_RETRY, LEVEL_PROVIDER,
                421, ""},
        {"nonsense in the body", SMTP_GARBLED, SMTP_BODY, "354 go", ATTEMPT_UNKNOWN, LEVEL_MESSAGE,
                354, ""},
        {"lost when all was handed over", SMTP_CLOSED, SMTP_END_OF_DATA, "354 go", ATTEMPT_UNKNOWN,
                LEVEL_MESSAGE, 354, ""},
        {"no reply to the dot in time", SMTP_TIMEOUT, SMTP_END_OF_DATA, "354 go", ATTEMPT_UNKNOWN,
                LEVEL_MESSAGE, 354, ""},
        {"nonsense after the dot", SMTP_GARBLED, SMTP_END_OF_DATA, "354 go", ATTEMPT_UNKNOWN,
                LEVEL_MESSAGE, 354, ""},
        {"cut off by us after the dot", SMTP_ABORTED, SMTP_END_OF_DATA, "354 go", ATTEMPT_UNKNOWN,
                LEVEL_MESSAGE, 354, ""},
        {"cut off by us before the dot", SMTP_ABORTED, SMTP_BODY, "354 go", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 354, ""},
        {"452 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "452 no space", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 452, ""},
        {"421 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "421 closing", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 421, ""},
        {"451 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "451 4.3.0 trouble", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 451, "4.3.0"},
        {"450 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "450 4.7.1 rate", ATTEMPT_RETRY,
                LEVEL_MESSAGE, 450, "4.7.1"},
        {"554 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "554 5.7.1 spam", ATTEMPT_REFUSED,
                LEVEL_MESSAGE, 554, "5.7.1"},
        {"550 after the dot, no such user", SMTP_REPLY, SMTP_END_OF_DATA, "550 5.1.1 nobody",
                ATTEMPT_REFUSED, LEVEL_ADDRESS, 550, "5.1.1"},
        {"354 after the dot", SMTP_REPLY, SMTP_END_OF_DATA, "354 again?", ATTEMPT_UNKNOWN,
                LEVEL_PROVIDER, 354, ""},
        {"535 sign-in failed", SMTP_NO_AUTH, SMTP_CONNECT, "535 5.7.8 wrong password",
                ATTEMPT_RETRY, LEVEL_PROVIDER, 535, "5.7.8"},
        {"554 greeting", SMTP_CLOSED, SMTP_CONNECT, "554 5.3.2 no service", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 554, "5.3.2"},
        {"connection refused or no such host", SMTP_NO_ROUTE, SMTP_CONNECT, NULL, ATTEMPT_RETRY,
                LEVEL_PROVIDER, 0, ""},
        {"TLS failed or STARTTLS not offered", SMTP_NO_TLS, SMTP_CONNECT, "250 ok", ATTEMPT_RETRY,
                LEVEL_PROVIDER, 250, ""},
        {"lost at MAIL FROM", SMTP_CLOSED, SMTP_MAIL, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, ""},
        {"no SMTPUTF8 for a non-ASCII address", SMTP_NO_UTF8, SMTP_CONNECT, "250 ok",
                ATTEMPT_REFUSED, LEVEL_ADDRESS, 250, ""},
        {"no SMTPUTF8 for a non-ASCII sender", SMTP_NO_UTF8_SENDER, SMTP_CONNECT, "250 ok",
                ATTEMPT_RETRY, LEVEL_PROVIDER, 250, ""},
};

static void every_row_of_the_outcome_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const struct row *row = &table[i];
        struct smtp_reply reply = {0};
        if (row->said)
            assert_row(reply_line(&reply, slice_of(row->said)) == REPLY_DONE, row->name);
        struct smtp_facts facts = {.end = row->end, .phase = row->phase, .reply = &reply};
        struct attempt_result result = {.wire_ms = 7};
        smtp_classify(&facts, &result);
        assert_row(result.outcome == row->outcome, row->name);
        assert_row(result.level == row->level, row->name);
        assert_row(result.code == row->code, row->name);
        assert_row(strcmp(result.enhanced, row->enhanced) == 0, row->name);
        assert_row(result.detail[0] != '\0', row->name);
        assert_row(result.wire_ms == 7, row->name);
    }
}

static void says_what_happened(void **state)
{
    (void)state;
    struct smtp_reply reply = {.code = 354, .text = "354 go"};
    struct smtp_facts facts = {.end = SMTP_CLOSED, .phase = SMTP_END_OF_DATA, .reply = &reply};
    struct attempt_result result = {0};
    smtp_classify(&facts, &result);
    assert_string_equal(result.detail, "connection lost after the final dot: may have been taken");
    facts = (struct smtp_facts){.end = SMTP_NO_TLS,
            .phase = SMTP_CONNECT,
            .reply = &reply,
            .why = "self signed certificate"};
    smtp_classify(&facts, &result);
    assert_string_equal(result.detail, "no trusted TLS while connecting: self signed certificate");
}

static void finds_the_servers_own_id(void **state)
{
    (void)state;
    static const struct {
        const char *said, *want;
    } rows[] = {
            {"250 2.0.0 Ok: queued as 4XyzAB", "4XyzAB"},
            {"250 2.0.0 Ok: Queued as <1.2@x>; more", "<1.2@x>"},
            {"250 ok", ""},
            {"250 queued as ", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct smtp_reply reply = {0};
        (void)reply_line(&reply, slice_of(rows[i].said));
        struct smtp_facts facts = {.phase = SMTP_END_OF_DATA, .reply = &reply};
        struct attempt_result result = {0};
        smtp_classify(&facts, &result);
        assert_row(strcmp(result.provider_id, rows[i].want) == 0, rows[i].said);
    }
}

static char from[] = "Shop <shop@example.net>", to[] = "ann@example.org", subject[] = "x",
            text[] = ".a\n..b\nc", id[] = "1@example.net",
            date[] = "Sun, 29 Nov 2026 12:00:00 +0000";

static struct content sample(void)
{
    return (struct content){.from = from,
            .to = to,
            .subject = subject,
            .text = text,
            .message_id = id,
            .date = date};
}

static bool built(const struct content *content, const char *url, bool plain,
        struct smtp_request *request, enum failure_level *level)
{
    struct provider provider = {
            .driver = DRIVER_SMTP, .url = (char *)(uintptr_t)url, .plain = plain};
    struct err err = {0};
    *request = (struct smtp_request){0};
    return smtp_build(content, &provider, NULL, request, level, &err);
}

static void builds_the_envelope_and_doubles_dots(void **state)
{
    (void)state;
    struct content content = sample();
    struct smtp_request request;
    enum failure_level level;
    assert_true(built(&content, "smtps://mail.example.net:465", false, &request, &level));
    assert_string_equal(request.url, "smtps://mail.example.net:465/example.net");
    assert_string_equal(request.mail_from, "shop@example.net");
    assert_string_equal(request.rcpt, "ann@example.org");
    assert_false(request.needs_utf8);
    const char *wire = text_cstr(&request.wire);
    assert_string_equal(strstr(wire, "\r\n\r\n"), "\r\n\r\n..a\r\n...b\r\nc\r\n.\r\n");
    assert_int_equal(request.size, request.wire.len - strlen(".\r\n") - 2);
    smtp_request_fini(&request);
    assert_true(built(&content, "smtp://[::1]:25/me.example", true, &request, &level));
    assert_string_equal(request.url, "smtp://[::1]:25/me.example");
    smtp_request_fini(&request);
}

static bool to_ascii(const char *domain, char out[256])
{
    return strcmp(domain, "bücher.example") == 0 && snprintf(out, 256, "xn--bcher-kva.example") > 0;
}

static void names_outside_ascii_need_utf8_only_before_the_at(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *mail_from, *rcpt;
        bool needs, sender;
    } rows[] = {
            {"shop@example.net", "ann@bücher.example", "shop@example.net",
                    "ann@xn--bcher-kva.example", false, false},
            {"Läden <shop@bücher.example>", "ann@example.org", "shop@xn--bcher-kva.example",
                    "ann@example.org", false, false},
            {"shop@example.net", "jürgen@bücher.example", "shop@example.net",
                    "jürgen@xn--bcher-kva.example", true, false},
            {"läden@example.net", "ann@example.org", "läden@example.net", "ann@example.org", true,
                    true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct content content = sample();
        content.from = (char *)(uintptr_t)rows[i].from;
        content.to = (char *)(uintptr_t)rows[i].to;
        struct provider provider = {.driver = DRIVER_SMTP, .url = (char[]){"smtps://x"}};
        struct smtp_request request = {0};
        enum failure_level level;
        struct err err = {0};
        assert_row(smtp_build(&content, &provider, to_ascii, &request, &level, &err), rows[i].to);
        assert_row(strcmp(request.mail_from, rows[i].mail_from) == 0, rows[i].to);
        assert_row(strcmp(request.rcpt, rows[i].rcpt) == 0, rows[i].to);
        assert_row(request.needs_utf8 == rows[i].needs, rows[i].to);
        assert_row(request.sender_utf8 == rows[i].sender, rows[i].to);
        smtp_request_fini(&request);
    }
}

static void a_domain_without_an_ascii_form_is_the_addresss_fault(void **state)
{
    (void)state;
    struct smtp_request request;
    enum failure_level level;
    struct content content = sample();
    content.to = (char[]){"ann@b\xc3\xbc.example"};
    assert_false(built(&content, "smtps://x", false, &request, &level));
    assert_int_equal(level, LEVEL_ADDRESS);
}

static void says_whose_fault_a_bad_request_is(void **state)
{
    (void)state;
    struct smtp_request request;
    enum failure_level level;
    struct content bad_to = sample(), bad_from = sample(), bad_subject = sample();
    bad_to.to = (char[]){"ann"};
    assert_false(built(&bad_to, "smtps://x", false, &request, &level));
    assert_int_equal(level, LEVEL_ADDRESS);
    bad_from.from = (char[]){"shop\n@x"};
    assert_false(built(&bad_from, "smtps://x", false, &request, &level));
    assert_int_equal(level, LEVEL_MESSAGE);
    bad_subject.subject = (char[]){"a\nb"};
    assert_false(built(&bad_subject, "smtps://x", false, &request, &level));
    assert_int_equal(level, LEVEL_MESSAGE);
}

static void plain_goes_to_loopback_alone(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool plain, want;
    } rows[] = {
            {"smtp://127.0.0.1:25", true, true},
            {"smtp://127.9.9.9", true, true},
            {"smtp://localhost:25", true, true},
            {"smtp://[::1]:25", true, true},
            {"smtp://mail.example.net", true, false},
            {"smtp://127.0.0.1.example.net", true, false},
            {"smtp://127.example.net", true, false},
            {"smtp://localhost.example.net", true, false},
            {"smtp://[::2]", true, false},
            {"smtp://mail.example.net", false, true},
            {"smtps://mail.example.net:465", false, true},
            {"http://mail.example.net", false, false},
            {"smtp://user@mail.example.net", false, false},
            {"smtp://mail.example.net\r\nX", false, false},
    };
    struct content content = sample();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct smtp_request request;
        enum failure_level level;
        bool ok = built(&content, rows[i].url, rows[i].plain, &request, &level);
        assert_row(ok == rows[i].want, rows[i].url);
        assert_row(ok || level == LEVEL_PROVIDER, rows[i].url);
        smtp_request_fini(&request);
    }
}

static void other_settings_never_share_a_connection(void **state)
{
    (void)state;
    struct provider one = {.user = (char[]){"a"}, .password.value = SLICE("b")};
    struct provider same = one, user = one, password = one, ca = one, plain = one;
    user.user = (char[]){"b"};
    password.password.value = SLICE("c");
    ca.ca = (char[]){"ca.pem"};
    plain.plain = true;
    struct key key = smtp_identity(&one, "smtp://x"), other[] = {
                                                              smtp_identity(&user, "smtp://x"),
                                                              smtp_identity(&password, "smtp://x"),
                                                              smtp_identity(&ca, "smtp://x"),
                                                              smtp_identity(&plain, "smtp://x"),
                                                              smtp_identity(&one, "smtp://y"),
                                                      };
    struct key again = smtp_identity(&same, "smtp://x");
    assert_memory_equal(&key, &again, sizeof key);
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        assert_memory_not_equal(&key, &other[i], sizeof key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_row_of_the_outcome_table),
            cmocka_unit_test(says_what_happened),
            cmocka_unit_test(finds_the_servers_own_id),
            cmocka_unit_test(builds_the_envelope_and_doubles_dots),
            cmocka_unit_test(names_outside_ascii_need_utf8_only_before_the_at),
            cmocka_unit_test(a_domain_without_an_ascii_form_is_the_addresss_fault),
            cmocka_unit_test(says_whose_fault_a_bad_request_is),
            cmocka_unit_test(plain_goes_to_loopback_alone),
            cmocka_unit_test(other_settings_never_share_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
