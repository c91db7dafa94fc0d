#include "common/config/unsubscribe.h"
#include "common/text.h"
#include "tests/test.h"

static char url[] = "https://hooks.example.com", slashed[] = "https://hooks.example.com/base/";

static struct delivery_place a_place(void)
{
    struct delivery_place place = {.bucket = 1023, .redrive = 2};
    assert_true(key_from_hex(SLICE("00112233445566778899aabbccddeeff"), &place.notification));
    return place;
}

static struct policy a_policy(char *base, struct secret *secrets, size_t n)
{
    return (struct policy){.unsubscribe = {.url = base, .secrets = secrets, .n_secrets = n}};
}

static void a_link_is_signed_and_read_again(void **state)
{
    (void)state;
    struct secret secrets[] = {{.value = SLICE("one")}};
    struct delivery_place place = a_place(), found;
    for (int i = 0; i < 2; i++) {
        struct policy policy = a_policy(i ? slashed : url, secrets, 1);
        AUTO_TEXT struct text link = {.max = 1000};
        struct err err = {0};
        assert_true(unsubscribe_link(&policy, &place, 0, &link, &err));
        // echo -n 'pawl unsubscribe 1 3ff-..-2' | openssl dgst -sha256 -hmac one
        assert_string_equal(text_cstr(&link),
                i ? "https://hooks.example.com/base/unsubscribe/"
                    "3ff-00112233445566778899aabbccddeeff-2.e0f011e45101c69632b7218bdfcdb182"
                  : "https://hooks.example.com/unsubscribe/"
                    "3ff-00112233445566778899aabbccddeeff-2.e0f011e45101c69632b7218bdfcdb182");
        const char *token = strrchr(text_cstr(&link), '/') + 1;
        assert_true(unsubscribe_read(&policy, slice_of(token), 0, &found));
        assert_int_equal(found.bucket, 1023);
        assert_int_equal(found.redrive, 2);
        assert_memory_equal(found.notification.bytes, place.notification.bytes, KEY_BYTES);
    }
}

static void what_is_not_signed_is_not_read(void **state)
{
    (void)state;
    static const char *const tokens[] = {"", ".", "3ff-00112233445566778899aabbccddeeff-2",
            "3ff-00112233445566778899aabbccddeeff-2.",
            "3ff-00112233445566778899aabbccddeeff-2.00000000000000000000000000000000",
            "3ff-00112233445566778899aabbccddeeff-3.e0f011e45101c69632b7218bdfcdb182",
            "3fe-00112233445566778899aabbccddeeff-2.e0f011e45101c69632b7218bdfcdb182",
            "3ff-00112233445566778899aabbccddeeff-2.e0f011e45101c69632b7218bdfcdb1820",
            "3ff-00112233445566778899aabbccddeeff-2-e0f011e45101c69632b7218bdfcdb182"};
    struct secret secrets[] = {{.value = SLICE("one")}};
    struct policy policy = a_policy(url, secrets, 1);
    struct delivery_place found;
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        assert_row(!unsubscribe_read(&policy, slice_of(tokens[i]), 0, &found), tokens[i]);
}

static void the_first_live_secret_signs_and_any_live_one_is_believed(void **state)
{
    (void)state;
    struct secret secrets[] = {{.value = SLICE("next"), .from = 100},
            {.value = SLICE("one"), .until = 200}, {.value = {NULL, 0}}};
    struct delivery_place place = a_place(), found;
    struct policy policy = a_policy(url, secrets, 3);
    AUTO_TEXT struct text early = {.max = 1000}, late = {.max = 1000};
    struct err err = {0};
    assert_true(unsubscribe_link(&policy, &place, 50, &early, &err));
    assert_true(unsubscribe_link(&policy, &place, 150, &late, &err));
    assert_string_not_equal(text_cstr(&early), text_cstr(&late));
    struct slice old = slice_of(strrchr(text_cstr(&early), '/') + 1);
    assert_true(unsubscribe_read(&policy, old, 199, &found));
    assert_false(unsubscribe_read(&policy, old, 200, &found));
    assert_false(
            unsubscribe_read(&policy, slice_of(strrchr(text_cstr(&late), '/') + 1), 99, &found));
}

static void without_a_key_or_a_base_there_is_no_link(void **state)
{
    (void)state;
    struct secret secrets[] = {{.value = {NULL, 0}}};
    struct delivery_place place = a_place();
    AUTO_TEXT struct text link = {.max = 1000};
    struct err err = {0};
    struct policy keyless = a_policy(url, secrets, 1), baseless = a_policy(NULL, NULL, 0);
    assert_false(unsubscribe_link(&keyless, &place, 0, &link, &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_false(unsubscribe_link(&baseless, &place, 0, &link, &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_int_equal(link.len, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_link_is_signed_and_read_again),
            cmocka_unit_test(what_is_not_signed_is_not_read),
            cmocka_unit_test(the_first_live_secret_signs_and_any_live_one_is_believed),
            cmocka_unit_test(without_a_key_or_a_base_there_is_no_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
