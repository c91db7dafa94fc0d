#include "dispatcher/send/reply.h"
#include "tests/test.h"

static void reads_replies(void **state)
{
    (void)state;
    static const struct {
        const char *lines[4];
        enum reply_step last;
        int code;
        const char *enhanced, *text;
    } rows[] = {
            {{"250 ok"}, REPLY_DONE, 250, "", "250 ok"},
            {{"250"}, REPLY_DONE, 250, "", "250 "},
            {{"550 5.1.1 no such user"}, REPLY_DONE, 550, "5.1.1", "550 5.1.1 no such user"},
            {{"550-5.1.1 no such user,", "550-5.1.1 look again:", "550 5.1.1 https://x"},
                    REPLY_DONE, 550, "5.1.1", "550 5.1.1 no such user, look again: https://x"},
            {{"450 4.7.26"}, REPLY_DONE, 450, "4.7.26", "450 4.7.26"},
            {{"550 4.1.1 of another class"}, REPLY_DONE, 550, "", "550 4.1.1 of another class"},
            {{"550 5.1 short"}, REPLY_DONE, 550, "", "550 5.1 short"},
            {{"550 5.1.1000 long"}, REPLY_DONE, 550, "", "550 5.1.1000 long"},
            {{"550 5.1.1x"}, REPLY_DONE, 550, "", "550 5.1.1x"},
            {{"250-first"}, REPLY_MORE, 250, "", "250 first"},
            {{"250 \x1b[2J\xffx"}, REPLY_DONE, 250, "", "250 ?[2J?x"},
            {{"250-one", "550 two"}, REPLY_BAD, 250, "", "250 one"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct smtp_reply reply = {0};
        enum reply_step step = REPLY_MORE;
        for (size_t n = 0; n < 4 && rows[i].lines[n]; n++)
            step = reply_line(&reply, slice_of(rows[i].lines[n]));
        assert_row(step == rows[i].last, rows[i].lines[0]);
        assert_row(reply.code == rows[i].code, rows[i].lines[0]);
        assert_row(strcmp(reply.enhanced, rows[i].enhanced) == 0, rows[i].lines[0]);
        assert_row(strcmp(reply.text, rows[i].text) == 0, rows[i].lines[0]);
    }
}

static void refuses_what_is_no_reply(void **state)
{
    (void)state;
    static const char *const rows[] = {
            "",
            "25",
            "2500",
            "ok",
            "150 no",
            "650 no",
            "25x ok",
            "250_ok",
            "HTTP/1.1 400 Bad Request",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct smtp_reply reply = {0};
        assert_row(reply_line(&reply, slice_of(rows[i])) == REPLY_BAD, rows[i]);
        assert_row(reply.code == 0, rows[i]);
    }
}

static void a_new_reply_forgets_the_last(void **state)
{
    (void)state;
    struct smtp_reply reply = {0};
    assert_int_equal(reply_line(&reply, slice_of("550 5.1.1 no")), REPLY_DONE);
    assert_int_equal(reply_line(&reply, slice_of("250 ok")), REPLY_DONE);
    assert_string_equal(reply.enhanced, "");
    assert_string_equal(reply.text, "250 ok");
}

static void cuts_what_is_too_long(void **state)
{
    (void)state;
    char line[1000];
    memset(line, 'x', sizeof line);
    memcpy(line, "550-", 4);
    struct smtp_reply reply = {0};
    for (int i = 0; i < 10; i++)
        assert_int_equal(
                reply_line(&reply, (struct slice){(unsigned char *)line, sizeof line}), REPLY_MORE);
    assert_int_equal(strlen(reply.text), sizeof reply.text - 1);
}

static void reads_offers_and_forgets_them_at_starttls(void **state)
{
    (void)state;
    struct smtp_offers offers = {0};
    offers_line(&offers, slice_of("250-SIZE 1000"));
    offers_line(&offers, slice_of("250-smtputf8"));
    assert_true(offers.size && offers.utf8);
    offers_line(&offers, slice_of("220 2.0.0 go ahead"));
    assert_false(offers.size || offers.utf8);
    offers_line(&offers, slice_of("250-SIZEABLE"));
    offers_line(&offers, slice_of("250-X SMTPUTF8"));
    offers_line(&offers, slice_of("550 SIZE"));
    offers_line(&offers, slice_of("250"));
    assert_false(offers.size || offers.utf8);
    offers_line(&offers, slice_of("250 SIZE"));
    assert_true(offers.size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_replies),
            cmocka_unit_test(refuses_what_is_no_reply),
            cmocka_unit_test(a_new_reply_forgets_the_last),
            cmocka_unit_test(cuts_what_is_too_long),
            cmocka_unit_test(reads_offers_and_forgets_them_at_starttls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
