// No CR, LF or other control character of a content passes into a header, a URL, a form or JSON as
// it is. NUL ends every text of a content, so it can't be in one.
#include "common/json/scan.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/sms.h"
#include "tests/test.h"

typedef bool build_fn(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err);

static const char key[] = "0123456789abcdef0123456789abcdef";
static char device[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static char registration[] = "dX:APA91b-_";
static char subscription[] =
        "{\"endpoint\":\"https://push.example.net/p/1\",\"keys\":{\"p256dh\":\"BCVxsr7N_eNgVRqvHtD"
        "0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4\",\"auth\":\"BTBZMqHH"
        "6r4Tts7J_aSIgg\"}}";
static char phone[] = "+4915112345678", sender[] = "+4915100000000", hello[] = "hello",
            account[] = "AC1", topic[] = "com.example.shop",
            gateway_url[] = "https://gw.example.net/send?t={text}&to={to}",
            json[] = "{\"t\":\"{text}\",\"to\":\"{to}\"}", name[] = "X-Text", value[] = "{text}";
static struct pair headers[] = {{name, value}};
static struct gateway with_header = {.headers = headers, .n_headers = 1};
static struct gateway with_json = {.json = json};

static const struct way {
    const char *name;
    build_fn *build;
    char *to;
    struct gateway *gateway;
    bool json;
} drivers[] = {
        {"twilio", twilio_build, phone, NULL, false},
        {"sinch", sinch_build, phone, NULL, true},
        {"vonage", vonage_build, phone, NULL, true},
        {"telnyx", telnyx_build, phone, NULL, true},
        {"http with a header", gateway_build, phone, &with_header, false},
        {"http with json", gateway_build, phone, &with_json, true},
        {"apns", apns_build, device, NULL, true},
        {"fcm", fcm_build, registration, NULL, true},
        {"webpush", webpush_build, subscription, NULL, false},
};

static const char *const bad[] = {"a\r\nb", "a\nb", "a\rb", "\r\n", "\n", "x\r\nX-Evil: 1",
        "x\r\n\r\nbody", "x\n\nGET / HTTP/1.1", "a\tb",
        "a\x01"
        "b",
        "a\x7f"
        "b",
        "a\x1b[31m", "\"},\r\n{\"", "\\\r\\\n", "%0d%0a",
        "a\x0b"
        "b",
        "a\x0c"
        "b",
        "a\x08"
        "b"};

static bool head_is_clean(const struct text *head)
{
    // Every line is "Name: printable CRLF", and none is ours but those.
    for (size_t i = 0; i < head->len; i++) {
        unsigned char c = (unsigned char)head->ptr[i];
        bool end = c == '\r' && i + 1 < head->len && head->ptr[i + 1] == '\n';
        if (end)
            i++;
        else if (c < 0x20 || c > 0x7e)
            return false;
    }
    return !head->len || (!strstr(head->ptr, "\r\nX-Evil") && !strstr(head->ptr, "\r\n\r\n"));
}

static bool is_clean(const struct way *driver, const struct http_request *request)
{
    for (const char *c = request->url; *c; c++) {
        if (*c <= 0x20 || *c > 0x7e)
            return false;
    }
    for (size_t i = 0; driver->build != webpush_build && i < request->body.len; i++) {
        if ((unsigned char)request->body.ptr[i] < 0x20)
            return false;
    }
    return head_is_clean(&request->head) &&
           (!driver->json || json_check(text_slice(&request->body), NULL));
}

static size_t vectors;

static void try(const struct way *driver, const struct content *content,
        const struct provider *provider, const char *with)
{
    AUTO_HTTP_REQUEST struct http_request request = {0};
    enum failure_level level;
    struct err err = {0};
    vectors++;
    if (!driver->build(content, provider, key, &request, &level, &err)) {
        assert_row(err.kind == ERR_INPUT || err.kind == ERR_FATAL, driver->name);
        assert_row(!request.url, driver->name);
        return;
    }
    if (!is_clean(driver, &request))
        fail_msg("%s with '%s': %s%s%s", driver->name, with, request.url, text_cstr(&request.head),
                text_cstr(&request.body));
}

static struct provider provider_for(const struct way *driver)
{
    return (struct provider){.url = driver->gateway ? gateway_url : NULL,
            .http = driver->gateway,
            .account = account,
            .project = account,
            .topic = topic,
            .password.value = SLICE("secret")};
}

static void no_control_character_of_a_content_passes(void **state)
{
    (void)state;
    vectors = 0;
    for (size_t d = 0; d < ARRAY_LEN(drivers); d++) {
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            AUTO_FREE char *text = xstrdup(bad[i]);
            struct provider provider = provider_for(&drivers[d]);
            struct content content = {.to = drivers[d].to, .from = sender, .text = hello};
            content.text = text;
            try(&drivers[d], &content, &provider, bad[i]);
            content.text = hello;
            content.subject = text;
            try(&drivers[d], &content, &provider, bad[i]);
            content.subject = NULL;
            content.collapse = text;
            try(&drivers[d], &content, &provider, bad[i]);
            content.collapse = NULL;
            content.from = text;
            try(&drivers[d], &content, &provider, bad[i]);
        }
    }
    assert_true(vectors >= 50);
}

static void no_control_character_passes_in_an_address(void **state)
{
    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(drivers); d++) {
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            AUTO_TEXT struct text to = {0};
            struct provider provider = provider_for(&drivers[d]);
            text_init(&to, 1000);
            assert_true(text_str(&to, drivers[d].to) && text_str(&to, bad[i]));
            struct content content = {.to = to.ptr, .from = sender, .text = hello};
            AUTO_HTTP_REQUEST struct http_request request = {0};
            enum failure_level level = LEVEL_MESSAGE;
            struct err err = {0};
            bool built = drivers[d].build(&content, &provider, key, &request, &level, &err);
            // JSON may end with white space.
            bool space =
                    drivers[d].build == webpush_build && strspn(bad[i], "\r\n") == strlen(bad[i]);
            assert_row(built == space, drivers[d].name);
            assert_row(built || level == LEVEL_ADDRESS, drivers[d].name);
        }
    }
}

static void an_endpoint_with_a_line_end_is_no_address(void **state)
{
    (void)state;
    static const char *const ends[] = {"\\r\\nX-Evil: 1", "\\n", "\\u000d", "\\t", " x", "\\u0000"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO_TEXT struct text to = {0};
        text_init(&to, 1000);
        assert_true(text_fmt(&to, "{\"endpoint\":\"https://push.example.net/p/1%s\",%s", ends[i],
                strstr(subscription, "\"keys\"")));
        struct provider provider = {.password.value = SLICE("secret")};
        struct content content = {.to = to.ptr, .text = hello};
        struct http_request request = {0};
        enum failure_level level = LEVEL_MESSAGE;
        struct err err = {0};
        assert_row(!webpush_build(&content, &provider, key, &request, &level, &err), ends[i]);
        assert_row(level == LEVEL_ADDRESS && err.kind == ERR_INPUT, ends[i]);
    }
}

static void settings_are_no_way_in_either(void **state)
{
    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(drivers); d++) {
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            AUTO_FREE char *text = xstrdup(bad[i]);
            struct content content = {.to = drivers[d].to, .from = sender, .text = hello};
            struct provider provider = provider_for(&drivers[d]);
            provider.account = provider.project = provider.topic = text;
            provider.callback = text;
            try(&drivers[d], &content, &provider, bad[i]);
            provider.url = text;
            try(&drivers[d], &content, &provider, bad[i]);
            provider.url = drivers[d].gateway ? gateway_url : NULL;
            provider.password.value = slice_of(text);
            try(&drivers[d], &content, &provider, bad[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(no_control_character_of_a_content_passes),
            cmocka_unit_test(no_control_character_passes_in_an_address),
            cmocka_unit_test(an_endpoint_with_a_line_end_is_no_address),
            cmocka_unit_test(settings_are_no_way_in_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
