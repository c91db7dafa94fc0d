// Amazon SES: the signature by AWS's published vectors, the request, and every documented answer.
#include "dispatcher/send/ses.h"
#include "dispatcher/send/sigv4.h"
#include "tests/test.h"

#define KEY "00112233445566778899aabbccddeeff"

static const struct sigv4 example = {.access = "AKIDEXAMPLE",
        .region = "us-east-1",
        .service = "service",
        .secret = {(const unsigned char *)"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 40},
        .now_s = 1440938160};

// aws-sig-v4-test-suite, and the example of AWS's page on the signing of requests (the last).
static void requests_are_signed_as_aws_publishes_it(void **state)
{
    (void)state;
    static const struct {
        const char *name, *service, *method, *query, *type, *host, *body, *want;
    } rows[] = {
            {"get-vanilla", "service", "GET", "", NULL, "example.amazonaws.com", "",
                    "SignedHeaders=host;x-amz-date, Signature="
                    "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
            {"post-vanilla", "service", "POST", "", NULL, "example.amazonaws.com", "",
                    "SignedHeaders=host;x-amz-date, Signature="
                    "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
            {"get-vanilla-query-order", "service", "GET", "Param1=value1&Param2=value2", NULL,
                    "example.amazonaws.com", "",
                    "SignedHeaders=host;x-amz-date, Signature="
                    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
            {"post-x-www-form-urlencoded", "service", "POST", "",
                    "application/x-www-form-urlencoded", "example.amazonaws.com", "Param1=value1",
                    "SignedHeaders=content-type;host;x-amz-date, Signature="
                    "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
            {"list users", "iam", "GET", "Action=ListUsers&Version=2010-05-08",
                    "application/x-www-form-urlencoded; charset=utf-8", "iam.amazonaws.com", "",
                    "SignedHeaders=content-type;host;x-amz-date, Signature="
                    "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sigv4_header headers[] = {{"content-type", slice_of(rows[i].type)},
                {"host", slice_of(rows[i].host)}, {"x-amz-date", SLICE("20150830T123600Z")}};
        bool typed = rows[i].type != NULL;
        struct sigv4 how = example;
        how.service = rows[i].service;
        const struct sigv4_request request = {.method = rows[i].method,
                .path = SLICE("/"),
                .query = slice_of(rows[i].query),
                .headers = typed ? headers : headers + 1,
                .n_headers = typed ? 3 : 2,
                .body = slice_of(rows[i].body)};
        AUTO_TEXT struct text out = {0};
        struct err err = {0};
        text_init(&out, 1000);
        assert_row(sigv4_sign(&how, &request, &out, &err), rows[i].name);
        assert_row(strncmp(text_cstr(&out), "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-",
                           52) == 0,
                rows[i].name);
        assert_row(strstr(text_cstr(&out), rows[i].want) != NULL, rows[i].name);
    }
}

static struct content a_mail(void)
{
    static char from[] = "Shop <shop@example.net>", to[] = "Ann <ann@example.org>";
    static char subject[] = "Order", text[] = "Hello", id[] = "k@example.net";
    static char date[] = "Sun, 29 Nov 2026 12:00:00 +0000";
    return (struct content){.from = from,
            .to = to,
            .subject = subject,
            .text = text,
            .message_id = id,
            .date = date,
            .place = "0-x-0"};
}

static struct provider a_provider(void)
{
    static char region[] = "eu-central-1", access[] = "AKIDEXAMPLE";
    return (struct provider){.driver = DRIVER_HTTP,
            .region = region,
            .account = access,
            .password.value = SLICE("s3cret")};
}

static bool build(const struct content *content, const struct provider *provider,
        struct http_request *request, enum failure_level *level)
{
    struct err err = {0};
    return ses_build(content, provider, KEY, request, level, &err) &&
           ses_sign(provider, content, 1440938160, request, &err);
}

static void the_request_carries_the_message_and_our_key(void **state)
{
    (void)state;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    struct content content = a_mail();
    struct provider provider = a_provider();
    static char set[] = "events";
    provider.config_set = set;
    enum failure_level level;
    assert_true(build(&content, &provider, &request, &level));
    assert_string_equal(
            request.url, "https://email.eu-central-1.amazonaws.com/v2/email/outbound-emails");
    const char *head = text_cstr(&request.head), *body = text_cstr(&request.body);
    assert_non_null(strstr(head, "X-Amz-Date: 20150830T123600Z\r\n"));
    assert_non_null(strstr(head,
            "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-central-1/ses/"
            "aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature="));
    assert_null(strstr(head, "Security-Token"));
    // "From: Shop <shop@exa"
    assert_non_null(strstr(body, "{\"Content\":{\"Raw\":{\"Data\":\"RnJvbTogU2hvcCA8c2hvcEBleGFt"));
    assert_non_null(strstr(body, "\"Destination\":{\"ToAddresses\":[\"ann@example.org\"]}"));
    assert_non_null(strstr(body,
            "\"EmailTags\":[{\"Name\":\"pawl_delivery\",\"Value\":\"" KEY
            "\"},{\"Name\":\"pawl_place\",\"Value\":\"0-x-0\"}],\"ConfigurationSetName\":"
            "\"events\"}"));
}

static void temporary_credentials_bring_their_token(void **state)
{
    (void)state;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    struct content content = a_mail();
    struct provider provider = a_provider();
    provider.session.value = SLICE("the/session+token=");
    enum failure_level level;
    assert_true(build(&content, &provider, &request, &level));
    assert_non_null(
            strstr(text_cstr(&request.head), "X-Amz-Security-Token: the/session+token=\r\n"));
    assert_non_null(strstr(text_cstr(&request.head),
            "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,"));
}

static void regions_lead_to_their_hosts_and_nothing_else_does(void **state)
{
    (void)state;
    static const struct {
        char region[32];
        const char *url;
    } rows[] = {
            {"us-gov-west-1", "https://email.us-gov-west-1.amazonaws.com/v2/email/outbound-emails"},
            {"cn-north-1", "https://email.cn-north-1.amazonaws.com.cn/v2/email/outbound-emails"},
            {"", NULL},
            {"evil.example/", NULL},
            {"EU-CENTRAL-1", NULL},
            {"eu\r\nX: 1", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        struct content content = a_mail();
        struct provider provider = a_provider();
        char region[32];
        memcpy(region, rows[i].region, sizeof region);
        provider.region = region;
        enum failure_level level = LEVEL_MESSAGE;
        bool ok = build(&content, &provider, &request, &level);
        assert_row(ok == (rows[i].url != NULL), rows[i].region);
        assert_row(ok || level == LEVEL_PROVIDER, rows[i].region);
        if (ok)
            assert_string_equal(request.url, rows[i].url);
    }
}

#define MESSAGE(text_) "{\"message\":\"" text_ "\"}"

static void every_documented_answer(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *type, *body;
        enum attempt_outcome outcome;
        enum failure_level level;
        int wait_s;
    } rows[] = {
            {200, NULL, "{\"MessageId\":\"0100-a\"}", ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0},
            {400, "AccountSuspendedException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 3600},
            {400, "SendingPausedException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 60},
            {400, "MailFromDomainNotVerifiedException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER,
                    60},
            {400, "MessageRejected", MESSAGE("Email contains a virus"), ATTEMPT_REFUSED,
                    LEVEL_MESSAGE, 0},
            {400, "MessageRejected", MESSAGE("Email address is not verified."), ATTEMPT_RETRY,
                    LEVEL_PROVIDER, 60},
            {400, "LimitExceededException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 3600},
            {429, "TooManyRequestsException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 1},
            {400, "TooManyRequestsException:http://internal.amazon.com/x/", MESSAGE("m"),
                    ATTEMPT_RETRY, LEVEL_PROVIDER, 1},
            {400, "BadRequestException", MESSAGE("m"), ATTEMPT_REFUSED, LEVEL_MESSAGE, 0},
            {404, "NotFoundException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 60},
            {400, NULL, "{\"__type\":\"com.amazonaws.sesv2#MessageRejected\",\"message\":\"m\"}",
                    ATTEMPT_REFUSED, LEVEL_MESSAGE, 0},
            {400, "ThrottlingException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 1},
            {403, "SignatureDoesNotMatch", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 0},
            {403, "UnrecognizedClientException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 0},
            {403, "AccessDeniedException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 0},
            {400, "ExpiredTokenException", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 0},
            {400, "ValidationException", MESSAGE("m"), ATTEMPT_REFUSED, LEVEL_MESSAGE, 0},
            {503, "ServiceUnavailable", MESSAGE("m"), ATTEMPT_RETRY, LEVEL_PROVIDER, 0},
            // "Because of an unknown error": nobody says that nothing was sent.
            {500, "InternalFailure", MESSAGE("m"), ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0},
            {503, NULL, "<html>", ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0},
            {400, NULL, "", ATTEMPT_RETRY, LEVEL_PROVIDER, 0},
            {413, NULL, "", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text head = {.max = 500};
        text_fmt(&head, "HTTP/1.1 %d X\r\n", rows[i].status);
        if (rows[i].type)
            text_fmt(&head, "x-amzn-ErrorType: %s\r\n", rows[i].type);
        const struct http_reply reply = {.status = rows[i].status,
                .head = text_slice(&head),
                .body = slice_of(rows[i].body)};
        struct attempt_result result = {0};
        ses_classify(&reply, &result);
        if (result.outcome != rows[i].outcome || result.level != rows[i].level ||
                result.retry_after_ms != rows[i].wait_s * 1000)
            fail_msg("row %zu: %d/%d, %ld ms", i, (int)result.outcome, (int)result.level,
                    (long)result.retry_after_ms);
        assert_int_equal(strcmp(result.provider_id, i == 0 ? "0100-a" : ""), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(requests_are_signed_as_aws_publishes_it),
            cmocka_unit_test(the_request_carries_the_message_and_our_key),
            cmocka_unit_test(temporary_credentials_bring_their_token),
            cmocka_unit_test(regions_lead_to_their_hosts_and_nothing_else_does),
            cmocka_unit_test(every_documented_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
