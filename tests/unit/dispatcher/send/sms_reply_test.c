// Every code of the providers' tables, in bodies as they come.
#include "dispatcher/send/sms.h"
#include "tests/test.h"

#include <stdio.h>

typedef void classify_fn(const struct http_reply *reply, struct attempt_result *result);

enum {
    OK = ATTEMPT_ACCEPTED,
    NO = ATTEMPT_REFUSED,
    AGAIN = ATTEMPT_RETRY,
    DOUBT = ATTEMPT_UNKNOWN
};
enum { MESSAGE = LEVEL_MESSAGE, ADDRESS = LEVEL_ADDRESS, PROVIDER = LEVEL_PROVIDER };

struct row {
    int status;
    const char *code; // goes into the form of the provider's error body; NULL = the body as it is
    int outcome, level;
};

static struct attempt_result classify(classify_fn *with, int status, const char *body)
{
    struct attempt_result result = {.wire_ms = 7, .stale_token = true, .dead_since_ms = 1};
    struct http_reply reply = {.end = HTTP_REPLIED, .status = status, .body = slice_of(body)};
    memset(result.provider_id, 'x', sizeof result.provider_id - 1);
    memset(result.enhanced, 'x', sizeof result.enhanced - 1);
    with(&reply, &result);
    return result;
}

// %1$s stands for the code, %2$d for the status.
static void check_rows(classify_fn *with, const char *form, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_TEXT struct text body = {0};
        char name[64];
        text_init(&body, 2000);
        snprintf(name, sizeof name, "%d %s", rows[i].status, rows[i].code ? rows[i].code : "-");
        for (const char *at = form; rows[i].code && *at; at++) {
            bool code = *at == '@', status = *at == '#' && at[1] == '#';
            assert_true(code     ? text_str(&body, rows[i].code)
                        : status ? text_fmt(&body, "%d", rows[i].status)
                                 : text_char(&body, *at));
            at += status;
        }
        struct attempt_result result = classify(with, rows[i].status, text_cstr(&body));
        assert_row((int)result.outcome == rows[i].outcome, name);
        assert_row((int)result.level == rows[i].level, name);
        assert_row(result.code == rows[i].status, name);
        assert_row(result.provider_id[0] == '\0' || result.outcome == ATTEMPT_ACCEPTED, name);
        assert_row(!rows[i].code || strstr(result.detail, rows[i].code), name);
        assert_row(result.wire_ms == 7 && result.dead_since_ms == 0, name);
    }
}

static const struct row twilio[] = {
        {429, "20429", AGAIN, PROVIDER},
        {500, "20500", DOUBT, MESSAGE},
        {401, "20003", AGAIN, PROVIDER},
        {400, "21211", NO, ADDRESS},
        {400, "21614", NO, ADDRESS},
        {400, "21610", NO, ADDRESS},
        {400, "21612", NO, MESSAGE},
        {400, "21408", NO, MESSAGE},
        {400, "21602", NO, MESSAGE},
        {400, "21617", NO, MESSAGE},
        {400, "21606", AGAIN, PROVIDER},
        {400, "21608", AGAIN, PROVIDER},
        {400, "30001", AGAIN, PROVIDER},
        {400, "30003", AGAIN, ADDRESS},
        {400, "30004", NO, ADDRESS},
        {400, "30005", NO, ADDRESS},
        {400, "30006", NO, ADDRESS},
        {400, "30007", NO, MESSAGE},
        {400, "30008", NO, MESSAGE},
        {400, "30022", AGAIN, PROVIDER},
        {400, "30023", AGAIN, PROVIDER},
        {400, "99999", NO, MESSAGE}, // none that we know
        {429, NULL, AGAIN, PROVIDER},
        {401, NULL, AGAIN, PROVIDER},
        {404, NULL, AGAIN, PROVIDER},
        {413, NULL, NO, MESSAGE},
        {500, NULL, DOUBT, MESSAGE},
        {502, NULL, DOUBT, MESSAGE},
        {504, NULL, DOUBT, MESSAGE},
};

static void twilio_every_code(void **state)
{
    (void)state;
    check_rows(twilio_classify,
            "{\"code\": @, \"message\": \"The 'To' number is not a valid phone number.\", "
            "\"more_info\": \"https://www.twilio.com/docs/errors/\", \"status\": ##}",
            twilio, ARRAY_LEN(twilio));
    struct attempt_result result = classify(twilio_classify, 201,
            "{\"sid\":\"SM0123456789abcdef0123456789abcdef\",\"status\":\"queued\",\"to\":\"+15\","
            "\"error_code\":null,\"error_message\":null,\"num_segments\":\"1\"}");
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "SM0123456789abcdef0123456789abcdef");
    assert_string_equal(result.enhanced, "");
    assert_false(result.stale_token);
    result = classify(twilio_classify, 400,
            "{\"code\": 21610, \"message\": \"Attempt to send to unsubscribed recipient\"}");
    assert_string_equal(result.enhanced, "21610");
    assert_string_equal(result.detail, "400 21610 Attempt to send to unsubscribed recipient");
    result = classify(twilio_classify, 400, "{\"code\":30023,\"message\":\"cap\"}");
    assert_int_equal(result.retry_after_ms, 3600000);
}

static void twilio_codes_of_status_callbacks(void **state)
{
    (void)state;
    enum attempt_outcome outcome = ATTEMPT_ACCEPTED;
    enum failure_level level = LEVEL_MESSAGE;
    assert_true(twilio_error("30005", &outcome, &level));
    assert_true(outcome == ATTEMPT_REFUSED && level == LEVEL_ADDRESS);
    assert_true(twilio_error("30003", &outcome, &level));
    assert_true(outcome == ATTEMPT_RETRY && level == LEVEL_ADDRESS);
    assert_false(twilio_error("", &outcome, &level));
    assert_false(twilio_error("30", &outcome, &level));
}

static const struct row vonage[] = {
        {429, "1000", AGAIN, PROVIDER},
        {422, "1010", NO, MESSAGE},
        {422, "1020", NO, MESSAGE},
        {500, "1030", DOUBT, MESSAGE},
        {422, "1040", NO, MESSAGE},
        {403, "1050", NO, ADDRESS},
        {403, "1060", AGAIN, PROVIDER},
        {402, "1070", AGAIN, PROVIDER},
        {500, "1100", DOUBT, MESSAGE},
        {422, "1120", AGAIN, PROVIDER},
        {422, "1130", NO, MESSAGE},
        {401, NULL, AGAIN, PROVIDER},
        {402, NULL, AGAIN, PROVIDER},
        {403, NULL, AGAIN, PROVIDER},
        {400, NULL, NO, MESSAGE},
        {422, NULL, NO, MESSAGE},
        {429, NULL, AGAIN, PROVIDER},
        {500, NULL, DOUBT, MESSAGE},
        {503, NULL, DOUBT, MESSAGE},
};

static void vonage_every_code(void **state)
{
    (void)state;
    check_rows(vonage_classify,
            "{\"type\":\"https://developer.vonage.com/api-errors/"
            "messages#@\",\"title\":\"Rejected\","
            "\"detail\":\"why\",\"instance\":\"bf0ca0bf927b3b52e3cb03217e1a1ddf\"}",
            vonage, ARRAY_LEN(vonage));
    struct attempt_result result = classify(
            vonage_classify, 202, "{\"message_uuid\":\"aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab\"}");
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab");
    assert_true(classify(vonage_classify, 401, "{\"title\":\"Unauthorized\"}").stale_token);
    assert_false(classify(vonage_classify, 403, "").stale_token);
}

static const struct row sinch[] = {
        {400, "syntax_invalid_parameter_format", NO, MESSAGE},
        {400, "syntax_constraint_violation", NO, MESSAGE},
        {401, "unauthorized", AGAIN, PROVIDER},
        {402, "insufficient_funds", AGAIN, PROVIDER},
        {403, "missing_callback_url", AGAIN, PROVIDER},
        {404, NULL, AGAIN, PROVIDER},
        {413, NULL, NO, MESSAGE},
        {429, NULL, AGAIN, PROVIDER},
        {500, NULL, DOUBT, MESSAGE},
        {503, NULL, DOUBT, MESSAGE},
};

static void sinch_every_status(void **state)
{
    (void)state;
    check_rows(sinch_classify, "{\"code\":\"@\",\"text\":\"The property is invalid\"}", sinch,
            ARRAY_LEN(sinch));
    struct attempt_result result = classify(sinch_classify, 201,
            "{\"id\":\"01FC66621XXXXX119Z8PMV1QPQ\",\"to\":[\"15551231234\"],\"canceled\":false}");
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "01FC66621XXXXX119Z8PMV1QPQ");
}

static const struct row telnyx[] = {
        {401, "10009", AGAIN, PROVIDER},
        {403, "10010", AGAIN, PROVIDER},
        {429, "10011", AGAIN, PROVIDER},
        {500, "10007", DOUBT, MESSAGE},
        {400, "10002", NO, ADDRESS},
        {422, "10016", NO, ADDRESS},
        {400, "40001", NO, ADDRESS},
        {400, "40002", NO, MESSAGE},
        {400, "40003", AGAIN, PROVIDER},
        {400, "40300", NO, ADDRESS},
        {400, "40310", NO, ADDRESS},
        {400, "40305", AGAIN, PROVIDER},
        {422, "99999", NO, MESSAGE},
        {409, NULL, AGAIN, MESSAGE},
        {400, NULL, NO, MESSAGE},
        {429, NULL, AGAIN, PROVIDER},
        {500, NULL, DOUBT, MESSAGE},
};

static void telnyx_every_code(void **state)
{
    (void)state;
    check_rows(telnyx_classify,
            "{\"errors\":[{\"code\":\"@\",\"title\":\"No\",\"detail\":\"It is so.\",\"meta\":{}}]}",
            telnyx, ARRAY_LEN(telnyx));
    struct attempt_result result = classify(
            telnyx_classify, 200, "{\"data\":{\"id\":\"40385f64-5717-4562-b3fc-2c963f66afa6\"}}");
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "40385f64-5717-4562-b3fc-2c963f66afa6");
    for (size_t i = 0; i < ARRAY_LEN(telnyx); i++) { // a key that comes with other bytes is a 422
        char body[64];
        snprintf(body, sizeof body, "{\"errors\":[{\"code\":\"%s\"}]}",
                telnyx[i].code ? telnyx[i].code : "0");
        bool other = telnyx[i].status == 422 && telnyx[i].level == MESSAGE;
        result = classify(telnyx_classify, telnyx[i].status, body);
        assert_int_equal(result.other_bytes, other);
    }
}

static void a_gateway_succeeds_as_its_policy_says(void **state)
{
    (void)state;
    static int success[] = {202};
    static char pointer[] = "/messages/0/id";
    struct gateway gateway = {.success = success, .n_success = 1, .id = pointer};
    struct attempt_result result = {0};
    struct http_reply reply = {
            .end = HTTP_REPLIED, .status = 202, .body = SLICE("{\"messages\":[{\"id\":4711}]}")};
    gateway_classify_by(&gateway, &reply, &result);
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "4711");
    reply.status = 200;
    gateway_classify_by(&gateway, &reply, &result);
    assert_int_equal(result.outcome, DOUBT);
    assert_string_equal(result.provider_id, "");
    // Kannel's answers.
    assert_int_equal(classify(gateway_classify, 202, "0: Accepted for delivery").outcome, OK);
    assert_int_equal(classify(gateway_classify, 403, "Authorization failed").level, PROVIDER);
    assert_int_equal(classify(gateway_classify, 400, "Empty text").outcome, NO);
    assert_int_equal(classify(gateway_classify, 503, "Temporal failure").outcome, DOUBT);
    assert_int_equal(classify(gateway_classify, 204, "").outcome, DOUBT);
}

static classify_fn *const all[] = {
        twilio_classify, vonage_classify, sinch_classify, telnyx_classify, gateway_classify};

static void without_a_reply_the_phase_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct attempt_result result = {0};
        all[i](&(struct http_reply){.end = HTTP_NOT_SENT, .why = "refused"}, &result);
        assert_true(result.outcome == ATTEMPT_RETRY && result.level == LEVEL_PROVIDER);
        all[i](&(struct http_reply){.end = HTTP_CUT, .why = "reset"}, &result);
        assert_true(result.outcome == ATTEMPT_UNKNOWN && result.level == LEVEL_MESSAGE);
    }
}

static void bodies_that_are_not_what_they_should_be_decide_nothing(void **state)
{
    (void)state;
    static const char *const bodies[] = {"", "null", "[]", "{", "<html>502</html>", "{\"code\":{}}",
            "{\"code\":\"21211\",\"code\":\"21211\"}", "{\"errors\":[]}", "{\"type\":7}",
            "{\"sid\":\"a\\nb\",\"id\":\"a\\u0000b\",\"message_uuid\":\"\\u00e9\"}"};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        for (size_t b = 0; b < ARRAY_LEN(bodies); b++) {
            struct attempt_result result = classify(all[i], 502, bodies[b]);
            assert_row(result.outcome == ATTEMPT_UNKNOWN, bodies[b]);
            result = classify(all[i], 202, bodies[b]);
            assert_row(result.provider_id[0] == '\0', bodies[b]);
        }
    }
}

static void what_is_asked_for_by_retry_after_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct attempt_result result = {0};
        struct http_reply reply = {.end = HTTP_REPLIED,
                .status = 429,
                .head = SLICE("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 17\r\n\r\n")};
        all[i](&reply, &result);
        assert_int_equal(result.retry_after_ms, 17000);
    }
}

static void what_the_destination_decides_is_apart(void **state)
{
    (void)state;
    static const struct {
        classify_fn *with;
        int status;
        const char *body;
        bool apart;
    } rows[] = {
            {twilio_classify, 400, "{\"code\":21606}", true},
            {twilio_classify, 400, "{\"code\":21608}", true},
            {twilio_classify, 401, "{\"code\":20003}", false},
            {twilio_classify, 400, "{\"code\":21211}", false},
            {vonage_classify, 422, "{\"type\":\"https://x/messages#1120\"}", true},
            {vonage_classify, 403, "{\"type\":\"https://x/messages#1160\"}", true},
            {vonage_classify, 403, "{\"type\":\"https://x/messages#1060\"}", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct attempt_result result = classify(rows[i].with, rows[i].status, rows[i].body);
        assert_row(result.apart == rows[i].apart, rows[i].body);
        assert_row(!result.apart || result.level == LEVEL_PROVIDER, rows[i].body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(twilio_every_code),
            cmocka_unit_test(twilio_codes_of_status_callbacks),
            cmocka_unit_test(vonage_every_code),
            cmocka_unit_test(what_the_destination_decides_is_apart),
            cmocka_unit_test(sinch_every_status),
            cmocka_unit_test(telnyx_every_code),
            cmocka_unit_test(a_gateway_succeeds_as_its_policy_says),
            cmocka_unit_test(without_a_reply_the_phase_decides),
            cmocka_unit_test(bodies_that_are_not_what_they_should_be_decide_nothing),
            cmocka_unit_test(what_is_asked_for_by_retry_after_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
