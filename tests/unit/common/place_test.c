#include "common/place.h"
#include "tests/test.h"

static struct delivery_place a_place(int bucket, int redrive)
{
    struct delivery_place place = {.bucket = bucket, .redrive = redrive};
    assert_true(key_from_hex(SLICE("00112233445566778899aabbccddeeff"), &place.notification));
    return place;
}

static void a_place_is_read_as_it_was_written(void **state)
{
    (void)state;
    static const struct {
        int bucket, redrive;
        const char *text;
    } cases[] = {
            {0, 0, "0-00112233445566778899aabbccddeeff-0"},
            {1023, 7, "3ff-00112233445566778899aabbccddeeff-7"},
            {171, 999999, "ab-00112233445566778899aabbccddeeff-999999"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct delivery_place place = a_place(cases[i].bucket, cases[i].redrive), again;
        char text[PLACE_MAX];
        place_write(&place, text);
        assert_string_equal(text, cases[i].text);
        assert_true(place_read(slice_of(text), &again));
        assert_int_equal(again.bucket, cases[i].bucket);
        assert_int_equal(again.redrive, cases[i].redrive);
        assert_memory_equal(again.notification.bytes, place.notification.bytes, KEY_BYTES);
    }
}

static void anything_else_is_no_place(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "-", "0", "0-",
            "400-00112233445566778899aabbccddeeff-0", "00-00112233445566778899aabbccddeeff-0",
            "A-00112233445566778899aabbccddeeff-0", "0-00112233445566778899AABBCCDDEEFF-0",
            "0-00112233445566778899aabbccddeef-0", "0-00112233445566778899aabbccddeeff",
            "0-00112233445566778899aabbccddeeff-", "0-00112233445566778899aabbccddeeff-01",
            "0-00112233445566778899aabbccddeeff-1000000", "0-00112233445566778899aabbccddeeff-0 ",
            "0-00112233-4455-6677-8899-aabbccddeeff-0", "-1-00112233445566778899aabbccddeeff-0",
            "0-00112233445566778899aabbccddeeff--1",
            "99999999999999999999-00112233445566778899aabbccddeeff-0"};
    struct delivery_place place;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_row(!place_read(slice_of(cases[i]), &place), cases[i]);
}

static void its_key_is_the_deliverys(void **state)
{
    (void)state;
    struct delivery_place place = a_place(5, 2), other = a_place(5, 3);
    struct key key = place_key(&place, 2), want = key_delivery(place.notification, 2, SLICE(""), 2);
    assert_memory_equal(key.bytes, want.bytes, KEY_BYTES);
    key = place_key(&other, 2);
    assert_memory_not_equal(key.bytes, want.bytes, KEY_BYTES);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_place_is_read_as_it_was_written),
            cmocka_unit_test(anything_else_is_no_place),
            cmocka_unit_test(its_key_is_the_deliverys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
