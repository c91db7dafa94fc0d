#include "dispatcher/claim/gate.h"
#include "tests/test.h"

#define NOW ((int64_t)1000)

static const struct row {
    const char *name;
    int64_t created, expires, retry_until;
    int tries, earlier_unknown;
    bool open;
    enum delivery_state end;
} rows[] = {
        {"no bound at all", 100, 0, 0, 0, 0, true, 0},
        {"time left", 100, 2000, 3000, 4, 0, true, 0},
        {"expired", 100, 999, 3000, 0, 0, false, DELIVERY_EXPIRED},
        {"expires at this moment", 100, 1000, 3000, 0, 0, false, DELIVERY_EXPIRED},
        {"first try later than all retries", 100, 0, 999, 0, 0, false, DELIVERY_EXPIRED},
        {"retries ran out", 100, 0, 999, 2, 0, false, DELIVERY_DEAD},
        {"a message without retries gets its first try however late", 100, 0, 100, 0, 0, true, 0},
        {"expired after an unknown try", 100, 999, 3000, 1, 1, false, DELIVERY_UNKNOWN},
        {"retries ran out after an unknown try", 100, 0, 999, 3, 2, false, DELIVERY_UNKNOWN},
};

static void check_row(const struct row *row)
{
    struct delivery delivery = {.created_us = row->created,
            .expires_us = row->expires,
            .retry_until_us = row->retry_until,
            .tries = row->tries,
            .earlier_unknown = row->earlier_unknown};
    struct gate gate = gate_check(&delivery, NOW);
    assert_row(gate.open == row->open, row->name);
    assert_row(gate.open || (gate.end == row->end && gate.reason), row->name);
}

static void a_delivery_past_its_time_ends_instead_of_leaving(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_delivery_past_its_time_ends_instead_of_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
