// What providers are asked about a try of unknown outcome, and what their answers say.
#include "dispatcher/send/providers.h"

#include "tests/test.h"

#define KEY "0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff"

static struct provider provider_of(char *account)
{
    return (struct provider){.account = account, .password = {.value = SLICE("secret")}};
}

static void each_is_asked_by_our_key(void **state)
{
    (void)state;
    static const struct {
        enum channel_kind channel;
        const char *driver, *url, *head;
    } cases[] = {
            {CHANNEL_EMAIL, "postmark",
                    "https://api.postmarkapp.com/messages/"
                    "outbound?count=20&offset=0&metadata_pawl-delivery=" KEY,
                    "X-Postmark-Server-Token: secret\r\n"},
            {CHANNEL_SMS, "sinch",
                    "https://us.sms.api.sinch.com/xms/v1/plan/"
                    "batches?page_size=20&start_date=2026-11-28T00:00:00.000Z&client_"
                    "reference=" KEY,
                    "Authorization: Bearer secret\r\n"},
    };
    char account[] = "plan";
    const struct provider provider = provider_of(account);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        struct err err = {0};
        const struct driver_row *driver = driver_find(cases[i].channel, cases[i].driver);
        assert_row(driver && driver->lookup == LOOKUP_SEARCH, cases[i].driver);
        assert_true(driver->look_build(&provider, KEY, 1795910400, &request, &err));
        assert_string_equal(request.url, cases[i].url);
        assert_string_equal(request.method, "GET");
        assert_int_equal(request.body.len, 0);
        assert_row(strstr(text_cstr(&request.head), cases[i].head), cases[i].driver);
    }
}

static void only_those_that_can_be_asked_have_both_ends(void **state)
{
    (void)state;
    const struct driver_row *driver;
    for (size_t i = 0; (driver = driver_at(i)); i++) {
        bool searched = driver->lookup == LOOKUP_SEARCH;
        assert_row((driver->look_build != NULL) == searched, driver->name);
        assert_row((driver->look_read != NULL) == searched, driver->name);
    }
}

static void an_answer_counts_only_where_it_names_our_key(void **state)
{
    (void)state;
    static const struct {
        enum channel_kind channel;
        const char *driver, *body;
        enum attempt_outcome outcome;
        const char *id;
    } cases[] = {
            {CHANNEL_EMAIL, "postmark",
                    "{\"TotalCount\":1,\"Messages\":[{\"MessageID\":\"pm\",\"Metadata\":"
                    "{\"pawl-delivery\":\"" KEY "\"}}]}",
                    ATTEMPT_FOUND, "pm"},
            {CHANNEL_EMAIL, "postmark",
                    "{\"TotalCount\":1,\"Messages\":[{\"MessageID\":\"pm\",\"Metadata\":"
                    "{\"pawl-delivery\":\"" OTHER "\"}}]}",
                    ATTEMPT_UNANSWERED, ""},
            {CHANNEL_EMAIL, "postmark", "{\"TotalCount\":1,\"Messages\":[{\"MessageID\":\"pm\"}]}",
                    ATTEMPT_UNANSWERED, ""},
            {CHANNEL_EMAIL, "postmark", "{\"TotalCount\":0,\"Messages\":[]}", ATTEMPT_NOT_FOUND,
                    ""},
            {CHANNEL_EMAIL, "postmark", "{\"ErrorCode\":100,\"Message\":\"maintenance\"}",
                    ATTEMPT_UNANSWERED, ""},
            {CHANNEL_EMAIL, "postmark", "<html>", ATTEMPT_UNANSWERED, ""},
            {CHANNEL_SMS, "sinch",
                    "{\"count\":1,\"page\":0,\"batches\":[{\"id\":\"01X\",\"client_reference\":"
                    "\"" KEY "\"}]}",
                    ATTEMPT_FOUND, "01X"},
            {CHANNEL_SMS, "sinch",
                    "{\"count\":1,\"page\":0,\"batches\":[{\"id\":\"01X\",\"client_reference\":"
                    "\"" OTHER "\"}]}",
                    ATTEMPT_UNANSWERED, ""},
            {CHANNEL_SMS, "sinch", "{\"count\":1,\"batches\":[{\"client_reference\":\"" KEY "\"}]}",
                    ATTEMPT_UNANSWERED, ""},
            {CHANNEL_SMS, "sinch", "{\"count\":0,\"page\":0,\"batches\":[]}", ATTEMPT_NOT_FOUND,
                    ""},
            {CHANNEL_SMS, "sinch", "{}", ATTEMPT_UNANSWERED, ""},
            {CHANNEL_SMS, "sinch", "", ATTEMPT_UNANSWERED, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct driver_row *driver = driver_find(cases[i].channel, cases[i].driver);
        const struct http_reply reply = {
                .end = HTTP_REPLIED, .status = 200, .body = slice_of(cases[i].body)};
        struct attempt_result result = {.outcome = ATTEMPT_UNANSWERED};
        driver->look_read(&reply, KEY, 0, &result);
        assert_row(result.outcome == cases[i].outcome, cases[i].body);
        assert_row(strcmp(result.provider_id, cases[i].id) == 0, cases[i].body);
    }
}

static void messages_of_one_key_are_told_one_by_one(void **state)
{
    (void)state;
    static const struct {
        enum channel_kind channel;
        const char *driver, *body;
    } cases[] = {
            {CHANNEL_EMAIL, "postmark",
                    "{\"TotalCount\":3,\"Messages\":[{\"MessageID\":\"a\",\"Metadata\":{"
                    "\"pawl-delivery\":\"" KEY "\"}},{\"MessageID\":\"b\",\"Metadata\":{"
                    "\"pawl-delivery\":\"" KEY "\"}}]}"},
            {CHANNEL_SMS, "sinch",
                    "{\"count\":3,\"batches\":[{\"id\":\"a\",\"client_reference\":\"" KEY
                    "\"},{\"id\":\"b\",\"client_reference\":\"" KEY "\"}]}"},
    };
    static const struct {
        enum attempt_outcome outcome;
        const char *id;
    } told[] = {{ATTEMPT_FOUND, "a"}, {ATTEMPT_FOUND, "b"}, {ATTEMPT_UNANSWERED, ""},
            {ATTEMPT_NOT_FOUND, ""}};
    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(told); i++) {
        size_t row = i / ARRAY_LEN(told), nth = i % ARRAY_LEN(told);
        const struct driver_row *driver = driver_find(cases[row].channel, cases[row].driver);
        const struct http_reply reply = {
                .end = HTTP_REPLIED, .status = 200, .body = slice_of(cases[row].body)};
        struct attempt_result result = {.outcome = ATTEMPT_UNANSWERED};
        driver->look_read(&reply, KEY, (int)nth, &result);
        assert_row(result.outcome == told[nth].outcome, cases[row].driver);
        assert_row(strcmp(result.provider_id, told[nth].id) == 0, cases[row].driver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(each_is_asked_by_our_key),
            cmocka_unit_test(only_those_that_can_be_asked_have_both_ends),
            cmocka_unit_test(an_answer_counts_only_where_it_names_our_key),
            cmocka_unit_test(messages_of_one_key_are_told_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
