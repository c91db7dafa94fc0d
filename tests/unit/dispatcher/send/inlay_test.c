#include "dispatcher/send/inlay.h"

#include "tests/unit/dispatcher/send/files_kit.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

enum { ALL_MAX = 64 << 10 };

static struct content files;

static const struct attachment *file(const char *name, size_t len)
{
    AUTO_FREE unsigned char *bytes = xmalloc(len);
    struct err err = {0};
    kit_fill(bytes, len, (unsigned)len);
    kit_put(name, bytes, len);
    assert_true(attachment_add(&files, kit_folder, name, &err));
    return &files.attachments[files.n_attachments - 1];
}

// What the coding should be, by another way: all of it at once, then cut into lines.
static void expect(struct text *out, struct slice raw, bool lines)
{
    AUTO_FREE unsigned char *coded = xmalloc(raw.len * 2 + 8);
    int n = EVP_EncodeBlock(coded, raw.ptr, (int)raw.len);
    for (int i = 0; i < n; i += lines ? 76 : n) {
        int len = lines && n - i > 76 ? 76 : n - i;
        assert_true(text_add(out, (struct slice){coded + i, (size_t)len}));
        assert_true(!lines || text_str(out, "\r\n"));
    }
}

static void expect_file(struct text *out, const struct attachment *attachment, bool lines)
{
    AUTO_FREE unsigned char *bytes = xmalloc(attachment->size);
    kit_fill(bytes, attachment->size, (unsigned)attachment->size);
    expect(out, (struct slice){bytes, attachment->size}, lines);
}

static bool read_all(struct slice text, const struct inlays *inlays, size_t step, struct text *out,
        struct err *err)
{
    struct inlay_reader *reader = inlay_reader_new(text, inlays);
    AUTO_FREE unsigned char *piece = xmalloc(step);
    bool ok = true;
    for (size_t n = 1; ok && n > 0;) {
        ok = inlay_read(reader, piece, step, &n, err);
        assert_true(!ok || text_add(out, (struct slice){piece, n}));
    }
    inlay_reader_free(reader);
    return ok;
}

static void gives_text_and_files_whatever_their_length(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 56, 57, 58, 3647, 3648, 3649, 7296, 9000};
    static const size_t steps[] = {1, 7, 4096, 16384};
    for (size_t i = 0; i < ARRAY_LEN(lengths) * ARRAY_LEN(steps) * 2; i++) {
        struct err err = {0};
        bool lines = i % 2;
        AUTO_INLAYS struct inlays inlays = {.folder = kit_folder};
        AUTO_TEXT struct text want = {.max = ALL_MAX}, got = {.max = ALL_MAX};
        const struct attachment *attachment = file("a", lengths[i / 2 / ARRAY_LEN(steps)]);
        inlays_add_file(&inlays, 4, attachment, lines);
        text_str(&want, "head");
        expect_file(&want, attachment, lines);
        text_str(&want, "tail");
        assert_int_equal(8 + inlays_size(&inlays), want.len);
        assert_true(
                read_all(SLICE("headtail"), &inlays, steps[i / 2 % ARRAY_LEN(steps)], &got, &err));
        assert_string_equal(text_cstr(&got), text_cstr(&want));
        content_fini(&files);
    }
}

static void several_stand_where_they_were_put(void **state)
{
    (void)state;
    struct err err = {0};
    AUTO_INLAYS struct inlays inlays = {.folder = kit_folder};
    AUTO_TEXT struct text want = {.max = ALL_MAX}, got = {.max = ALL_MAX};
    file("a", 10);
    file("b", 100);
    const struct attachment *a = &files.attachments[0], *b = &files.attachments[1];
    inlays_add_file(&inlays, 0, a, true);
    inlays_add_file(&inlays, 0, b, false);
    inlays_add_file(&inlays, 3, a, true);
    expect_file(&want, a, true);
    expect_file(&want, b, false);
    text_str(&want, "mid");
    expect_file(&want, a, true);
    assert_true(read_all(SLICE("mid"), &inlays, 100, &got, &err));
    assert_string_equal(text_cstr(&got), text_cstr(&want));
    content_fini(&files);
}

static void a_text_with_files_can_be_inside_and_the_hash_is_over_all(void **state)
{
    (void)state;
    struct err err = {0};
    AUTO_INLAYS struct inlays outer = {.folder = kit_folder}, inner = {0};
    AUTO_TEXT struct text mime = {.max = ALL_MAX}, plain = {.max = ALL_MAX},
                          want = {.max = ALL_MAX}, got = {.max = ALL_MAX};
    unsigned char digest[32], asked[32];
    const struct attachment *a = file("a", 5001);
    text_str(&mime, "HEAD.END");
    inlays_add_file(&inner, 5, a, true);
    text_str(&plain, "HEAD.");
    expect_file(&plain, a, true);
    text_str(&plain, "END");
    text_str(&want, "{\"");
    expect(&want, text_slice(&plain), false);
    text_str(&want, "\"}");
    inlays_add_text(&outer, 2, &mime, &inner);
    assert_true(inner.n == 0 && mime.len == 0);
    assert_int_equal(4 + inlays_size(&outer), want.len);
    assert_true(read_all(SLICE("{\"\"}"), &outer, 333, &got, &err));
    assert_string_equal(text_cstr(&got), text_cstr(&want));
    assert_true(inlays_digest(SLICE("{\"\"}"), &outer, digest, &err));
    SHA256((const unsigned char *)want.ptr, want.len, asked);
    assert_memory_equal(digest, asked, 32);
    content_fini(&files);
}

// Long files too: the end of one is never given before all of it was compared.
static void nothing_behind_a_file_that_changed_is_given(void **state)
{
    (void)state;
    static const size_t lengths[] = {5, 57, 3648, 9000};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct err err = {0};
        AUTO_INLAYS struct inlays inlays = {.folder = kit_folder};
        AUTO_TEXT struct text got = {.max = ALL_MAX};
        AUTO_FREE unsigned char *other = xcalloc(1, lengths[i]);
        inlays_add_file(&inlays, 4, file("a", lengths[i]), true);
        kit_put("a", other, lengths[i]);
        unsigned char digest[32];
        assert_false(read_all(SLICE("headTAIL"), &inlays, 1, &got, &err));
        assert_int_equal(err.kind, ERR_INPUT);
        assert_non_null(strstr(err.msg, "'a' is not the file it was"));
        assert_null(strstr(text_cstr(&got), "TAIL"));
        assert_false(inlays_digest(SLICE("headTAIL"), &inlays, digest, &err));
        content_fini(&files);
    }
}

static void inlays_move_with_the_text_around_them(void **state)
{
    (void)state;
    AUTO_INLAYS struct inlays inlays = {0};
    size_t next = 0;
    const struct attachment none = {.size = 3};
    inlays_add_file(&inlays, 5, &none, true);
    inlays_add_file(&inlays, 5, &none, true);
    assert_false(inlays_moved(&inlays, &next, 4, 6));
    assert_true(inlays_moved(&inlays, &next, 5, 7));
    assert_true(inlays_moved(&inlays, &next, 5, 7));
    assert_false(inlays_moved(&inlays, &next, 5, 7));
    assert_int_equal(next, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(gives_text_and_files_whatever_their_length),
            cmocka_unit_test(several_stand_where_they_were_put),
            cmocka_unit_test(a_text_with_files_can_be_inside_and_the_hash_is_over_all),
            cmocka_unit_test(nothing_behind_a_file_that_changed_is_given),
            cmocka_unit_test(inlays_move_with_the_text_around_them),
    };
    return cmocka_run_group_tests(tests, kit_set_up, kit_tear_down);
}
