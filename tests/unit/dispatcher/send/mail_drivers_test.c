// The mail drivers over HTTP: what they say, and every documented answer (rows of the providers'
// own pages, docs/mail-api.md).
#include "common/json/scan.h"
#include "dispatcher/send/postmark.h"
#include "dispatcher/send/providers.h"
#include "dispatcher/send/resend.h"
#include "dispatcher/send/sendgrid.h"
#include "tests/test.h"

#include <stdio.h>

#define KEY "00112233445566778899aabbccddeeff"

static struct content a_mail(void)
{
    static char from[] = "Shop <shop@example.net>", to[] = "ann@example.org";
    static char subject[] = "Order \"1001\"", text[] = "Hello\nyou";
    return (struct content){.from = from, .to = to, .subject = subject, .text = text};
}

static struct provider a_provider(void)
{
    return (struct provider){.driver = DRIVER_HTTP, .password.value = SLICE("s3cret")};
}

static void each_driver_makes_its_request(void **state)
{
    (void)state;
    static const struct {
        const char *name, *url, *auth, *body;
    } rows[] = {
            {"resend", "https://api.resend.com/emails",
                    "Authorization: Bearer s3cret\r\nIdempotency-Key: " KEY "\r\n",
                    "{\"from\":\"Shop <shop@example.net>\",\"to\":[\"ann@example.org\"],"
                    "\"subject\":\"Order \\\"1001\\\"\",\"text\":\"Hello\\nyou\","
                    "\"tags\":[{\"name\":\"pawl_delivery\",\"value\":\"" KEY "\"},"
                    "{\"name\":\"pawl_place\",\"value\":\"0-x-0\"}]}"},
            {"postmark", "https://api.postmarkapp.com/email", "X-Postmark-Server-Token: s3cret\r\n",
                    "{\"From\":\"Shop <shop@example.net>\",\"To\":\"ann@example.org\","
                    "\"Subject\":\"Order \\\"1001\\\"\",\"TextBody\":\"Hello\\nyou\","
                    "\"Metadata\":{\"pawl-delivery\":\"" KEY "\","
                    "\"pawl-place\":\"0-x-0\"}}"},
            {"sendgrid", "https://api.sendgrid.com/v3/mail/send",
                    "Authorization: Bearer s3cret\r\n",
                    "{\"personalizations\":[{\"to\":[{\"email\":\"ann@example.org\"}],"
                    "\"custom_args\":{\"pawl_delivery\":\"" KEY "\","
                    "\"pawl_place\":\"0-x-0\"}}],"
                    "\"from\":{\"email\":\"shop@example.net\",\"name\":\"Shop\"},"
                    "\"subject\":\"Order \\\"1001\\\"\","
                    "\"content\":[{\"type\":\"text/plain\",\"value\":\"Hello\\nyou\"}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        const struct driver_row *driver = driver_find(CHANNEL_EMAIL, rows[i].name);
        struct content content = a_mail();
        content.place = "0-x-0";
        struct provider provider = a_provider();
        enum failure_level level;
        struct err err = {0};
        assert_row(driver && driver->build(&content, &provider, KEY, &request, &level, &err),
                rows[i].name);
        assert_string_equal(request.url, rows[i].url);
        assert_string_equal(text_cstr(&request.body), rows[i].body);
        assert_row(strstr(text_cstr(&request.head), rows[i].auth) != NULL, rows[i].name);
        assert_row(strstr(text_cstr(&request.head), "Content-Type: application/json\r\n") != NULL,
                rows[i].name);
    }
}

static void both_headers_of_one_click_go_by_every_api(void **state)
{
    (void)state;
    static const char *const parts[] = {
            "\"headers\":{\"List-Unsubscribe\":\"<https://x/u>\","
            "\"List-Unsubscribe-Post\":\"List-Unsubscribe=One-Click\"},",
            "\"Headers\":[{\"Name\":\"List-Unsubscribe\",\"Value\":\"<https://x/u>\"},"
            "{\"Name\":\"List-Unsubscribe-Post\",\"Value\":\"List-Unsubscribe=One-Click\"}],",
            "\"headers\":{\"List-Unsubscribe\":\"<https://x/u>\","
            "\"List-Unsubscribe-Post\":\"List-Unsubscribe=One-Click\"},"};
    for (size_t i = 1; i < 4; i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        struct content content = a_mail();
        content.unsubscribe = (char[]){"https://x/u"};
        struct provider provider = a_provider();
        enum failure_level level;
        struct err err = {0};
        assert_true(driver_at(i)->build(&content, &provider, KEY, &request, &level, &err));
        assert_row(strstr(text_cstr(&request.body), parts[i - 1]) != NULL, driver_at(i)->name);
        assert_true(json_check(text_slice(&request.body), &err));
    }
}

static void html_goes_beside_the_text(void **state)
{
    (void)state;
    static const char *const parts[] = {"\"html\":\"<p>\"", "\"HtmlBody\":\"<p>\"",
            ",{\"type\":\"text/html\",\"value\":\"<p>\"}]"};
    for (size_t i = 1; i < 4; i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        struct content content = a_mail();
        content.html = (char[]){"<p>"};
        struct provider provider = a_provider();
        enum failure_level level;
        struct err err = {0};
        assert_true(driver_at(i)->build(&content, &provider, KEY, &request, &level, &err));
        assert_row(strstr(text_cstr(&request.body), parts[i - 1]) != NULL, driver_at(i)->name);
    }
}

static void what_can_not_be_sent_is_refused_before_the_wire(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from, *to, *subject, *text, *token, *url;
        enum failure_level level;
    } rows[] = {
            {"recipient with a line end", "a@x.example", "b@y.example\r\nX: 1", "s", "t", "k", NULL,
                    LEVEL_ADDRESS},
            {"two recipients", "a@x.example", "b@y.example, c@z.example", "s", "t", "k", NULL,
                    LEVEL_ADDRESS},
            {"recipient's domain without an ASCII form", "a@x.example", "b@\xc3\xa4.example", "s",
                    "t", "k", NULL, LEVEL_ADDRESS},
            {"sender with a line end", "a@x.example\nBcc: c@z", "b@y.example", "s", "t", "k", NULL,
                    LEVEL_MESSAGE},
            {"subject with a line end", "a@x.example", "b@y.example", "s\r\nBcc: x@y", "t", "k",
                    NULL, LEVEL_MESSAGE},
            {"subject not UTF-8", "a@x.example", "b@y.example", "\xff", "t", "k", NULL,
                    LEVEL_MESSAGE},
            {"body not UTF-8", "a@x.example", "b@y.example", "s", "\xc0\x80", "k", NULL,
                    LEVEL_MESSAGE},
            {"no body", "a@x.example", "b@y.example", "s", NULL, "k", NULL, LEVEL_MESSAGE},
            {"no token", "a@x.example", "b@y.example", "s", "t", NULL, NULL, LEVEL_PROVIDER},
            {"token with a line end", "a@x.example", "b@y.example", "s", "t", "k\r\nX: 1", NULL,
                    LEVEL_PROVIDER},
            {"plain http to a host", "a@x.example", "b@y.example", "s", "t", "k",
                    "http://api.example.com", LEVEL_PROVIDER},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows) * 3; i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        size_t n = i / 3;
        AUTO_FREE char *from = xstrdup(rows[n].from), *to = xstrdup(rows[n].to);
        AUTO_FREE char *subject = xstrdup(rows[n].subject);
        AUTO_FREE char *text = rows[n].text ? xstrdup(rows[n].text) : NULL;
        AUTO_FREE char *url = rows[n].url ? xstrdup(rows[n].url) : NULL;
        struct content content = {.from = from, .to = to, .subject = subject, .text = text};
        struct provider provider = {.password.value = slice_of(rows[n].token), .url = url};
        enum failure_level level = 99;
        struct err err = {0};
        assert_row(!driver_at(1 + i % 3)->build(&content, &provider, KEY, &request, &level, &err),
                rows[n].name);
        assert_row(level == rows[n].level, rows[n].name);
    }
}

struct answer {
    int status;
    const char *body;
    enum attempt_outcome outcome;
    enum failure_level level;
};

static void check_answers(const char *name, const struct answer *rows, size_t n)
{
    const struct driver_row *driver = driver_find(CHANNEL_EMAIL, name);
    for (size_t i = 0; i < n; i++) {
        char label[200];
        struct attempt_result result = {0};
        struct http_reply reply = {.status = rows[i].status, .body = slice_of(rows[i].body)};
        driver->classify(&reply, &result);
        snprintf(label, sizeof label, "%s %d %.150s -> %s level %d", name, rows[i].status,
                rows[i].body, attempt_outcome_name(result.outcome), (int)result.level);
        assert_row(result.outcome == rows[i].outcome, label);
        assert_row(result.outcome == ATTEMPT_ACCEPTED || result.level == rows[i].level, label);
        assert_row(result.code == rows[i].status, label);
    }
    for (enum http_end end = HTTP_NOT_SENT; end <= HTTP_CUT; end++) {
        struct attempt_result result = {0};
        driver->classify(&(struct http_reply){.end = end, .why = "broken"}, &result);
        assert_row(result.outcome == (end == HTTP_CUT ? ATTEMPT_UNKNOWN : ATTEMPT_RETRY), name);
        assert_row(strstr(result.detail, "broken") != NULL, name);
    }
}

#define UNDOCUMENTED                                                                               \
    {500, "", ATTEMPT_UNKNOWN, LEVEL_MESSAGE}, {502, "<html>", ATTEMPT_UNKNOWN, LEVEL_MESSAGE},    \
            {503, "", ATTEMPT_UNKNOWN, LEVEL_MESSAGE},                                             \
            {504, "[]", ATTEMPT_UNKNOWN, LEVEL_MESSAGE}, {301, "", ATTEMPT_RETRY, LEVEL_PROVIDER}, \
            {307, "", ATTEMPT_RETRY, LEVEL_PROVIDER}, {404, "", ATTEMPT_RETRY, LEVEL_PROVIDER},    \
    {                                                                                              \
        429, "", ATTEMPT_RETRY, LEVEL_PROVIDER                                                     \
    }

#define RESEND(name_) "{\"statusCode\":1,\"message\":\"m\",\"name\":\"" name_ "\"}"

static void resend_answers(void **state)
{
    (void)state;
    static const struct answer rows[] = {
            UNDOCUMENTED,
            {200, "{\"id\":\"re_1\"}", ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
            {200, "{\"id\":\"re_", ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
            {200, "", ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
            {400, RESEND("invalid_idempotency_key"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {400, RESEND("validation_error"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {401, RESEND("missing_api_key"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {401, RESEND("restricted_api_key"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {403, RESEND("invalid_api_key"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {403, RESEND("validation_error"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {404, RESEND("not_found"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {405, RESEND("method_not_allowed"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {409, RESEND("invalid_idempotent_request"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {409, RESEND("concurrent_idempotent_requests"), ATTEMPT_RETRY, LEVEL_MESSAGE},
            {422, RESEND("invalid_from_address"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, RESEND("invalid_access"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, RESEND("invalid_region"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, RESEND("invalid_parameter"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, RESEND("missing_required_field"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, RESEND("validation_error"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, "{\"name\":\"validation_error\",\"message\":\"Invalid `to` field\"}",
                    ATTEMPT_REFUSED, LEVEL_ADDRESS},
            {429, RESEND("rate_limit_exceeded"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {429, RESEND("daily_quota_exceeded"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {429, RESEND("monthly_quota_exceeded"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {451, RESEND("security_error"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {500, RESEND("application_error"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {500, RESEND("internal_server_error"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {500, RESEND("something_new"), ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
    };
    check_answers("resend", rows, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct attempt_result result = {0};
        resend_classify(&(struct http_reply){.end = HTTP_REPLIED,
                                .status = rows[i].status,
                                .body = slice_of(rows[i].body)},
                &result);
        assert_int_equal(
                result.other_bytes, rows[i].status == 409 && rows[i].outcome == ATTEMPT_REFUSED);
    }
}

#define POSTMARK(code_) "{\"ErrorCode\":" code_ ",\"Message\":\"m\"}"

static void postmark_answers(void **state)
{
    (void)state;
    static const struct answer rows[] = {
            UNDOCUMENTED,
            {200, "{\"ErrorCode\":0,\"Message\":\"OK\",\"MessageID\":\"pm-1\"}", ATTEMPT_ACCEPTED,
                    LEVEL_MESSAGE},
            {200, "", ATTEMPT_UNKNOWN, LEVEL_MESSAGE},
            {200, POSTMARK("406"), ATTEMPT_REFUSED, LEVEL_ADDRESS},
            {200, POSTMARK("9999"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {401, POSTMARK("10"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {503, POSTMARK("100"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, POSTMARK("300"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, "{\"ErrorCode\":300,\"Message\":\"Invalid 'To' address: 'x'.\"}", ATTEMPT_REFUSED,
                    LEVEL_ADDRESS},
            {422, POSTMARK("400"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, POSTMARK("401"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, POSTMARK("402"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, POSTMARK("403"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, POSTMARK("405"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, POSTMARK("406"), ATTEMPT_REFUSED, LEVEL_ADDRESS},
            {422, POSTMARK("409"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, POSTMARK("411"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {422, POSTMARK("412"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, POSTMARK("413"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {429, POSTMARK("429"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {422, POSTMARK("1235"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {500, POSTMARK("1"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {401, "", ATTEMPT_RETRY, LEVEL_PROVIDER},
    };
    check_answers("postmark", rows, ARRAY_LEN(rows));
}

#define SENDGRID(field_) "{\"errors\":[{\"message\":\"m\",\"field\":" field_ ",\"help\":null}]}"

static void sendgrid_answers(void **state)
{
    (void)state;
    static const struct answer rows[] = {
            UNDOCUMENTED,
            {202, "", ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
            {400, SENDGRID("null"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {400, SENDGRID("\"content\""), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {400, SENDGRID("\"personalizations.0.to.0.email\""), ATTEMPT_REFUSED, LEVEL_ADDRESS},
            {400, SENDGRID("\"from.email\""), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {401, SENDGRID("null"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {403, SENDGRID("\"from\""), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {404, SENDGRID("null"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {405, SENDGRID("null"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {413, SENDGRID("null"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {413, "", ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {415, SENDGRID("null"), ATTEMPT_REFUSED, LEVEL_MESSAGE},
            {429, SENDGRID("null"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {500, SENDGRID("null"), ATTEMPT_RETRY, LEVEL_PROVIDER},
            {503, SENDGRID("null"), ATTEMPT_RETRY, LEVEL_PROVIDER},
    };
    check_answers("sendgrid", rows, ARRAY_LEN(rows));
}

static void the_providers_id_is_kept(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct http_reply reply;
        const char *want;
    } rows[] = {
            {"resend", {.status = 200, .body = SLICE("{\"id\":\"re_1\"}")}, "re_1"},
            {"postmark", {.status = 200, .body = SLICE("{\"ErrorCode\":0,\"MessageID\":\"pm-1\"}")},
                    "pm-1"},
            {"sendgrid",
                    {.status = 202, .head = SLICE("HTTP/1.1 202 x\r\nX-Message-Id: sg.1\r\n\r\n")},
                    "sg.1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct attempt_result result = {0};
        driver_find(CHANNEL_EMAIL, rows[i].name)->classify(&rows[i].reply, &result);
        assert_string_equal(result.provider_id, rows[i].want);
    }
}

static void a_limit_says_when_it_ends(void **state)
{
    (void)state;
    struct attempt_result result = {0};
    struct http_reply reply = {.status = 429,
            .now_us = INT64_C(1000) * 1000000,
            .head = SLICE("HTTP/1.1 429 x\r\nX-RateLimit-Reset: 1030\r\n\r\n")};
    sendgrid_classify(&reply, &result);
    assert_int_equal(result.retry_after_ms, 30000);
    reply.head = SLICE("HTTP/1.1 429 x\r\nRetry-After: 7\r\nX-RateLimit-Reset: 1030\r\n\r\n");
    sendgrid_classify(&reply, &result);
    assert_int_equal(result.retry_after_ms, 7000);
    resend_classify(&reply, &result);
    assert_int_equal(result.retry_after_ms, 7000);
}

// common/config says which drivers run, and can't ask this table.
static void the_policy_runs_what_the_table_has(void **state)
{
    (void)state;
    for (size_t i = 0; driver_at(i) && driver_at(i)->channel == CHANNEL_EMAIL; i++) {
        AUTO_TEXT struct text yaml = {.max = 4096};
        const struct driver_row *driver = driver_at(i);
        const char *needs = strcmp(driver->name, "smtp") == 0 ? "url: 'smtp://127.0.0.1:25'"
                            : strcmp(driver->name, "ses") == 0
                                    ? "region: eu-west-1, access_key: A, secret: credential:t"
                                    : "token: credential:t";
        text_fmt(&yaml,
                "pawl: 1\nchannels:\n  %s:\n    from: a@example.net\n    providers:\n"
                "      - { driver: %s, %s }\n",
                channel_name(driver->channel), driver->name, needs);
        struct policy_text file = {(char[]){"p.yaml"}, yaml.ptr, yaml.len};
        struct diag diag = {0};
        struct policy_known known = {0};
        struct policy *policy = policy_new(&file, 1, NULL, 0, &known, &diag);
        assert_row(policy != NULL, driver->name);
        const struct channel *channel = &policy->channels[driver->channel];
        assert_row(channel->active && channel_provider(channel), driver->name);
        policy_unref(policy);
        diag_fini(&diag);
    }
    assert_null(driver_find(CHANNEL_SMS, "smtp"));
    assert_null(driver_find(CHANNEL_EMAIL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(each_driver_makes_its_request),
            cmocka_unit_test(html_goes_beside_the_text),
            cmocka_unit_test(both_headers_of_one_click_go_by_every_api),
            cmocka_unit_test(what_can_not_be_sent_is_refused_before_the_wire),
            cmocka_unit_test(resend_answers),
            cmocka_unit_test(postmark_answers),
            cmocka_unit_test(sendgrid_answers),
            cmocka_unit_test(the_providers_id_is_kept),
            cmocka_unit_test(a_limit_says_when_it_ends),
            cmocka_unit_test(the_policy_runs_what_the_table_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
