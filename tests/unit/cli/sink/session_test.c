#include "tests/test.h"

#include "cli/sink/session.h"

#include <stdio.h>

struct kept {
    int mails;
    char recipients[512], mail[512];
};

static bool store(void *ctx, struct session *session)
{
    struct kept *kept = ctx;
    kept->mails++;
    snprintf(session->kept_as, sizeof session->kept_as, "Q%d", kept->mails);
    snprintf(kept->mail, sizeof kept->mail, "%s", text_cstr(&session->mail));
    kept->recipients[0] = '\0';
    for (size_t i = 0; i < session->n_recipients; i++) {
        size_t len = strlen(kept->recipients);
        snprintf(kept->recipients + len, sizeof kept->recipients - len, "%s;",
                session->recipients[i]);
    }
    return true;
}

// Plays the whole text, split after every `step` bytes.
static bool play(const char *text, size_t step, struct kept *kept, struct text *replies)
{
    struct session *session = xcalloc(1, sizeof *session);
    AUTO_FREE void *held = session;
    const struct session_store how = {store, kept};
    bool ok = true;
    session_init(session);
    for (size_t at = 0; at < strlen(text) && ok; at += step) {
        size_t len = strlen(text) - at < step ? strlen(text) - at : step;
        ok = session_feed(session, (struct slice){(const unsigned char *)text + at, len}, &how);
    }
    text_init(replies, 65536);
    text_add(replies, text_slice(&session->out));
    session_fini(session);
    return ok;
}

static const char two_mails[] =
        "EHLO me\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@y>\r\nRCPT TO:<c@y>\r\nDATA\r\n"
        "Subject: s\r\n\r\n..dot\r\n.\r\n"
        "MAIL FROM:<>\r\nRCPT TO:<d@y>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n";

static void mails_are_kept_whatever_the_packets(void **state)
{
    (void)state;
    for (size_t step = 1; step < sizeof two_mails; step += 7) {
        struct kept kept = {0};
        AUTO_TEXT struct text replies;
        assert_true(play(two_mails, step, &kept, &replies));
        assert_int_equal(kept.mails, 2);
        assert_string_equal(kept.recipients, "d@y;");
        assert_string_equal(kept.mail, "x\r\n");
        assert_non_null(strstr(text_cstr(&replies), "250 2.0.0 Ok: queued as Q2\r\n221 "));
    }
}

static void dots_are_undoubled_and_all_recipients_kept(void **state)
{
    (void)state;
    struct kept kept = {0};
    AUTO_TEXT struct text replies;
    char *end = strstr(two_mails, "MAIL FROM:<>");
    AUTO_FREE char *first =
            slice_dup((struct slice){(const unsigned char *)two_mails, (size_t)(end - two_mails)});
    assert_true(play(first, 1000, &kept, &replies));
    assert_string_equal(kept.mail, "Subject: s\r\n\r\n.dot\r\n");
    assert_string_equal(kept.recipients, "b@y;c@y;");
}

static void what_comes_out_of_order_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {{"DATA\r\n", "503 5.5.1 RCPT"}, {"RCPT TO:<a@b>\r\n", "503 5.5.1 MAIL"},
            {"MAIL FROM:<a@b>\r\nRCPT TO:<a b@c>\r\n", "501 5.1.3"},
            {"MAIL FROM:<a@b>\r\nRCPT TO:<a@b\r\n", "501 5.1.3"}, {"MAIL FROM:a\r\n", "501 5.1.7"},
            {"VRFY x\r\n", "502 5.5.2"},
            {"NOOP\r\nQUIT\r\nVRFY x\r\n", "250 2.0.0 ok\r\n221 2.0.0 bye\r\n"},
            {"MAIL FROM:<a@b>\r\nMAIL FROM:<a@b>\r\n", "503 5.5.1 one"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kept kept = {0};
        AUTO_TEXT struct text replies;
        assert_row(play(rows[i].text, 1000, &kept, &replies), rows[i].text);
        assert_row(strstr(text_cstr(&replies), rows[i].want), rows[i].text);
        assert_row(kept.mails == 0, rows[i].text);
        assert_row(
                !strstr(rows[i].text, "QUIT") || !strstr(text_cstr(&replies), "502"), rows[i].text);
    }
}

static void a_line_without_end_ends_the_conversation(void **state)
{
    (void)state;
    struct kept kept = {0};
    AUTO_TEXT struct text replies;
    char line[6000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    assert_false(play(line, 1000, &kept, &replies));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(mails_are_kept_whatever_the_packets),
            cmocka_unit_test(dots_are_undoubled_and_all_recipients_kept),
            cmocka_unit_test(what_comes_out_of_order_is_refused),
            cmocka_unit_test(a_line_without_end_ends_the_conversation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
