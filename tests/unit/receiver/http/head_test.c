#include "receiver/http/head.h"
#include "tests/test.h"

#define POST "POST /hooks/shop HTTP/1.1\r\n"
#define HOST "Host: a\r\n"

static void finds_what_two_readers_would_read_differently(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input;
        enum head_fault want;
    } rows[] = {
            {"plain", POST HOST "Content-Length: 2\r\n\r\n{}", HEAD_OK},
            {"chunked", POST HOST "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", HEAD_OK},
            {"one empty line before it", "\r\n" POST HOST "\r\n", HEAD_OK},
            {"two empty lines before it", "\r\n\r\n" POST HOST "\r\n", HEAD_BAD_LINE},
            {"length and coding",
                    POST HOST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
                    HEAD_LENGTH_AND_CODING},
            {"coding and length",
                    POST HOST "transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n",
                    HEAD_LENGTH_AND_CODING},
            {"two lengths", POST HOST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
                    HEAD_TWO_LENGTHS},
            {"the same length twice", POST HOST "Content-Length: 2\r\ncontent-LENGTH: 2\r\n\r\n",
                    HEAD_TWO_LENGTHS},
            {"two codings",
                    POST HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                    HEAD_BAD_CODING},
            {"another coding", POST HOST "Transfer-Encoding: gzip, chunked\r\n\r\n",
                    HEAD_BAD_CODING},
            {"coding with a tail", POST HOST "Transfer-Encoding: chunkedx\r\n\r\n",
                    HEAD_BAD_CODING},
            {"two hosts", POST HOST "Host: a\r\n\r\n", HEAD_TWO_HOSTS},
            {"no host", POST "Accept: x\r\n\r\n", HEAD_NO_HOST},
            {"no host in 1.0", "POST /hooks/shop HTTP/1.0\r\n\r\n", HEAD_OK},
            {"folded line", POST HOST "X-A: b\r\n c\r\n\r\n", HEAD_FOLDED},
            {"folded by a tab", POST HOST "X-A: b\r\n\tc\r\n\r\n", HEAD_FOLDED},
            {"bare LF", POST "Host: a\n\r\n", HEAD_BARE_LINE_END},
            {"bare LF as the end", POST HOST "\n", HEAD_BARE_LINE_END},
            {"bare LF first", "\n" POST HOST "\r\n", HEAD_BARE_LINE_END},
            {"bare CR", POST HOST "X-A: b\rX-B: c\r\n\r\n", HEAD_BARE_LINE_END},
            {"blank before the colon", POST HOST "Content-Length : 2\r\n\r\n",
                    HEAD_BLANK_BEFORE_COLON},
            {"tab before the colon", POST HOST "X\t: 2\r\n\r\n", HEAD_BLANK_BEFORE_COLON},
            {"no name", POST HOST ": 2\r\n\r\n", HEAD_BLANK_BEFORE_COLON},
            {"no colon", POST HOST "nonsense\r\n\r\n", HEAD_BAD_LINE},
            {"control character", POST HOST "X-A: b\x01\r\n\r\n", HEAD_BAD_LINE},
            {"control character in the target", "POST /\x01 HTTP/1.1\r\n" HOST "\r\n",
                    HEAD_BAD_LINE},
            {"bytes above 0x7f in a value", POST HOST "X-A: \xc3\xa4\r\n\r\n", HEAD_OK},
            {"no end", POST HOST, HEAD_INCOMPLETE},
            {"nothing", "", HEAD_INCOMPLETE},
            {"what follows is not looked at", POST HOST "\r\nContent-Length: 1\nHost : b\r\n\r\n",
                    HEAD_OK},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(head_scan(slice_of(rows[i].input)) == rows[i].want, rows[i].name);
}

static void finds_a_nul(void **state)
{
    (void)state;
    static const char bytes[] = POST HOST "X-A: b\0c\r\n\r\n";
    assert_int_equal(head_scan((struct slice){(const unsigned char *)bytes, sizeof bytes - 1}),
            HEAD_BAD_LINE);
}

static void never_reads_behind_the_bytes_it_got(void **state)
{
    (void)state;
    static const char whole[] = POST HOST "Content-Length: 2\r\n\r\n";
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        AUTO_FREE unsigned char *part = xmalloc(len); // ASan sees one byte too many
        memcpy(part, whole, len);
        assert_int_not_equal(head_scan((struct slice){part, len}), HEAD_OK);
    }
}

static void names_every_fault(void **state)
{
    (void)state;
    for (int i = 0; i < HEAD_FAULT_COUNT; i++)
        assert_true(strlen(head_fault_name((enum head_fault)i)) > 0);
    assert_string_equal(head_fault_name(HEAD_FAULT_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(finds_what_two_readers_would_read_differently),
            cmocka_unit_test(finds_a_nul),
            cmocka_unit_test(never_reads_behind_the_bytes_it_got),
            cmocka_unit_test(names_every_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
