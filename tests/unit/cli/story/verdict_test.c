#include "tests/test.h"

#include "cli/story/verdict.h"

static void a_story_is_told_in_one_line(void **state)
{
    (void)state;
    const struct {
        struct story_count count;
        const char *want;
    } rows[] = {
            {{.copies = 5, .caught = 4, .moves = 1, .messages = 1, .mails = 1, .accepted = 1},
                    "5 webhook copies -> 1 move -> 1 mail, accepted once. Nothing outstanding."},
            {{.copies = 1, .moves = 2, .messages = 2, .mails = 2, .accepted = 2},
                    "1 webhook copy -> 2 moves -> 2 mails, each accepted once. Nothing "
                    "outstanding."},
            {{.copies = 1, .moves = 1, .messages = 2, .mails = 1, .accepted = 1, .due = 1},
                    "1 webhook copy -> 1 move -> 2 messages, 1 accepted. Outstanding: 1 due."},
            {{.copies = 2, .waiting = 1},
                    "2 webhook copies -> 0 moves -> no message. Outstanding: 1 waiting event."},
            {{.copies = 1, .moves = 1, .messages = 1, .mails = 1, .unknown = 1},
                    "1 webhook copy -> 1 move -> 1 mail, 0 accepted. Outstanding: 1 unknown "
                    "outcome."},
            {{.copies = 1,
                     .moves = 1,
                     .messages = 1,
                     .mails = 1,
                     .accepted = 1,
                     .possible_duplicates = 1},
                    "1 webhook copy -> 1 move -> 1 mail, accepted. 1 possible duplicate. Nothing "
                    "outstanding."},
            {{.copies = 1, .moves = 1, .messages = 2, .mails = 2, .failed = 1, .other = 1},
                    "1 webhook copy -> 1 move -> 2 mails, 0 accepted. 1 not delivered, 1 not sent. "
                    "Nothing outstanding."},
            {{.copies = 1, .parked = 1}, "1 webhook copy -> 0 moves -> no message. Outstanding: 1 "
                                         "parked event."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text out;
        text_init(&out, 1024);
        verdict_text(&rows[i].count, &out);
        assert_string_equal(text_cstr(&out), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_story_is_told_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
