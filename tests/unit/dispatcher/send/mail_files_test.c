#include "common/json/scan.h"
#include "dispatcher/send/providers.h"
#include "tests/test.h"

#define KEY "0123456789abcdef0123456789abcdef"

static char from[] = "Shop <shop@example.net>", to[] = "ann@example.org", subject[] = "Order",
            body[] = "Hello";
static const struct content mail = {.from = from, .to = to, .subject = subject, .text = body};

// Before the object's end; the bytes go between the last quotes when it is sent.
static void files_go_by_every_api(void **state)
{
    (void)state;
    static const char *const parts[] = {",\"attachments\":[{\"filename\":\"1\\\".pdf\",\"content_"
                                        "type\":\"application/pdf\",\"content\":\"",
            ",\"Attachments\":[{\"Name\":\"1\\\".pdf\",\"ContentType\":\"application/"
            "pdf\",\"Content\":\"",
            ",\"attachments\":[{\"filename\":\"1\\\".pdf\",\"type\":\"application/"
            "pdf\",\"content\":\""};
    struct attachment files[] = {
            {.path = (char[]){"in/1\".pdf"}, .size = 4}, {.path = (char[]){"b"}, .size = 3}};
    for (size_t i = 1; i < 4; i++) {
        AUTO_HTTP_REQUEST struct http_request request = {0};
        struct content content = mail;
        content.attachments = files;
        content.n_attachments = 2;
        struct provider provider =
                (struct provider){.driver = DRIVER_HTTP, .password.value = SLICE("s3cret")};
        enum failure_level level;
        struct err err = {0};
        assert_true(driver_at(i)->build(&content, &provider, KEY, &request, &level, &err));
        assert_row(strstr(text_cstr(&request.body), parts[i - 1]) != NULL, driver_at(i)->name);
        assert_true(json_check(text_slice(&request.body), &err));
        assert_int_equal(http_body_size(&request), request.body.len + 8 + 4);
        files[1].path[0] = '\n';
        AUTO_HTTP_REQUEST struct http_request none = {0};
        assert_row(!driver_at(i)->build(&content, &provider, KEY, &none, &level, &err),
                driver_at(i)->name);
        assert_int_equal(level, LEVEL_MESSAGE);
        files[1].path[0] = 'b';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(files_go_by_every_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
