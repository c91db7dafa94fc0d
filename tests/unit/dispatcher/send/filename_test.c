#include "dispatcher/send/filename.h"

#include "tests/test.h"

#define DOCX "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
#define HEAD(type) HEAD_OF(" " type)
#define HEAD_OF(type)                                                                              \
    "Content-Type:" type "\r\nContent-Transfer-Encoding: base64\r\n"                               \
    "Content-Disposition: attachment;\r\n filename"

static void writes_names_by_rfc_2231_where_they_are_not_short_ascii(void **state)
{
    (void)state;
    static const struct {
        const char *path, *want;
    } rows[] = {
            {"invoices/1001.pdf", HEAD("application/pdf") "=\"1001.pdf\"\r\n"},
            {"two words, (b).CSV", HEAD("text/csv") "=\"two words, (b).CSV\"\r\n"},
            {"no-ending", HEAD("application/octet-stream") "=\"no-ending\"\r\n"},
            {"a.pdf/x", HEAD("application/octet-stream") "=\"x\"\r\n"},
            {".pdf", HEAD("application/pdf") "=\".pdf\"\r\n"},
            {"x.unknown", HEAD("application/octet-stream") "=\"x.unknown\"\r\n"},
            {"long type.docx", HEAD_OF("\r\n " DOCX) "=\"long type.docx\"\r\n"},
            {"a\"b.txt", HEAD("text/plain") "*=UTF-8''a%22b.txt\r\n"},
            {"a\\b.txt", HEAD("text/plain") "*=UTF-8''a%5Cb.txt\r\n"},
            {"100%.txt", HEAD("text/plain") "*=UTF-8''100%25.txt\r\n"},
            {"Käse.pdf", HEAD("application/pdf") "*=UTF-8''K%C3%A4se.pdf\r\n"},
            {"ab😀😀😀😀.pdf",
                    HEAD("application/pdf") "*0*=UTF-8''ab%F0%9F%98%80%F0%9F%98%80%F0%9F%98%80;\r\n"
                                            " filename*1*=%F0%9F%98%80.pdf\r\n"},
            {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff.pdf",
                    HEAD("application/pdf") "*0*=UTF-8''"
                                            "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeee;\r\n"
                                            " filename*1*=eeffffffffff.pdf\r\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out = {.max = 1000};
        assert_row(filename_head(rows[i].path, &out), rows[i].path);
        assert_string_equal(text_cstr(&out), rows[i].want);
    }
}

// 255 bytes of three-byte characters.
static void no_line_is_longer_than_76(void **state)
{
    (void)state;
    AUTO_TEXT struct text name = {.max = 300}, out = {.max = 4000};
    for (int i = 0; i < 85; i++)
        assert_true(text_str(&name, "€"));
    assert_true(filename_head(text_cstr(&name), &out));
    for (const char *line = text_cstr(&out), *end; *line; line = end + 2) {
        end = strstr(line, "\r\n");
        assert_true(end && end - line <= 76);
    }
    assert_non_null(strstr(text_cstr(&out), " filename*10*=%E2"));
}

static void a_full_buffer_is_told(void **state)
{
    (void)state;
    AUTO_TEXT struct text out = {.max = 90};
    assert_false(filename_head("1001.pdf", &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(writes_names_by_rfc_2231_where_they_are_not_short_ascii),
            cmocka_unit_test(no_line_is_longer_than_76),
            cmocka_unit_test(a_full_buffer_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
