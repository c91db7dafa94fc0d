#include "common/base64.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/webpush_crypt.h"
#include "tests/test.h"

#define RFC_PUBLIC                                                                                 \
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
#define RFC_AUTH "BTBZMqHH6r4Tts7J_aSIgg"

static void decode(const char *text, unsigned char *out, size_t size)
{
    size_t len = 0;
    assert_true(base64url_decode(slice_of(text), out, size, &len));
    assert_int_equal(len, size);
}

// RFC 8291, section 5 and appendix A.
static void the_rfcs_example_byte_by_byte(void **state)
{
    (void)state;
    struct webpush_keys keys;
    struct webpush_fresh fresh;
    AUTO_TEXT struct text body = {0};
    AUTO_TEXT struct text text = {0};
    struct err err = {0};
    decode(RFC_PUBLIC, keys.public, sizeof keys.public);
    decode(RFC_AUTH, keys.auth, sizeof keys.auth);
    decode("DGv6ra1nlYgDCS1FRnbzlw", fresh.salt, sizeof fresh.salt);
    decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", fresh.secret, sizeof fresh.secret);
    text_init(&body, 5000);
    text_init(&text, 5000);
    assert_true(webpush_encrypt(
            SLICE("When I grow up, I want to be a watermelon"), &keys, &fresh, &body, &err));
    assert_true(compose_base64url(&text, text_slice(&body)));
    assert_string_equal(text_cstr(&text),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
            "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV"
            "WGNWQexSgSxsj_Qulcy4a-fN");
}

static void a_point_beside_the_curve_is_refused(void **state)
{
    (void)state;
    struct webpush_keys keys;
    struct webpush_fresh fresh = {.secret = {[31] = 1}};
    AUTO_TEXT struct text body = {0};
    struct err err = {0};
    text_init(&body, 5000);
    decode(RFC_PUBLIC, keys.public, sizeof keys.public);
    keys.public[64] ^= 1;
    assert_false(webpush_encrypt(SLICE("x"), &keys, &fresh, &body, &err));
    keys.public[64] ^= 1;
    keys.public[0] = 6; // hybrid form
    assert_false(webpush_encrypt(SLICE("x"), &keys, &fresh, &body, &err));
    keys.public[0] = 4;
    memset(fresh.secret, 0xff, sizeof fresh.secret); // above the order
    assert_false(webpush_encrypt(SLICE("x"), &keys, &fresh, &body, &err));
    memset(fresh.secret, 0, sizeof fresh.secret);
    assert_false(webpush_encrypt(SLICE("x"), &keys, &fresh, &body, &err));
    assert_int_equal(body.len, 0);
}

static char subscription[] = "{\"endpoint\":\"https://push.example.net/p/1?x=y\","
                             "\"expirationTime\":null,\"keys\":{\"p256dh\":\"" RFC_PUBLIC
                             "\",\"auth\":\"" RFC_AUTH "\"}}";
static char words[] = "hello", other_words[] = "hello!", order[] = "order-1";
static const char key[] = "0123456789abcdef0123456789abcdef";

static void build(const struct content *content, const char *key_hex, struct http_request *request)
{
    struct provider provider = {.password.value = SLICE("a signing key")};
    enum failure_level level;
    struct err err = {0};
    if (!webpush_build(content, &provider, key_hex, request, &level, &err))
        fail_msg("%s", err.msg);
}

static void the_same_message_is_the_same_bytes_on_every_try(void **state)
{
    (void)state;
    struct content content = {.to = subscription, .text = words};
    AUTO_HTTP_REQUEST struct http_request first = {0}, again = {0}, other = {0}, third = {0};
    build(&content, key, &first);
    build(&content, key, &again);
    build(&content, "1123456789abcdef0123456789abcdef", &other);
    assert_true(slice_eq(text_slice(&first.body), text_slice(&again.body)));
    assert_true(slice_eq(text_slice(&first.head), text_slice(&again.head)));
    assert_false(memcmp(first.body.ptr, other.body.ptr, 16) == 0);
    assert_false(memcmp(first.body.ptr + 21, other.body.ptr + 21, 65) == 0);
    // Never two texts under one key and nonce.
    content.text = other_words;
    build(&content, key, &third);
    assert_false(memcmp(first.body.ptr, third.body.ptr, 16) == 0);
    assert_false(memcmp(first.body.ptr + 21, third.body.ptr + 21, 65) == 0);
}

static void headers_are_what_the_rfc_asks_for(void **state)
{
    (void)state;
    struct content content = {
            .to = subscription, .text = words, .collapse = order, .priority = PRIORITY_NORMAL};
    AUTO_HTTP_REQUEST struct http_request request = {0}, limited = {0};
    build(&content, key, &request);
    assert_string_equal(request.url, "https://push.example.net/p/1?x=y");
    assert_string_equal(text_cstr(&request.head),
            "TTL: 2419200\r\nTopic: 0bafe22156d2698c143b86040446d366\r\nUrgency: normal\r\n"
            "Content-Encoding: aes128gcm\r\nContent-Type: application/octet-stream\r\n");
    content.left_s = 60;
    content.collapse = NULL;
    build(&content, key, &limited);
    assert_non_null(strstr(text_cstr(&limited.head), "TTL: 60\r\n"));
    assert_non_null(
            strstr(text_cstr(&limited.head), "Topic: 0123456789abcdef0123456789abcdef\r\n"));
}

static void a_body_is_at_most_4096_bytes(void **state)
{
    (void)state;
    AUTO_FREE char *text = xmalloc(5000);
    struct content content = {.to = subscription, .text = text};
    struct provider provider = {.password.value = SLICE("a signing key")};
    AUTO_HTTP_REQUEST struct http_request small = {0}, large = {0};
    enum failure_level level;
    struct err err = {0};
    memset(text, 'a', 5000);
    text[10] = '\0';
    build(&content, key, &small);
    size_t room = 4096 - small.body.len + 10;
    text[10] = 'a';
    text[room + 1] = '\0';
    assert_false(webpush_build(&content, &provider, key, &large, &level, &err));
    assert_true(level == LEVEL_MESSAGE && err.kind == ERR_INPUT);
    text[room] = '\0';
    build(&content, key, &large);
    assert_int_equal(large.body.len, 4096);
}

static void what_is_no_subscription_is_no_address(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "{}", "https://push.example.net/p/1",
            "{\"endpoint\":\"http://push.example.net/p\",\"keys\":{\"p256dh\":\"" RFC_PUBLIC
            "\",\"auth\":\"" RFC_AUTH "\"}}",
            "{\"endpoint\":\"https://u:p@push.example.net/p\",\"keys\":{\"p256dh\":\"" RFC_PUBLIC
            "\",\"auth\":\"" RFC_AUTH "\"}}",
            "{\"endpoint\":\"https://x/\",\"keys\":{\"p256dh\":\"" RFC_PUBLIC
            "\",\"auth\":\"AA\"}}",
            "{\"endpoint\":\"https://x/\",\"keys\":{\"p256dh\":\"AAAA\",\"auth\":\"" RFC_AUTH
            "\"}}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_FREE char *to = xstrdup(bad[i]);
        struct content content = {.to = to, .text = words};
        struct provider provider = {.password.value = SLICE("a signing key")};
        struct http_request request = {0};
        enum failure_level level = LEVEL_MESSAGE;
        struct err err = {0};
        assert_row(!webpush_build(&content, &provider, key, &request, &level, &err), bad[i]);
        assert_row(level == LEVEL_ADDRESS && err.kind == ERR_INPUT, bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_rfcs_example_byte_by_byte),
            cmocka_unit_test(a_point_beside_the_curve_is_refused),
            cmocka_unit_test(the_same_message_is_the_same_bytes_on_every_try),
            cmocka_unit_test(headers_are_what_the_rfc_asks_for),
            cmocka_unit_test(a_body_is_at_most_4096_bytes),
            cmocka_unit_test(what_is_no_subscription_is_no_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
