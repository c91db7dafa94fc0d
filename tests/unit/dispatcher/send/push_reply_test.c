// Every reason and code of the push services' tables, in bodies as they come.
#include "dispatcher/send/push.h"
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
    const char *body;
    int outcome, level;
    int wait_s;
    bool stale;
};

static struct attempt_result classify(classify_fn *with, int status, const char *body)
{
    struct attempt_result result = {.stale_token = true, .dead_since_ms = 1};
    struct http_reply reply = {.end = HTTP_REPLIED, .status = status, .body = slice_of(body)};
    memset(result.provider_id, 'x', sizeof result.provider_id - 1);
    with(&reply, &result);
    return result;
}

static void check_rows(classify_fn *with, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[200];
        snprintf(name, sizeof name, "%d %.150s", rows[i].status, rows[i].body);
        struct attempt_result result = classify(with, rows[i].status, rows[i].body);
        assert_row((int)result.outcome == rows[i].outcome, name);
        assert_row((int)result.level == rows[i].level, name);
        assert_row(result.retry_after_ms == rows[i].wait_s * 1000, name);
        assert_row(result.stale_token == rows[i].stale, name);
        assert_row(result.dead_since_ms == 0, name);
        assert_row(result.provider_id[0] == '\0', name);
    }
}

#define REASON(text) "{\"reason\":\"" text "\"}"
static const struct row apns[] = {
        {400, REASON("BadDeviceToken"), NO, ADDRESS, 0, false},
        {400, REASON("DeviceTokenNotForTopic"), NO, MESSAGE, 0, false},
        {400, REASON("BadCollapseId"), NO, MESSAGE, 0, false},
        {400, REASON("BadExpirationDate"), NO, MESSAGE, 0, false},
        {400, REASON("BadMessageId"), NO, MESSAGE, 0, false},
        {400, REASON("BadPriority"), NO, MESSAGE, 0, false},
        {400, REASON("BadTopic"), NO, MESSAGE, 0, false},
        {400, REASON("DuplicateHeaders"), NO, MESSAGE, 0, false},
        {400, REASON("InvalidPushType"), NO, MESSAGE, 0, false},
        {400, REASON("MissingDeviceToken"), NO, MESSAGE, 0, false},
        {400, REASON("MissingTopic"), NO, MESSAGE, 0, false},
        {400, REASON("PayloadEmpty"), NO, MESSAGE, 0, false},
        {400, REASON("TopicDisallowed"), NO, MESSAGE, 0, false},
        {400, REASON("IdleTimeout"), AGAIN, PROVIDER, 0, false},
        {400, REASON("SomethingNew"), NO, MESSAGE, 0, false},
        {403, REASON("ExpiredProviderToken"), AGAIN, PROVIDER, 0, true},
        {403, REASON("InvalidProviderToken"), AGAIN, PROVIDER, 0, false},
        {403, REASON("MissingProviderToken"), AGAIN, PROVIDER, 0, false},
        {403, REASON("BadCertificate"), AGAIN, PROVIDER, 0, false},
        {403, REASON("BadCertificateEnvironment"), AGAIN, PROVIDER, 0, false},
        {403, REASON("Forbidden"), AGAIN, PROVIDER, 0, false},
        {404, REASON("BadPath"), AGAIN, PROVIDER, 0, false},
        {405, REASON("MethodNotAllowed"), AGAIN, PROVIDER, 0, false},
        {410, REASON("Unregistered"), NO, ADDRESS, 0, false},
        {410, REASON("ExpiredToken"), NO, ADDRESS, 0, false},
        {413, REASON("PayloadTooLarge"), NO, MESSAGE, 0, false},
        {429, REASON("TooManyRequests"), AGAIN, ADDRESS, 30, false},
        {429, REASON("TooManyProviderTokenUpdates"), AGAIN, PROVIDER, 60, false},
        {500, REASON("InternalServerError"), AGAIN, MESSAGE, 0, false},
        {503, REASON("ServiceUnavailable"), AGAIN, PROVIDER, 0, false},
        {503, REASON("Shutdown"), AGAIN, PROVIDER, 0, false},
        // Not Apple's words: whoever says that may have handed it on.
        {500, "", DOUBT, MESSAGE, 0, false},
        {502, "<html>", DOUBT, MESSAGE, 0, false},
        {503, "upstream connect error", DOUBT, MESSAGE, 0, false},
        {410, "", AGAIN, PROVIDER, 0, false},
};

static void apns_every_reason(void **state)
{
    (void)state;
    check_rows(apns_classify, apns, ARRAY_LEN(apns));
    struct attempt_result result = {0};
    struct http_reply reply = {.end = HTTP_REPLIED,
            .status = 200,
            .head = SLICE("HTTP/2 200\r\napns-id: EC1BF194-B3B2-424A-89A9-5A918A6E6B5E\r\n\r\n")};
    apns_classify(&reply, &result);
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "EC1BF194-B3B2-424A-89A9-5A918A6E6B5E");
    reply.head = SLICE("apns-id: a\x80z\r\n");
    apns_classify(&reply, &result);
    assert_string_equal(result.provider_id, "");
    result = classify(apns_classify, 400, REASON("BadDeviceToken"));
    assert_string_equal(result.enhanced, "BadDeviceToken");
    result = classify(apns_classify, 400, REASON("DeviceTokenNotForTopic"));
    assert_string_equal(result.enhanced, "");
    assert_string_equal(result.detail, "400 DeviceTokenNotForTopic");
}

static void a_410_says_since_when_the_token_is_dead(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int64_t want;
    } rows[] = {{"{\"reason\":\"Unregistered\",\"timestamp\":1734567890123}", 1734567890123},
            {"{\"reason\":\"ExpiredToken\",\"timestamp\":1}", 1},
            {"{\"reason\":\"Unregistered\",\"timestamp\":-5}", 0},
            {"{\"reason\":\"Unregistered\",\"timestamp\":1.5}", 0},
            {"{\"reason\":\"Unregistered\",\"timestamp\":null}", 0},
            {"{\"reason\":\"Unregistered\"}", 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct attempt_result result = classify(apns_classify, 410, rows[i].body);
        assert_row(
                result.outcome == ATTEMPT_REFUSED && result.level == LEVEL_ADDRESS, rows[i].body);
        assert_row(result.dead_since_ms == rows[i].want, rows[i].body);
    }
    // Only a 410 has one.
    assert_int_equal(classify(apns_classify, 400,
                             "{\"reason\":\"BadDeviceToken\",\"timestamp\":1734567890123}")
                             .dead_since_ms,
            0);
}

#define FCM_ERROR "\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.FcmError\",\"errorCode\":"
#define FCM(status, code)                                                                          \
    "{\"error\":{\"code\":400,\"message\":\"no\",\"status\":\"" status                             \
    "\",\"details\":[{" FCM_ERROR "\"" code "\"}]}}"
#define PLAIN(status) "{\"error\":{\"code\":400,\"message\":\"no\",\"status\":\"" status "\"}}"
static const struct row fcm[] = {
        {400, FCM("INVALID_ARGUMENT", "INVALID_ARGUMENT"), NO, MESSAGE, 0, false},
        // A bad token: said in words ..
        {400,
                "{\"error\":{\"code\":400,\"message\":\"The registration token is not a valid FCM "
                "registration token\",\"status\":\"INVALID_ARGUMENT\",\"details\":[{" FCM_ERROR
                "\"INVALID_ARGUMENT\"}]}}",
                NO, ADDRESS, 0, false},
        // .. or by the field.
        {400,
                "{\"error\":{\"code\":400,\"message\":\"Invalid\",\"status\":\"INVALID_ARGUMENT\","
                "\"details\":[{" FCM_ERROR "\"INVALID_ARGUMENT\"},{\"@type\":\"type.googleapis.com/"
                "google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":\"message.token\","
                "\"description\":\"Invalid\"}]}]}}",
                NO, ADDRESS, 0, false},
        // A bad payload, whatever its words are.
        {400,
                "{\"error\":{\"code\":400,\"message\":\"registration token\",\"status\":"
                "\"INVALID_ARGUMENT\",\"details\":[{\"@type\":\"type.googleapis.com/"
                "google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":\"message.android.ttl\","
                "\"description\":\"Invalid\"}]}]}}",
                NO, MESSAGE, 0, false},
        {400, PLAIN("FAILED_PRECONDITION"), NO, MESSAGE, 0, false},
        {401, FCM("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), AGAIN, PROVIDER, 0, false},
        {401, PLAIN("UNAUTHENTICATED"), AGAIN, PROVIDER, 0, true},
        {403, FCM("PERMISSION_DENIED", "SENDER_ID_MISMATCH"), NO, ADDRESS, 0, false},
        {403, PLAIN("PERMISSION_DENIED"), AGAIN, PROVIDER, 0, false},
        {404, FCM("NOT_FOUND", "UNREGISTERED"), NO, ADDRESS, 0, false},
        {404, PLAIN("NOT_FOUND"), AGAIN, PROVIDER, 0, false},
        {404, "<html>Not Found</html>", AGAIN, PROVIDER, 0, false},
        {429, FCM("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), AGAIN, PROVIDER, 60, false},
        {429, PLAIN("RESOURCE_EXHAUSTED"), AGAIN, PROVIDER, 60, false},
        {500, FCM("INTERNAL", "INTERNAL"), AGAIN, MESSAGE, 0, false},
        {500, PLAIN("INTERNAL"), AGAIN, MESSAGE, 0, false},
        {503, FCM("UNAVAILABLE", "UNAVAILABLE"), AGAIN, PROVIDER, 0, false},
        {503, PLAIN("UNAVAILABLE"), AGAIN, PROVIDER, 0, false},
        {500, "", DOUBT, MESSAGE, 0, false},
        {502, "<html>", DOUBT, MESSAGE, 0, false},
        {503, "{\"error\":{\"details\":{}}}", DOUBT, MESSAGE, 0, false},
};

static void fcm_every_code(void **state)
{
    (void)state;
    check_rows(fcm_classify, fcm, ARRAY_LEN(fcm));
    struct attempt_result result =
            classify(fcm_classify, 200, "{\"name\":\"projects/x/messages/0:1500415314455276%31\"}");
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "projects/x/messages/0:1500415314455276%31");
}

static void a_key_that_android_does_not_need_is_apart(void **state)
{
    (void)state;
    assert_true(
            classify(fcm_classify, 401, FCM("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR")).apart);
    assert_false(classify(fcm_classify, 401, FCM("UNAUTHENTICATED", "UNAUTHENTICATED")).apart);
    assert_false(classify(fcm_classify, 503, FCM("UNAVAILABLE", "UNAVAILABLE")).apart);
}

#define AUTOPUSH(code, errno_) "{\"code\":" #code ",\"errno\":" #errno_ ",\"message\":\"no\"}"
static const struct row webpush[] = {
        {400, AUTOPUSH(400, 111), NO, MESSAGE, 0, false}, // no TTL
        {400, AUTOPUSH(400, 110), NO, MESSAGE, 0, false},
        {401, AUTOPUSH(401, 109), AGAIN, ADDRESS, 0, false},
        {403, "", AGAIN, ADDRESS, 0, false},
        {404, AUTOPUSH(404, 102), NO, ADDRESS, 0, false},
        {410, AUTOPUSH(410, 106), NO, ADDRESS, 0, false},
        {410, "push subscription has unsubscribed or expired.\n", NO, ADDRESS, 0, false},
        {413, AUTOPUSH(413, 104), NO, MESSAGE, 0, false},
        {429, "", AGAIN, ADDRESS, 1, false},
        {503, AUTOPUSH(503, 201), AGAIN, ADDRESS, 0, false},
        {503, AUTOPUSH(503, 202), AGAIN, MESSAGE, 0, false},
        {503, "", DOUBT, ADDRESS, 0, false},
        {500, "", DOUBT, ADDRESS, 0, false},
        {302, "", AGAIN, ADDRESS, 0, false},
};

static void webpush_every_status(void **state)
{
    (void)state;
    check_rows(webpush_classify, webpush, ARRAY_LEN(webpush));
    struct attempt_result result = {0};
    struct http_reply reply = {.end = HTTP_REPLIED,
            .status = 201,
            .head = SLICE("HTTP/1.1 201 Created\r\nLocation: https://push.example.net/m/7\r\n"
                          "TTL: 60\r\n\r\n")};
    webpush_classify(&reply, &result);
    assert_int_equal(result.outcome, OK);
    assert_string_equal(result.provider_id, "https://push.example.net/m/7");
}

static void without_a_reply_the_phase_decides(void **state)
{
    (void)state;
    static classify_fn *const all[] = {apns_classify, fcm_classify, webpush_classify};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct attempt_result result = {0};
        all[i](&(struct http_reply){.end = HTTP_NOT_SENT, .why = "refused stream"}, &result);
        bool each_its_own = all[i] == webpush_classify; // browser, that is: its service
        assert_int_equal(result.outcome, ATTEMPT_RETRY);
        assert_int_equal(result.level, each_its_own ? LEVEL_ADDRESS : LEVEL_PROVIDER);
        all[i](&(struct http_reply){.end = HTTP_CUT, .why = "reset"}, &result);
        assert_int_equal(result.outcome, ATTEMPT_UNKNOWN);
        assert_int_equal(result.level, each_its_own ? LEVEL_ADDRESS : LEVEL_MESSAGE);
    }
}

static void a_code_outside_ascii_is_not_kept(void **state)
{
    (void)state;
    struct attempt_result result =
            classify(fcm_classify, 400, FCM("INVALID_ARGUMENT", "IN\\u0411"));
    assert_string_equal(result.enhanced, "");
    assert_int_equal(result.outcome, ATTEMPT_REFUSED);
}

static void an_endpoint_in_here_is_refused(void **state)
{
    (void)state;
    struct attempt_result result = {0};
    webpush_classify(&(struct http_reply){.end = HTTP_NOT_SENT, .barred = true}, &result);
    assert_int_equal(result.outcome, ATTEMPT_REFUSED);
    assert_int_equal(result.level, LEVEL_ADDRESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(apns_every_reason),
            cmocka_unit_test(a_410_says_since_when_the_token_is_dead),
            cmocka_unit_test(fcm_every_code),
            cmocka_unit_test(a_key_that_android_does_not_need_is_apart),
            cmocka_unit_test(webpush_every_status),
            cmocka_unit_test(without_a_reply_the_phase_decides),
            cmocka_unit_test(a_code_outside_ascii_is_not_kept),
            cmocka_unit_test(an_endpoint_in_here_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
