#include "dispatcher/claim/member.h"
#include "tests/test.h"

// Another claim of the process reads them while a member of this one stands before an earlier gate.
static void a_pause_says_why_though_pauses_were_read_anew_since(void **state)
{
    (void)state;
    struct pauses pauses = {.rows = xcalloc(1, sizeof(struct pause)), .n = 1};
    pauses.rows[0] = (struct pause){
            .id = 7, .kind = PAUSE_ALL, .name = xstrdup(""), .reason = xstrdup("they are down")};
    AUTO_MEMBER struct member member = {
            .delivery = xcalloc(1, sizeof(struct delivery)), .fate = FATE_WIRE};
    member_know_pause(&member, &pauses, NULL);
    pauses_fini(&pauses);
    member_judge(&member);
    assert_int_equal(member.fate, FATE_LATER);
    assert_int_equal(member.hold, 7);
    assert_string_equal(member.reason, "paused: they are down");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_pause_says_why_though_pauses_were_read_anew_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
