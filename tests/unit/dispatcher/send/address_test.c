#include "dispatcher/send/address.h"
#include "tests/test.h"

#include <stdio.h>

static bool to_ascii(const char *domain, char out[256])
{
    return strcmp(domain, "bücher.example") == 0 && snprintf(out, 256, "xn--bcher-kva.example") > 0;
}

static void reads_one_mailbox(void **state)
{
    (void)state;
    static const struct {
        const char *input, *name, *address;
    } rows[] = {
            {"ann@example.org", NULL, "ann@example.org"},
            {"<ann@example.org>", NULL, "ann@example.org"},
            {"Ann <ann@example.org>", "Ann", "ann@example.org"},
            {"Ann  B.  <ann@example.org>", "Ann  B.", "ann@example.org"},
            {"\"Ann \\\"A\\\" B\" <ann@example.org>", "Ann \"A\" B", "ann@example.org"},
            {"Änn <ann@example.org>", "Änn", "ann@example.org"},
            {"a<b <ann@example.org>", "a<b", "ann@example.org"},
            {"first.last+tag@sub.example.org", NULL, "first.last+tag@sub.example.org"},
            {"odd..dots.@example.org", NULL, "odd..dots.@example.org"},
            {"jürgen@example.org", NULL, "jürgen@example.org"},
            {"ann@bücher.example", NULL, "ann@xn--bcher-kva.example"},
            {"ann@localhost", NULL, "ann@localhost"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mailbox mailbox = {0};
        struct err err;
        assert_row(mailbox_parse(slice_of(rows[i].input), to_ascii, &mailbox, &err), rows[i].input);
        assert_row(strcmp(mailbox.address, rows[i].address) == 0, rows[i].input);
        assert_row(!mailbox.name == !rows[i].name, rows[i].input);
        assert_row(!mailbox.name || strcmp(mailbox.name, rows[i].name) == 0, rows[i].input);
        assert_row(mailbox.address[mailbox.domain - 1] == '@', rows[i].input);
        mailbox_fini(&mailbox);
    }
}

static bool parses(struct slice input)
{
    struct mailbox mailbox = {0};
    struct err err = {0};
    bool ok = mailbox_parse(input, to_ascii, &mailbox, &err);
    mailbox_fini(&mailbox);
    return ok;
}

static void refuses_what_is_not_one_mailbox(void **state)
{
    (void)state;
    static const char *const rows[] = {
            "",
            " ",
            "ann",
            "@example.org",
            "ann@",
            "ann@example.org, bob@example.org",
            "ann@example.org bob@example.org",
            "Ann <ann@example.org> x",
            "<>",
            "Ann <>",
            "Ann <ann@example.org",
            "ann@example.org>",
            "ann @example.org",
            "ann@exa mple.org",
            "ann@.example.org",
            "ann@example..org",
            "ann@example.org.",
            "ann@-example.org",
            "ann@[127.0.0.1]",
            "\"a b\"@example.org",
            "a@b@example.org",
            "ann@unknown-ü.example",
            "ann@example.org\\",
            "a;b@example.org",
            "ann@example.org/x",
            "\xff@example.org",
            "ann\xc3@example.org",
            "ann@\xed\xa0\x80.example",
            "ann\xc2\x85@example.org",
            "ann\xe2\x80\xa8"
            "b@example.org",
            "Ann\xe2\x80\xa9 <ann@example.org>",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(!parses(slice_of(rows[i])), rows[i]);
}

// Every control character at every place of an address and its name.
static void no_control_character_gets_through(void **state)
{
    (void)state;
    static const char base[] = "Ann B <ann@example.org>";
    for (int c = 0; c <= 0x7f; c = c == 0x1f ? 0x7f : c + 1) {
        for (size_t at = 0; at < sizeof base; at++) {
            char input[sizeof base + 1];
            memcpy(input, base, at);
            input[at] = (char)c;
            memcpy(input + at + 1, base + at, sizeof base - 1 - at);
            struct slice slice = {(unsigned char *)input, sizeof base};
            if (parses(slice))
                fail_msg("0x%02x at %zu got through", c, at);
        }
    }
}

static void bounds_lengths(void **state)
{
    (void)state;
    char input[400];
    snprintf(input, sizeof input, "%.*s@example.org", 64,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_true(parses(slice_of(input)));
    snprintf(input, sizeof input, "%.*s@example.org", 65,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_false(parses(slice_of(input)));
    memset(input, 'd', sizeof input);
    memcpy(input, "a@", 2);
    input[254] = '\0';
    assert_true(parses(slice_of(input)));
    input[254] = 'd';
    input[255] = '\0';
    assert_false(parses(slice_of(input)));
    input[254] = 'd';
    input[399] = '\0';
    assert_false(parses(slice_of(input)));
}

static void tells_what_needs_smtputf8(void **state)
{
    (void)state;
    assert_true(mailbox_needs_utf8(&(struct mailbox){.address = (char[]){"j\xc3\xbcrgen@e.org"}}));
    assert_false(mailbox_needs_utf8(&(struct mailbox){.address = (char[]){"ann@xn--b.org"}}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_one_mailbox),
            cmocka_unit_test(refuses_what_is_not_one_mailbox),
            cmocka_unit_test(no_control_character_gets_through),
            cmocka_unit_test(bounds_lengths),
            cmocka_unit_test(tells_what_needs_smtputf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
