#include "dispatcher/stock.h"
#include "tests/test.h"

static void each_channel_is_a_queue_of_its_own(void **state)
{
    (void)state;
    struct stock stock = {0};
    struct delivery mails[3] = {
            {.channel = CHANNEL_EMAIL}, {.channel = CHANNEL_EMAIL}, {.channel = CHANNEL_EMAIL}};
    struct delivery text = {.channel = CHANNEL_SMS, .next = &mails[0]};
    stock_put(&stock, &mails[0], 10);
    stock_put(&stock, &text, 11);
    stock_put(&stock, &mails[1], 12);
    assert_int_equal(stock.n[CHANNEL_EMAIL], 2);
    assert_int_equal(stock.n[CHANNEL_SMS], 1);
    assert_ptr_equal(stock_take(&stock, CHANNEL_EMAIL), &mails[0]);
    assert_int_equal(mails[0].stocked_ms, 10);
    assert_null(mails[0].next);
    assert_ptr_equal(stock_take(&stock, CHANNEL_EMAIL), &mails[1]);
    assert_null(stock_take(&stock, CHANNEL_EMAIL));
    stock_put(&stock, &mails[2], 13); // after it was empty
    assert_ptr_equal(stock_take(&stock, CHANNEL_EMAIL), &mails[2]);
    assert_ptr_equal(stock_take(&stock, CHANNEL_SMS), &text);
    assert_null(stock_take(&stock, CHANNEL_SMS));
    assert_int_equal(stock.n[CHANNEL_EMAIL] + stock.n[CHANNEL_SMS], 0);
}

static void all_are_taken_at_once(void **state)
{
    (void)state;
    struct stock stock = {0};
    struct delivery some[5] = {{0}};
    static const enum channel_kind of[] = {
            CHANNEL_PUSH, CHANNEL_EMAIL, CHANNEL_PUSH, CHANNEL_EMAIL, CHANNEL_EMAIL};
    assert_null(stock_take_all(&stock));
    for (size_t i = 0; i < ARRAY_LEN(some); i++) {
        some[i].channel = of[i];
        stock_put(&stock, &some[i], 1);
    }
    const struct delivery *all = stock_take_all(&stock);
    static const int want[] = {1, 3, 4, 0, 2};
    for (size_t i = 0; i < ARRAY_LEN(want); i++, all = all->next)
        assert_ptr_equal(all, &some[want[i]]);
    assert_null(all);
    for (enum channel_kind kind = CHANNEL_NONE; kind < CHANNEL_COUNT; kind++)
        assert_null(stock_take(&stock, kind));
    assert_int_equal(stock.n[CHANNEL_PUSH], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(each_channel_is_a_queue_of_its_own),
            cmocka_unit_test(all_are_taken_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
