#include "dispatcher/send/mime.h"
#include "tests/test.h"

#include <stdio.h>

static struct mailbox from = {
        .name = (char[]){"Example Shop"}, .address = (char[]){"shop@example.net"}, .domain = 5};
static struct mailbox to = {.address = (char[]){"ann@example.org"}, .domain = 4};

static char id[] = "0123456789abcdef0123456789abcdef@example.net";
static char date[] = "Sun, 29 Nov 2026 12:00:00 +0000";

// The fields are borrowed: nothing of it is freed.
static struct content content_of(const char *subject, const char *text, const char *html)
{
    return (struct content){
            .subject = (char *)(uintptr_t)subject,
            .text = (char *)(uintptr_t)text,
            .html = (char *)(uintptr_t)html,
            .message_id = id,
            .date = date,
    };
}

static char *build(const struct content *content)
{
    struct text out;
    text_init(&out, 1 << 20);
    struct err err = {0};
    AUTO_INLAYS struct inlays inlays = {0};
    if (!mime_build(content, &from, &to, &out, &inlays, &err)) {
        text_fini(&out);
        assert_int_equal(err.kind, ERR_INPUT);
        return NULL;
    }
    return text_steal(&out);
}

static void writes_one_part(void **state)
{
    (void)state;
    struct content content = content_of("Your order", "Hello\n.dot", NULL);
    AUTO_FREE char *got = build(&content);
    assert_string_equal(got, "From: Example Shop <shop@example.net>\r\n"
                             "To: ann@example.org\r\n"
                             "Subject: Your order\r\n"
                             "Date: Sun, 29 Nov 2026 12:00:00 +0000\r\n"
                             "Message-ID: <0123456789abcdef0123456789abcdef@example.net>\r\n"
                             "MIME-Version: 1.0\r\n"
                             "Content-Type: text/plain; charset=utf-8\r\n"
                             "Content-Transfer-Encoding: quoted-printable\r\n"
                             "\r\n"
                             "Hello\r\n"
                             ".dot\r\n");
}

static void both_headers_of_one_click_unsubscribe_are_there(void **state)
{
    (void)state;
    static const char *const bad[] = {"https://x/ y", "https://x/\r\nBcc: a@b", "https://x/>", ""};
    struct content content = content_of("x", "plain", NULL);
    content.unsubscribe = (char[]){"https://hooks.example.com/unsubscribe/3ff-0.1"};
    AUTO_FREE char *got = build(&content);
    assert_non_null(
            strstr(got, "\r\nList-Unsubscribe: <https://hooks.example.com/unsubscribe/3ff-0.1>"
                        "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_FREE char *link = xstrdup(bad[i]);
        content.unsubscribe = link;
        assert_row(!build(&content), bad[i]);
    }
}

static void text_and_html_are_alternatives_the_better_last(void **state)
{
    (void)state;
    struct content content = content_of("x", "plain", "<p>日本語です</p>");
    AUTO_FREE char *got = build(&content);
    const char *boundary = strstr(got, "boundary=\"=_");
    const char *plain = strstr(got, "text/plain"), *html = strstr(got, "text/html");
    assert_non_null(boundary);
    assert_true(boundary < plain && plain < html);
    assert_non_null(strstr(html, "base64"));
    assert_string_equal(got + strlen(got) - 4, "--\r\n");
}

static void the_boundary_hangs_on_the_message_id_alone(void **state)
{
    (void)state;
    struct content one = content_of("x", "plain", "<p>a</p>"), other = one;
    AUTO_FREE char *first = build(&one);
    AUTO_FREE char *second = build(&one);
    assert_string_equal(first, second);
    other.message_id = (char[]){"fedcba9876543210fedcba9876543210@example.net"};
    AUTO_FREE char *third = build(&other);
    assert_true(strncmp(strstr(first, "boundary="), strstr(third, "boundary="), 45) != 0);
}

static void every_line_is_short_7_bit_and_ends_in_crlf(void **state)
{
    (void)state;
    char body[6001];
    for (size_t i = 0; i < sizeof body - 1; i++)
        body[i] = i % 7 == 0 ? '\xc3' : i % 7 == 1 ? '\xbc' : (char)('a' + i % 26);
    body[5999] = 'z';
    body[sizeof body - 1] = '\0';
    struct content content = content_of("Größe 😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀", body, body);
    AUTO_FREE char *got = build(&content);
    assert_non_null(got);
    size_t column = 0;
    for (const char *c = got; c && *c; c++) {
        assert_true((unsigned char)*c < 0x80);
        assert_true((*c == '\r') == (c[1] == '\n' && *c == '\r'));
        if (*c == '\n') {
            assert_true(c > got && c[-1] == '\r');
            column = 0;
        } else if (*c != '\r') {
            assert_true(++column <= 76);
        }
    }
}

// 50 ways to smuggle a header, in each field that becomes one.
static void no_line_end_reaches_a_header(void **state)
{
    (void)state;
    static const char *const evil[] = {
            "a\r\nBcc: e@x",
            "a\nBcc: e@x",
            "a\rBcc: e@x",
            "\r\na",
            "\na",
            "\ra",
            "a\r\n",
            "a\n",
            "a\r",
            "a\n\r b",
            "a\r\n b",
            "a\n b",
            "a\r\n\r\nbody",
            "a\n\nbody",
            "a\x0b b",
            "a\x0c b",
            "a\x1f b",
            "a\x7f b",
            "a\x01",
            "a\x1b[2J",
    };
    for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
        struct content subject = content_of(evil[i], "text", NULL);
        assert_row(!build(&subject), evil[i]);
        struct content bad_id = content_of("x", "text", NULL);
        char message_id[80] = "i@";
        memcpy(message_id + 2, evil[i], strlen(evil[i]) + 1);
        bad_id.message_id = message_id;
        assert_row(!build(&bad_id), evil[i]);
        struct content bad_date = content_of("x", "text", NULL);
        bad_date.date = (char *)(uintptr_t)evil[i];
        assert_row(!build(&bad_date), evil[i]);
    }
}

static void refuses_what_makes_no_message(void **state)
{
    (void)state;
    struct content none = content_of("x", NULL, NULL);
    assert_null(build(&none));
    struct content broken = content_of("\xff", "text", NULL);
    assert_null(build(&broken));
    struct content body = content_of("x", "\xff", NULL);
    assert_null(build(&body));
    static const char *const ids[] = {"", "no-domain", "<a@b>", "a b@c", "ü@b"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct content bad_id = content_of("x", "text", NULL);
        bad_id.message_id = (char *)(uintptr_t)ids[i];
        assert_row(!build(&bad_id), ids[i]);
    }
    struct content unset = content_of("x", "text", NULL);
    unset.message_id = unset.date = NULL;
    assert_null(build(&unset));
}

static char file_path[] = "in/Käse.pdf";
static struct attachment file = {.path = file_path, .size = 100};

static void files_are_parts_around_what_it_is_without_them(void **state)
{
    (void)state;
    struct content content = content_of("x", "plain", "<p>");
    AUTO_FREE char *alone = build(&content);
    content.attachments = &file;
    content.n_attachments = 1;
    struct text out;
    text_init(&out, 1 << 20);
    struct err err = {0};
    AUTO_INLAYS struct inlays inlays = {0};
    assert_true(mime_build(&content, &from, &to, &out, &inlays, &err));
    const char *got = text_cstr(&out), *type = strstr(alone, "Content-Type: ");
    assert_memory_equal(got, alone, type - alone);
    const char *mixed = got + (type - alone);
    char boundary[KEY_HEX + 2];
    assert_int_equal(
            sscanf(mixed, "Content-Type: multipart/mixed;\r\n boundary=\"%34[^\"]", boundary), 1);
    assert_null(strstr(alone, boundary));
    // The whole alternative is there, as it is without files.
    AUTO_TEXT struct text want = {.max = 1 << 20};
    text_fmt(&want,
            "Content-Type: multipart/mixed;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n%s--%s\r\n"
            "Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"
            "Content-Disposition: attachment;\r\n "
            "filename*=UTF-8''K%%C3%%A4se.pdf\r\n\r\n--%s--\r\n",
            boundary, boundary, type, boundary, boundary);
    assert_string_equal(mixed, text_cstr(&want));
    assert_int_equal(inlays.n, 1);
    text_fini(&out);
}

static void a_name_that_could_end_its_header_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
            "a\r\nBcc: eve@example.org", "a\n", "a\x7f", "\xff", "../a", "/a", ""};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct attachment attachment = {.path = (char *)(uintptr_t)bad[i], .size = 1};
        struct content content = content_of("x", "plain", NULL);
        content.attachments = &attachment;
        content.n_attachments = 1;
        assert_row(!build(&content), bad[i]);
    }
}

static void a_message_over_the_bound_is_an_error(void **state)
{
    (void)state;
    struct content content = content_of("x", "some text", NULL);
    struct text out;
    text_init(&out, 200);
    struct err err = {0};
    AUTO_INLAYS struct inlays inlays = {0};
    assert_false(mime_build(&content, &from, &to, &out, &inlays, &err));
    assert_non_null(strstr(err.msg, "200"));
    text_fini(&out);
}

static void long_names_are_folded_before_the_address(void **state)
{
    (void)state;
    struct mailbox named = {
            .name = (char[]){"A name that is long enough to fill most of the line"},
            .address = (char[]){"somebody.with.a.long.name@example.org"},
            .domain = 26,
    };
    struct content content = content_of("x", "text", NULL);
    struct text out;
    text_init(&out, 4096);
    struct err err;
    AUTO_INLAYS struct inlays inlays = {0};
    assert_true(mime_build(&content, &from, &named, &out, &inlays, &err));
    assert_non_null(strstr(text_cstr(&out), "the line\r\n <somebody.with"));
    text_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(writes_one_part),
            cmocka_unit_test(both_headers_of_one_click_unsubscribe_are_there),
            cmocka_unit_test(text_and_html_are_alternatives_the_better_last),
            cmocka_unit_test(the_boundary_hangs_on_the_message_id_alone),
            cmocka_unit_test(every_line_is_short_7_bit_and_ends_in_crlf),
            cmocka_unit_test(no_line_end_reaches_a_header),
            cmocka_unit_test(refuses_what_makes_no_message),
            cmocka_unit_test(a_message_over_the_bound_is_an_error),
            cmocka_unit_test(files_are_parts_around_what_it_is_without_them),
            cmocka_unit_test(a_name_that_could_end_its_header_is_refused),
            cmocka_unit_test(long_names_are_folded_before_the_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
