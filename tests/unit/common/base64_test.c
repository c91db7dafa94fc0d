#include "common/base64.h"

#include "tests/test.h"

static void reads_what_rfc_7515_writes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
        size_t len;
    } rows[] = {{"", "", 0}, {"Zg", "f", 1}, {"Zm8", "fo", 2}, {"Zm9v", "foo", 3},
            {"Zm9vYg", "foob", 4}, {"A-z_4ME", "\x03\xec\xff\xe0\xc1", 5}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned char out[16];
        size_t len = 99;
        assert_row(base64url_decode(slice_of(rows[i].text), out, sizeof out, &len), rows[i].text);
        assert_row(len == rows[i].len && memcmp(out, rows[i].want, len) == 0, rows[i].text);
    }
}

static void refuses_every_second_spelling(void **state)
{
    (void)state;
    static const char *const rows[] = {"Z", "Zg==", "Zg=", "Zh", "Zm9", "Zm9vY", "A+z/4ME", "Zm 8",
            "Zm8\n", " Zm8", "Zm8.", "Z\xc3\xa9"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned char out[16];
        size_t len = 0;
        assert_row(!base64url_decode(slice_of(rows[i]), out, sizeof out, &len), rows[i]);
    }
}

static void never_writes_more_than_there_is_room_for(void **state)
{
    (void)state;
    unsigned char out[3] = {0, 0, 7};
    size_t len = 0;
    assert_false(base64url_decode(SLICE("Zm9v"), out, 2, &len));
    assert_true(base64url_decode(SLICE("Zm8"), out, 2, &len));
    assert_int_equal(out[2], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_what_rfc_7515_writes),
            cmocka_unit_test(refuses_every_second_spelling),
            cmocka_unit_test(never_writes_more_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
