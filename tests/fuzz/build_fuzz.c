// Fuzzes what a content makes of requests, over all drivers of SMS and push.
// tests/fuzz/test_fuzz.py builds it. The first byte picks the driver; the rest is text, subject,
// collapse id and address, each up to a NUL; an empty address is a good one. Properties: a
// request's URL and header lines are printable ASCII, each line is whole and named by us; bodies of
// forms and JSON hold no control character, and JSON is JSON; the same content gives the same bytes
// again.
#include "common/json/scan.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/sms.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef bool build_fn(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err);

static char phone[] = "+4915112345678", sender[] = "Shop", account[] = "AC1",
            callback[] = "https://hooks.example.com/hooks/status", topic[] = "com.example.shop",
            device[] = "00112233445566778899aabbccddeeff", registration[] = "dX:APA91b-_",
            subscription[] =
                    "{\"endpoint\":\"https://p.example.net/1\",\"keys\":{\"p256dh\":\"BCVxs"
                    "r7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6"
                    "SRpkNtoIAiw4\",\"auth\":\"BTBZMqHH6r4Tts7J_aSIgg\"}}",
            gateway_url[] = "https://gw.example.net/send?t={text}&to={to}&c={coding}",
            json[] = "{\"t\":\"{text}\",\"to\":[\"{to}\"],\"k\":\"{key}\"}", x_text[] = "X-Text",
            form_name[] = "t", value[] = "<{text}>";
static struct pair headers[] = {{x_text, value}}, form[] = {{form_name, value}};
static struct gateway with_json = {.json = json},
                      with_form = {.headers = headers, .n_headers = 1, .form = form, .n_form = 1};

static const struct way {
    build_fn *build;
    char *to;
    struct gateway *gateway;
    bool json;
} ways[] = {
        {twilio_build, phone, NULL, false},
        {sinch_build, phone, NULL, true},
        {vonage_build, phone, NULL, true},
        {telnyx_build, phone, NULL, true},
        {gateway_build, phone, &with_json, true},
        {gateway_build, phone, &with_form, false},
        {apns_build, device, NULL, true},
        {fcm_build, registration, NULL, true},
        {webpush_build, subscription, NULL, false},
};

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    }
    return true;
}

static void check_head(const struct text *head)
{
    const char *at = text_cstr(head), *end;
    for (; *at; at = end + 2) {
        end = strstr(at, "\r\n");
        assert(end && is_printable(at, (size_t)(end - at)));
        size_t name = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
        assert(name > 0 && at[name] == ':' && at[name + 1] == ' ');
    }
    assert(strlen(text_cstr(head)) == head->len);
}

static void check_request(const struct way *way, const struct http_request *request)
{
    assert(is_printable(request->url, strlen(request->url)) && !strchr(request->url, ' '));
    check_head(&request->head);
    bool sealed = way->build == webpush_build;
    for (size_t i = 0; !sealed && i < request->body.len; i++)
        assert((unsigned char)request->body.ptr[i] >= 0x20);
    struct err err = {0};
    assert(!way->json || json_check(text_slice(&request->body), &err));
    assert(!sealed || request->body.len <= 4096);
    assert(way->build != apns_build || request->body.len <= APNS_PAYLOAD_MAX);
}

static bool build(
        const struct way *way, const struct content *content, struct http_request *request)
{
    struct provider provider = {.url = way->gateway ? gateway_url : NULL,
            .http = way->gateway,
            .account = account,
            .project = account,
            .topic = topic,
            .callback = callback,
            .password.value = SLICE("secret")};
    enum failure_level level = LEVEL_MESSAGE;
    struct err err = {0};
    if (way->build(content, &provider, "0123456789abcdef0123456789abcdef", request, &level, &err))
        return true;
    assert(err.kind == ERR_INPUT && level != LEVEL_PROVIDER && !request->url);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *parts[4], *bytes = xmalloc(size + ARRAY_LEN(parts) + 1);
    memset(bytes, 0, size + ARRAY_LEN(parts) + 1);
    if (size > 1)
        memcpy(bytes, data + 1, size - 1);
    char *at = bytes;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++, at += strlen(at) + 1)
        parts[i] = at;
    const struct way *way = &ways[size ? data[0] % ARRAY_LEN(ways) : 0];
    struct content content = {.from = sender,
            .text = parts[0],
            .subject = parts[1],
            .collapse = parts[2],
            .to = *parts[3] ? parts[3] : way->to};
    AUTO_HTTP_REQUEST struct http_request first = {0}, again = {0};
    if (build(way, &content, &first)) {
        check_request(way, &first);
        assert(build(way, &content, &again));
        assert(slice_eq(text_slice(&first.body), text_slice(&again.body)));
        assert(slice_eq(text_slice(&first.head), text_slice(&again.head)));
    }
    free(bytes);
    return 0;
}
