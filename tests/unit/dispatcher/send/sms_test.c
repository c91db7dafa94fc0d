#include "common/json/scan.h"
#include "dispatcher/send/sms.h"
#include "tests/test.h"

#define PLACED "fedcba9876543210fedcba9876543210"

static char to[] = "+4915112345678", from[] = "+4915100000000", words[] = "Paket & Gr\u00fc\u00dfe",
            url[] = "https://sms.example.net:8443/base", account[] = "AC00/7",
            callback[] = "https://hooks.example.com/hooks/status?v=1";
static const char key[] = "0123456789abcdef0123456789abcdef";

static struct content sample(void)
{
    return (struct content){.to = to, .from = from, .text = words, .place = "3ff-" PLACED "-0"};
}

static struct provider provider_of(const char *secret)
{
    return (struct provider){
            .account = account, .password.value = slice_of(secret), .callback = callback};
}

#define BUILD(name, content, provider, request)                                                    \
    do {                                                                                           \
        enum failure_level level_;                                                                 \
        struct err err_ = {0};                                                                     \
        if (!name##_build(content, provider, key, request, &level_, &err_))                        \
            fail_msg("%s", err_.msg);                                                              \
    } while (0)

static void twilio_gets_a_form_and_our_key_in_the_callback(void **state)
{
    (void)state;
    struct content content = sample();
    struct provider provider = provider_of("secret");
    AUTO_HTTP_REQUEST struct http_request request = {0};
    content.left_s = 90000;
    BUILD(twilio, &content, &provider, &request);
    assert_string_equal(
            request.url, "https://api.twilio.com/2010-04-01/Accounts/AC00%2F7/Messages.json");
    assert_string_equal(text_cstr(&request.head),
            "Authorization: Basic QUMwMC83OnNlY3JldA==\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n");
    assert_string_equal(text_cstr(&request.body),
            "To=%2B4915112345678&From=%2B4915100000000&Body=Paket%20%26%20Gr%C3%BC%C3%9Fe"
            "&StatusCallback=https%3A%2F%2Fhooks.example.com%2Fhooks%2Fstatus%3Fv%3D1%26delivery"
            "%3D0123456789abcdef0123456789abcdef%26place%3D3ff-" PLACED "-0&ValidityPeriod=36000");
    assert_null(request.method);
}

static void sinch_gets_a_batch_of_one_with_our_reference(void **state)
{
    (void)state;
    struct content content = sample();
    struct provider provider = provider_of("tok");
    AUTO_HTTP_REQUEST struct http_request request = {0};
    content.expires_s = 1790000000;
    content.left_s = 5;
    BUILD(sinch, &content, &provider, &request);
    assert_string_equal(request.url, "https://us.sms.api.sinch.com/xms/v1/AC00%2F7/batches");
    assert_string_equal(text_cstr(&request.head),
            "Authorization: Bearer tok\r\nContent-Type: application/json\r\n");
    assert_string_equal(text_cstr(&request.body),
            "{\"from\":\"+4915100000000\",\"to\":[\"+4915112345678\"],"
            "\"body\":\"Paket & Gr\u00fc\u00dfe\","
            "\"client_reference\":\"0123456789abcdef0123456789abcdef\","
            "\"expire_at\":\"2026-09-21T14:13:20.000Z\",\"delivery_report\":\"per_recipient\","
            "\"callback_url\":\"https://hooks.example.com/hooks/status?v=1&delivery="
            "0123456789abcdef0123456789abcdef&place=3ff-" PLACED "-0\"}");
}

static void vonage_gets_bare_numbers_and_our_reference(void **state)
{
    (void)state;
    struct content content = sample();
    struct provider provider = {.url = url, .account = account};
    AUTO_HTTP_REQUEST struct http_request request = {0};
    content.left_s = 7;
    BUILD(vonage, &content, &provider, &request);
    assert_string_equal(request.url, "https://sms.example.net:8443/base/v1/messages");
    assert_string_equal(text_cstr(&request.body),
            "{\"message_type\":\"text\",\"channel\":\"sms\",\"from\":\"4915100000000\","
            "\"to\":\"4915112345678\",\"text\":\"Paket & Gr\u00fc\u00dfe\","
            "\"client_ref\":\"0123456789abcdef0123456789abcdef\",\"ttl\":20}");
}

static void telnyx_gets_our_key_as_idempotency_key_and_always_the_same_bytes(void **state)
{
    (void)state;
    struct content content = sample();
    struct provider provider = {.password.value = SLICE("KEY")};
    AUTO_HTTP_REQUEST struct http_request first = {0}, second = {0};
    content.left_s = 100;
    BUILD(telnyx, &content, &provider, &first);
    content.left_s = 5;
    BUILD(telnyx, &content, &provider, &second);
    assert_string_equal(first.url, "https://api.telnyx.com/v2/messages");
    assert_non_null(strstr(
            text_cstr(&first.head), "\r\nIdempotency-Key: 0123456789abcdef0123456789abcdef\r\n"));
    assert_non_null(strstr(text_cstr(&first.body),
            "\"tags\":[\"0123456789abcdef0123456789abcdef\",\"3ff-" PLACED "-0\"]"));
    assert_string_equal(text_cstr(&first.body), text_cstr(&second.body));
    assert_string_equal(text_cstr(&first.head), text_cstr(&second.head));
}

static char kannel_url[] = "http://127.0.0.1:13013/cgi-bin/sendsms?to={to}&from={from}&text={text}"
                           "&coding={coding}&password={token}&dlr={key}&odd={none}",
            get[] = "GET", put[] = "PUT", name_x[] = "X-Ref", name_to[] = "to", name_text[] = "t",
            value_key[] = "ref-{key}", value_to[] = "{to}", value_text[] = "{{text}}",
            type[] = "Content-Type", json_type[] = "application/vnd.x+json",
            json[] = "{\"m\":{\"to\":[\"{to}\"],\"text\":\"{text}\",\"ref\":\"{key}\"}}";

static void a_gateway_gets_the_request_that_the_policy_describes(void **state)
{
    (void)state;
    struct gateway gateway = {.method = get};
    struct provider provider = {
            .url = kannel_url, .http = &gateway, .password.value = SLICE("p&w")};
    struct content content = sample();
    AUTO_HTTP_REQUEST struct http_request request = {0};
    BUILD(gateway, &content, &provider, &request);
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url,
            "http://127.0.0.1:13013/cgi-bin/sendsms?to=%2B4915112345678&from=%2B4915100000000"
            "&text=Paket%20%26%20Gr%C3%BC%C3%9Fe&coding=0&password=p%26w"
            "&dlr=0123456789abcdef0123456789abcdef&odd={none}");
    assert_int_equal(request.body.len, 0);
}

static void a_gateway_gets_a_form(void **state)
{
    (void)state;
    struct pair headers[] = {{name_x, value_key}};
    struct pair form[] = {{name_to, value_to}, {name_text, value_text}};
    struct gateway gateway = {.method = put,
            .headers = headers,
            .n_headers = 1,
            .form = form,
            .n_form = ARRAY_LEN(form)};
    struct provider provider = {.url = url, .http = &gateway};
    struct content content = sample();
    AUTO_HTTP_REQUEST struct http_request request = {0};
    BUILD(gateway, &content, &provider, &request);
    assert_string_equal(request.method, "PUT");
    assert_string_equal(text_cstr(&request.head),
            "X-Ref: ref-0123456789abcdef0123456789abcdef\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n");
    assert_string_equal(
            text_cstr(&request.body), "to=%2B4915112345678&t=%7BPaket%20%26%20Gr%C3%BC%C3%9Fe%7D");
}

static void a_gateway_gets_json_whose_strings_hold_the_values(void **state)
{
    (void)state;
    static char nasty[] = "say \"hi\"\n\\{key}";
    struct pair headers[] = {{type, json_type}};
    struct gateway gateway = {.json = json, .headers = headers, .n_headers = 1};
    struct provider provider = {.url = url, .http = &gateway};
    struct content content = sample();
    AUTO_HTTP_REQUEST struct http_request request = {0};
    content.text = nasty;
    BUILD(gateway, &content, &provider, &request);
    assert_string_equal(text_cstr(&request.head), "Content-Type: application/vnd.x+json\r\n");
    assert_string_equal(text_cstr(&request.body),
            "{\"m\":{\"to\":[\"+4915112345678\"],\"text\":\"say \\\"hi\\\"\\n\\\\{key}\","
            "\"ref\":\"0123456789abcdef0123456789abcdef\"}}");
}

static void a_number_is_e164_or_the_address_is_to_blame(void **state)
{
    (void)state;
    static const struct {
        const char *number;
        bool good;
    } numbers[] = {{"+4915112345678", true}, {"+12", true}, {"+123456789012345", true},
            {"+1234567890123456", false}, {"+1", false}, {"+", false}, {"", false},
            {"4915112345678", false}, {"+0915112345678", false}, {"004915112345678", false},
            {"+49 151 12345678", false}, {"+49151-12345", false}, {"+49151a", false},
            {"+4915112345678\n", false}, {"tel:+4915112345678", false},
            {"+\u0661\u0662\u0663\u0664", false}};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        AUTO_FREE char *number = xstrdup(numbers[i].number);
        struct content content = sample();
        content.to = number;
        struct sms sms;
        struct err err = {0};
        enum failure_level level = LEVEL_PROVIDER;
        bool got = sms_check(&content, &sms, &level, &err);
        assert_row(got == numbers[i].good, numbers[i].number);
        assert_row(got || level == LEVEL_ADDRESS, numbers[i].number);
    }
}

static void a_text_is_limited_by_parts(void **state)
{
    (void)state;
    char text[1600];
    struct content content = sample();
    struct sms sms;
    struct err err = {0};
    enum failure_level level = LEVEL_PROVIDER;
    memset(text, 'a', sizeof text);
    text[1530] = '\0';
    content.text = text;
    assert_true(sms_check(&content, &sms, &level, &err));
    assert_int_equal(sms.segments.parts, 10);
    text[1530] = 'a';
    text[1531] = '\0';
    assert_false(sms_check(&content, &sms, &level, &err));
    assert_int_equal(level, LEVEL_MESSAGE);
    assert_string_equal(err.msg, "the text is 11 short messages long, limit 10");
    text[0] = '\0';
    assert_false(sms_check(&content, &sms, &level, &err));
    content.text = NULL;
    assert_false(sms_check(&content, &sms, &level, &err));
}

static void settings_that_cant_work_are_the_providers_fault(void **state)
{
    (void)state;
    static char plain[] = "http://sms.example.net", broken[] = "{\"a\":{to}", bad_from[] = "a@b";
    struct gateway gateway = {.json = broken};
    struct content content = sample();
    struct provider provider = {.url = plain, .account = account};
    struct http_request request = {0};
    struct err err = {0};
    enum failure_level level = LEVEL_MESSAGE;
    assert_false(twilio_build(&content, &provider, key, &request, &level, &err));
    assert_true(level == LEVEL_PROVIDER && err.kind == ERR_FATAL);
    assert_false(gateway_build(&content, &provider, key, &request, &level, &err));
    assert_true(level == LEVEL_PROVIDER && err.kind == ERR_FATAL);
    provider = (struct provider){.url = url, .http = &gateway};
    assert_false(gateway_build(&content, &provider, key, &request, &level, &err));
    assert_true(level == LEVEL_PROVIDER && err.kind == ERR_FATAL);
    provider = (struct provider){0};
    assert_false(sinch_build(&content, &provider, key, &request, &level, &err));
    assert_true(level == LEVEL_PROVIDER && err.kind == ERR_FATAL);
    content.from = bad_from;
    assert_false(telnyx_build(&content, &provider, key, &request, &level, &err));
    assert_true(level == LEVEL_PROVIDER && err.kind == ERR_FATAL);
    assert_null(request.url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(twilio_gets_a_form_and_our_key_in_the_callback),
            cmocka_unit_test(sinch_gets_a_batch_of_one_with_our_reference),
            cmocka_unit_test(vonage_gets_bare_numbers_and_our_reference),
            cmocka_unit_test(telnyx_gets_our_key_as_idempotency_key_and_always_the_same_bytes),
            cmocka_unit_test(a_gateway_gets_the_request_that_the_policy_describes),
            cmocka_unit_test(a_gateway_gets_a_form),
            cmocka_unit_test(a_gateway_gets_json_whose_strings_hold_the_values),
            cmocka_unit_test(a_number_is_e164_or_the_address_is_to_blame),
            cmocka_unit_test(a_text_is_limited_by_parts),
            cmocka_unit_test(settings_that_cant_work_are_the_providers_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
