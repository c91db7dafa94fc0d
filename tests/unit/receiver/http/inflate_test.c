#include "receiver/http/inflate.h"

#include "receiver/http/coded.h"
#include "tests/test.h"
#include <zlib.h>

// What a peer does before it sends: one member behind the others in out.
static void compress_into(enum body_coding coding, struct slice plain, struct text *out)
{
    static unsigned char sent[1 << 20];
    z_stream stream = {0};
    int window = coding == CODING_GZIP ? 15 + 16 : 15;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (z_const Bytef *)(uintptr_t)plain.ptr;
    stream.avail_in = (uInt)plain.len;
    stream.next_out = sent;
    stream.avail_out = sizeof sent;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    text_add(out, (struct slice){sent, sizeof sent - stream.avail_out});
    deflateEnd(&stream);
}

static const char plain_text[] = "{\"id\":\"e1\",\"type\":\"order.placed\",\"n\":[1,2,3]}\r\n";
static const struct slice plain = {(const unsigned char *)plain_text, sizeof plain_text - 1};

static void tells_codings_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        enum body_coding coding;
    } cases[] = {{"", CODING_NONE}, {"identity", CODING_NONE}, {" Identity ", CODING_NONE},
            {"gzip", CODING_GZIP}, {"GZip", CODING_GZIP}, {"x-gzip\t", CODING_GZIP},
            {"deflate", CODING_DEFLATE}, {"br", CODING_OTHER}, {"gzip, gzip", CODING_OTHER},
            {"gzip,", CODING_OTHER}, {"gzi", CODING_OTHER}, {"zstd", CODING_OTHER}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_row(body_coding_of(slice_of(cases[i].value)) == cases[i].coding, cases[i].value);
}

static void undoes_what_was_done(void **state)
{
    (void)state;
    static const enum body_coding codings[] = {CODING_GZIP, CODING_DEFLATE};
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        AUTO_TEXT struct text sent = {.max = 1 << 20};
        AUTO_TEXT struct text out = {.max = 0};
        compress_into(codings[i], plain, &sent);
        assert_int_equal(inflate_body(codings[i], text_slice(&sent), plain.len, &out), INFLATE_OK);
        assert_true(slice_eq(text_slice(&out), plain));
        text_fini(&out);
        assert_int_equal(
                inflate_body(codings[!i], text_slice(&sent), plain.len, &out), INFLATE_BROKEN);
        assert_int_equal(out.len, 0);
    }
}

static void takes_gzip_members_one_behind_the_other(void **state)
{
    (void)state;
    AUTO_TEXT struct text sent = {.max = 1 << 20};
    AUTO_TEXT struct text out = {.max = 0};
    compress_into(CODING_GZIP, SLICE("{\"a\":"), &sent);
    compress_into(CODING_GZIP, SLICE("1}"), &sent);
    assert_int_equal(inflate_body(CODING_GZIP, text_slice(&sent), 100, &out), INFLATE_OK);
    assert_string_equal(text_cstr(&out), "{\"a\":1}");
}

static void refuses_every_cut_and_every_byte_behind(void **state)
{
    (void)state;
    static const enum body_coding codings[] = {CODING_GZIP, CODING_DEFLATE};
    for (size_t i = 0; i < ARRAY_LEN(codings); i++) {
        AUTO_TEXT struct text sent = {.max = 1 << 20};
        AUTO_TEXT struct text out = {.max = 0};
        compress_into(codings[i], plain, &sent);
        for (size_t len = 0; len < sent.len; len++) {
            struct slice cut = {text_slice(&sent).ptr, len};
            assert_int_equal(inflate_body(codings[i], cut, 1000, &out), INFLATE_BROKEN);
        }
        text_char(&sent, 'x');
        assert_int_equal(inflate_body(codings[i], text_slice(&sent), 1000, &out), INFLATE_BROKEN);
        sent.len--;
        sent.ptr[sent.len - 5] ^= 1; // of the checksum, or the length behind it
        assert_int_equal(inflate_body(codings[i], text_slice(&sent), 1000, &out), INFLATE_BROKEN);
    }
}

static void refuses_what_is_longer_than_it_may_be(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t len, max;
        char fill; // 0 = bytes that don't compress
        enum inflate_end end;
    } cases[] = {
            {"just as long as it may be", 5000, 5000, 0, INFLATE_OK},
            {"a byte longer", 5001, 5000, 0, INFLATE_TOO_LARGE},
            {"a byte longer than a step", 16385, 16384, 0, INFLATE_TOO_LARGE},
            {"exactly a step", 16384, 16384, 0, INFLATE_OK},
            {"a bomb", 3 << 20, 64 << 20, '0', INFLATE_TOO_LARGE},
            {"a small one", 200 << 10, 64 << 20, '0', INFLATE_TOO_LARGE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE unsigned char *bytes = xmalloc(cases[i].len);
        AUTO_TEXT struct text sent = {.max = 1 << 20};
        AUTO_TEXT struct text out = {.max = 0};
        uint32_t seed = 1;
        memset(bytes, cases[i].fill, cases[i].len);
        for (size_t k = 0; !cases[i].fill && k < cases[i].len; k++) {
            seed = seed * 1664525 + 1013904223;
            bytes[k] = (unsigned char)(seed >> 24);
        }
        compress_into(CODING_GZIP, (struct slice){bytes, cases[i].len}, &sent);
        assert_row(inflate_body(CODING_GZIP, text_slice(&sent), cases[i].max, &out) == cases[i].end,
                cases[i].name);
        assert_row(cases[i].end == INFLATE_OK ? out.len == cases[i].len : out.room == 0,
                cases[i].name);
    }
}

static void opens_a_request_as_its_source_says(void **state)
{
    (void)state;
    AUTO_TEXT struct text sent = {.max = 1 << 20};
    compress_into(CODING_GZIP, plain, &sent);
    static const struct {
        const char *name;
        bool compressed;
        size_t source_max, request_max;
        const char *first, *second; // Content-Encoding
        const char *reason;
    } cases[] = {
            {"as sent", false, 0, 0, NULL, NULL, NULL},
            {"identity", false, 0, 0, "identity", NULL, NULL},
            {"not where the source does not say so", false, 0, 0, "gzip", NULL, "content_encoding"},
            {"gzip", true, 0, 0, "gzip", NULL, NULL},
            {"twice", true, 0, 0, "gzip", "gzip", "content_encoding"},
            {"another", true, 0, 0, "br", NULL, "content_encoding"},
            {"not what it says", true, 0, 0, "deflate", NULL, "content_encoding_broken"},
            {"longer than the source's", true, 46, 1000, "gzip", NULL, "inflated_too_large"},
            {"longer than the request's", true, 0, 46, "gzip", NULL, "inflated_too_large"},
            {"the source's counts", true, 47, 46, "gzip", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct received_header headers[] = {{SLICE("content-encoding"), slice_of(cases[i].first)},
                {SLICE("content-encoding"), slice_of(cases[i].second)}};
        struct source source = {.compressed = cases[i].compressed, .body_max = cases[i].source_max};
        struct received received = {.headers = headers,
                .n_headers = (cases[i].first != NULL) + (cases[i].second != NULL),
                .body = text_slice(&sent),
                .body_max = cases[i].request_max};
        AUTO_TEXT struct text hold = {.max = 0};
        struct slice body;
        const char *reason = coded_open(&source, &received, &hold, &body);
        assert_row(reason == cases[i].reason ||
                           (reason && cases[i].reason && strcmp(reason, cases[i].reason) == 0),
                cases[i].name);
        bool open = cases[i].first && strcmp(cases[i].first, "gzip") == 0;
        if (!reason)
            assert_row(slice_eq(body, open ? plain : text_slice(&sent)), cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(tells_codings_by_their_names),
            cmocka_unit_test(undoes_what_was_done),
            cmocka_unit_test(takes_gzip_members_one_behind_the_other),
            cmocka_unit_test(refuses_every_cut_and_every_byte_behind),
            cmocka_unit_test(refuses_what_is_longer_than_it_may_be),
            cmocka_unit_test(opens_a_request_as_its_source_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
