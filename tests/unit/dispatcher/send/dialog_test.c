#include "dispatcher/send/dialog.h"
#include "tests/unit/dispatcher/send/files_kit.h"

static char mail_from[] = "shop@example.net", rcpt[] = "ann@example.org";

struct talk {
    struct smtp_dialog dialog;
    struct smtp_request request;
};

static void talk_init(struct talk *talk, const char *message)
{
    *talk = (struct talk){.request = {.mail_from = mail_from, .rcpt = rcpt}};
    text_init(&talk->request.wire, 1 << 20);
    assert_true(text_str(&talk->request.wire, message));
    talk->request.size = talk->request.wire.len;
    dialog_init(&talk->dialog);
    dialog_begin(&talk->dialog, &talk->request);
}

static void talk_fini(struct talk *talk)
{
    text_fini(&talk->request.wire);
    dialog_fini(&talk->dialog);
}

static void sends(struct talk *talk, const char *want)
{
    struct slice out = dialog_output(&talk->dialog);
    assert_int_equal(out.len, strlen(want));
    assert_memory_equal(out.ptr, want, out.len);
    dialog_sent(&talk->dialog, out.len);
    assert_int_equal(dialog_output(&talk->dialog).len, 0);
}

static enum dialog_step hears(struct talk *talk, const char *bytes)
{
    return dialog_input(&talk->dialog, slice_of(bytes));
}

static void up_to_body(struct talk *talk)
{
    sends(talk, "MAIL FROM:<shop@example.net>\r\n");
    assert_int_equal(hears(talk, "250 ok\r\n"), DIALOG_GOES_ON);
    sends(talk, "RCPT TO:<ann@example.org>\r\n");
    assert_int_equal(hears(talk, "250 ok\r\n"), DIALOG_GOES_ON);
    sends(talk, "DATA\r\n");
    assert_int_equal(hears(talk, "354 go\r\n"), DIALOG_GOES_ON);
    assert_int_equal(talk->dialog.phase, SMTP_BODY);
}

static void says_one_transaction(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    up_to_body(&talk);
    sends(&talk, "message\r\n.\r\n");
    assert_int_equal(talk.dialog.phase, SMTP_END_OF_DATA);
    assert_int_equal(hears(&talk, "250 2.0.0 queued\r\n"), DIALOG_ENDED);
    assert_int_equal(talk.dialog.reply.code, 250);
    assert_true(dialog_reusable(&talk.dialog));
    talk_fini(&talk);
}

static void uses_what_the_server_offers(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    talk.dialog.offers = (struct smtp_offers){.size = true, .utf8 = true};
    talk.request.needs_utf8 = true;
    dialog_begin(&talk.dialog, &talk.request);
    sends(&talk, "MAIL FROM:<shop@example.net> SIZE=12 SMTPUTF8\r\n");
    talk_fini(&talk);
}

static void the_dot_counts_as_sent_with_its_last_byte(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    up_to_body(&talk);
    dialog_sent(&talk.dialog, 11);
    assert_int_equal(talk.dialog.phase, SMTP_BODY);
    assert_int_equal(dialog_output(&talk.dialog).len, 1);
    dialog_sent(&talk.dialog, 1);
    assert_int_equal(talk.dialog.phase, SMTP_END_OF_DATA);
    talk_fini(&talk);
}

static void no_send_is_larger_than_a_tls_record(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "");
    for (int i = 0; i < 5000; i++)
        assert_true(text_str(&talk.request.wire, "01234567\r\n"));
    up_to_body(&talk);
    size_t total = 0, n;
    while ((n = dialog_output(&talk.dialog).len)) {
        assert_in_range(n, 1, 16384);
        total += n;
        dialog_sent(&talk.dialog, n);
    }
    assert_int_equal(total, 50000);
    assert_int_equal(talk.dialog.phase, SMTP_END_OF_DATA);
    talk_fini(&talk);
}

static void replies_may_come_in_any_pieces(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    sends(&talk, "MAIL FROM:<shop@example.net>\r\n");
    static const char reply[] = "250-first\r\n250 2.1.0 second\n";
    for (size_t i = 0; i < sizeof reply - 1; i++)
        assert_int_equal(
                dialog_input(&talk.dialog, (struct slice){(const unsigned char *)reply + i, 1}),
                DIALOG_GOES_ON);
    assert_int_equal(talk.dialog.phase, SMTP_RCPT);
    talk_fini(&talk);
}

static void a_refusal_ends_it_and_rset_makes_it_usable(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    sends(&talk, "MAIL FROM:<shop@example.net>\r\n");
    assert_int_equal(hears(&talk, "250 ok\r\n"), DIALOG_GOES_ON);
    sends(&talk, "RCPT TO:<ann@example.org>\r\n");
    assert_int_equal(hears(&talk, "550 5.1.1 no\r\n"), DIALOG_ENDED);
    assert_int_equal(talk.dialog.phase, SMTP_RCPT);
    assert_true(dialog_reusable(&talk.dialog));
    dialog_reset(&talk.dialog);
    sends(&talk, "RSET\r\n");
    assert_int_equal(hears(&talk, "250 ok\r\n"), DIALOG_ENDED);
    assert_int_equal(talk.dialog.phase, SMTP_IDLE);
    talk_fini(&talk);
}

static void a_421_makes_the_connection_useless(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    sends(&talk, "MAIL FROM:<shop@example.net>\r\n");
    assert_int_equal(hears(&talk, "421 bye\r\n"), DIALOG_ENDED);
    assert_false(dialog_reusable(&talk.dialog));
    talk_fini(&talk);
}

static void a_refusal_in_the_body_ends_it_for_good(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    up_to_body(&talk);
    dialog_sent(&talk.dialog, 3);
    assert_int_equal(hears(&talk, "552 5.3.4 too big\r\n"), DIALOG_ENDED);
    assert_int_equal(talk.dialog.phase, SMTP_BODY);
    assert_false(dialog_reusable(&talk.dialog));
    talk_fini(&talk);
}

static void what_is_out_of_turn_is_no_answer(void **state)
{
    (void)state;
    static const struct {
        const char *name, *first, *bytes;
    } rows[] = {
            {"two replies to one command", "", "250 ok\r\n250 ok\r\n"},
            {"a reply before the command is sent", NULL, "250 ok\r\n"},
            {"354 to MAIL FROM", "", "354 go\r\n"},
            {"not SMTP", "", "HTTP/1.1 200 OK\r\n"},
            {"codes that differ within a reply", "", "250-ok\r\n550 no\r\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct talk talk;
        talk_init(&talk, "message\r\n.\r\n");
        if (rows[i].first)
            sends(&talk, "MAIL FROM:<shop@example.net>\r\n");
        assert_row(hears(&talk, rows[i].bytes) == DIALOG_GARBLED, rows[i].name);
        talk_fini(&talk);
    }
}

static void a_250_before_the_dot_is_not_acceptance(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    up_to_body(&talk);
    dialog_sent(&talk.dialog, 3);
    assert_int_equal(hears(&talk, "250 2.0.0 queued\r\n"), DIALOG_GARBLED);
    talk_fini(&talk);
}

static void a_250_to_data_is_not_leave_to_send(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    sends(&talk, "MAIL FROM:<shop@example.net>\r\n");
    assert_int_equal(hears(&talk, "250 ok\r\n"), DIALOG_GOES_ON);
    sends(&talk, "RCPT TO:<ann@example.org>\r\n");
    assert_int_equal(hears(&talk, "251 will forward\r\n"), DIALOG_GOES_ON);
    sends(&talk, "DATA\r\n");
    assert_int_equal(hears(&talk, "250 ok\r\n"), DIALOG_GARBLED);
    talk_fini(&talk);
}

static void a_line_without_end_is_bounded(void **state)
{
    (void)state;
    struct talk talk;
    talk_init(&talk, "message\r\n.\r\n");
    sends(&talk, "MAIL FROM:<shop@example.net>\r\n");
    enum dialog_step step = DIALOG_GOES_ON;
    int n = 0;
    while (step == DIALOG_GOES_ON && n++ < 5000)
        step = hears(&talk, "2");
    assert_int_equal(step, DIALOG_GARBLED);
    assert_in_range(n, 1000, 1100);
    talk_fini(&talk);
}

// All of it in pieces, the final dot in the last one; then again where the file is another.
static void a_message_with_a_file_goes_out_piece_by_piece(void **state)
{
    (void)state;
    static unsigned char bytes[40000];
    struct content files = {0};
    struct err err = {0};
    kit_fill(bytes, sizeof bytes, 1);
    kit_put("a", bytes, sizeof bytes);
    assert_true(attachment_add(&files, kit_folder, "a", &err));
    for (int changed = 0; changed < 2; changed++) {
        struct talk talk;
        talk_init(&talk, "head\r\ntail\r\n.\r\n");
        talk.request.inlays.folder = kit_folder;
        inlays_add_file(&talk.request.inlays, 6, &files.attachments[0], true);
        size_t all = 15 + inlays_size(&talk.request.inlays), sent = 0, n;
        bool dot = false;
        up_to_body(&talk);
        if (changed)
            kit_put("a", bytes, sizeof bytes - 1);
        while (talk.dialog.phase == SMTP_BODY && (n = dialog_output(&talk.dialog).len) > 0) {
            struct slice out = dialog_output(&talk.dialog);
            assert_in_range(n, 1, 16384);
            dot = dot || memmem(out.ptr, n, "\r\n.\r\n", 5) != NULL;
            sent += n;
            dialog_sent(&talk.dialog, n);
        }
        assert_int_equal(dot, !changed);
        assert_int_equal(talk.dialog.spoilt.kind, changed ? ERR_INPUT : ERR_NONE);
        assert_int_equal(talk.dialog.phase, changed ? SMTP_BODY : SMTP_END_OF_DATA);
        assert_true(changed ? sent < all : sent == all);
        inlays_fini(&talk.request.inlays);
        talk_fini(&talk);
    }
    content_fini(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(says_one_transaction),
            cmocka_unit_test(uses_what_the_server_offers),
            cmocka_unit_test(the_dot_counts_as_sent_with_its_last_byte),
            cmocka_unit_test(no_send_is_larger_than_a_tls_record),
            cmocka_unit_test(replies_may_come_in_any_pieces),
            cmocka_unit_test(a_refusal_ends_it_and_rset_makes_it_usable),
            cmocka_unit_test(a_421_makes_the_connection_useless),
            cmocka_unit_test(a_refusal_in_the_body_ends_it_for_good),
            cmocka_unit_test(what_is_out_of_turn_is_no_answer),
            cmocka_unit_test(a_250_before_the_dot_is_not_acceptance),
            cmocka_unit_test(a_250_to_data_is_not_leave_to_send),
            cmocka_unit_test(a_line_without_end_is_bounded),
            cmocka_unit_test(a_message_with_a_file_goes_out_piece_by_piece),
    };
    return cmocka_run_group_tests(tests, kit_set_up, kit_tear_down);
}
