#include "receiver/accept/devices.h"

#include "common/text.h"
#include "tests/test.h"

#define SUBSCRIPTION                                                                               \
    "{\"endpoint\":\"https://p.example/1\",\"keys\":{\"p256dh\":\"k\",\"auth\":\"a\"}}"

static const struct {
    const char *name, *push; // of contact.push
    const char *kinds;       // of what is read, in order
} rows[] = {
        {"one of each",
                "[{\"kind\":\"apns\",\"token\":\"ab12\"},{\"kind\":\"fcm\",\"token\":\"x:y\"},"
                "{\"kind\":\"webpush\",\"token\":" SUBSCRIPTION "}]",
                "apns fcm webpush"},
        {"none", "[]", ""},
        {"no list", "{\"kind\":\"apns\",\"token\":\"ab\"}", ""},
        {"a text", "\"apns\"", ""},
        {"an unknown kind is left out",
                "[{\"kind\":\"sms\",\"token\":\"1\"},{\"kind\":\"fcm\",\"token\":\"1\"}]", "fcm"},
        {"no kind, no token, no object",
                "[{\"token\":\"1\"},{\"kind\":\"fcm\"},7,null,{\"kind\":\"fcm\",\"token\":\"\"}]",
                ""},
        {"a control character", "[{\"kind\":\"fcm\",\"token\":\"a\\nb\"}]", ""},
        {"twice", "[{\"kind\":\"apns\",\"token\":\"AB12\"},{\"kind\":\"apns\",\"token\":\"ab12\"}]",
                "apns"},
        {"the same token of another kind",
                "[{\"kind\":\"apns\",\"token\":\"ab12\"},{\"kind\":\"fcm\",\"token\":\"ab12\"}]",
                "apns fcm"},
        {"fcm's letters count",
                "[{\"kind\":\"fcm\",\"token\":\"AB\"},{\"kind\":\"fcm\",\"token\":\"ab\"}]",
                "fcm fcm"},
        {"a subscription as text",
                "[{\"kind\":\"webpush\",\"token\":\"{\\\"endpoint\\\":\\\"https://p.example/1\\\","
                "\\\"keys\\\":{}}\"},{\"kind\":\"webpush\",\"token\":" SUBSCRIPTION "}]",
                "webpush"},
        {"no subscription",
                "[{\"kind\":\"webpush\",\"token\":{\"endpoint\":\"https://p\"}},"
                "{\"kind\":\"webpush\",\"token\":\"https://p\"}]",
                ""},
};

static void each_usable_device_is_there_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text contact = {.max = 4096};
        AUTO_TEXT struct text kinds = {.max = 4096};
        struct device *list = NULL;
        assert_true(text_fmt(&contact, "{\"email\":\"a@b\",\"push\":%s}", rows[i].push));
        size_t n = devices_read(text_cstr(&contact), &list);
        for (size_t d = 0; d < n; d++) {
            size_t kind = strcspn(list[d].target, "-");
            assert_row(strlen(list[d].target) == kind + 17, rows[i].name);
            assert_true(text_fmt(&kinds, "%s%.*s", d ? " " : "", (int)kind, list[d].target));
        }
        assert_row(strcmp(text_cstr(&kinds), rows[i].kinds) == 0, rows[i].name);
        devices_free(list, n);
    }
}

static void a_subscription_is_its_endpoint(void **state)
{
    (void)state;
    struct device *a = NULL, *b = NULL;
    size_t n = devices_read("{\"push\":[{\"kind\":\"webpush\",\"token\":" SUBSCRIPTION "}]}", &a);
    size_t m =
            devices_read("{\"push\":[{\"kind\":\"webpush\",\"token\":{\"keys\":{\"auth\":\"new\"},"
                         "\"endpoint\":\"https://p.example/1\"}}]}",
                    &b);
    assert_int_equal(n + m, 2);
    assert_string_equal(a[0].target, b[0].target);
    assert_string_equal(a[0].address,
            "{\"endpoint\":\"https://p.example/1\",\"keys\":{\"auth\":\"a\","
            "\"p256dh\":\"k\"}}");
    devices_free(a, n);
    devices_free(b, m);
}

static void no_more_than_the_limit(void **state)
{
    (void)state;
    AUTO_TEXT struct text contact = {.max = 16384};
    struct device *list = NULL;
    assert_true(text_str(&contact, "{\"push\":["));
    for (int i = 0; i < DEVICES_MAX + 5; i++)
        assert_true(text_fmt(&contact, "%s{\"kind\":\"fcm\",\"token\":\"t%d\"}", i ? "," : "", i));
    assert_true(text_str(&contact, "]}"));
    size_t n = devices_read(text_cstr(&contact), &list);
    assert_int_equal(n, DEVICES_MAX);
    devices_free(list, n);
    assert_int_equal(devices_read("{\"email\":\"a@b\"}", &list), 0);
    devices_free(list, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(each_usable_device_is_there_once),
            cmocka_unit_test(a_subscription_is_its_endpoint),
            cmocka_unit_test(no_more_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
