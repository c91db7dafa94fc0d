#include "dispatcher/claim/gate.h"
#include "tests/test.h"

#define NOW ((int64_t)1000)

static const struct row {
    const char *name;
    int64_t created, expires, retry_until;
    int tries, earlier_unknown;
    enum gate_kind at;
    enum delivery_state end;
} times[] = {
        {"no bound at all", 100, 0, 0, 0, 0, GATE_COUNT, 0},
        {"time left", 100, 2000, 3000, 4, 0, GATE_COUNT, 0},
        {"expired", 100, 999, 3000, 0, 0, GATE_EXPIRED, DELIVERY_EXPIRED},
        {"expires at this moment", 100, 1000, 3000, 0, 0, GATE_EXPIRED, DELIVERY_EXPIRED},
        {"first try later than all retries", 100, 0, 999, 0, 0, GATE_EXPIRED, DELIVERY_EXPIRED},
        {"retries ran out", 100, 0, 999, 2, 0, GATE_EXPIRED, DELIVERY_DEAD},
        {"a message without retries gets its first try however late", 100, 0, 100, 0, 0, GATE_COUNT,
                0},
        {"expired after an unknown try", 100, 999, 3000, 1, 1, GATE_EXPIRED, DELIVERY_UNKNOWN},
        {"retries ran out after an unknown try", 100, 0, 999, 3, 2, GATE_EXPIRED, DELIVERY_UNKNOWN},
};

static char anywhere[] = "a@example.net";

static void check_times(const struct row *row)
{
    struct delivery delivery = {.created_us = row->created,
            .expires_us = row->expires,
            .retry_until_us = row->retry_until,
            .tries = row->tries,
            .earlier_unknown = row->earlier_unknown,
            .address = anywhere};
    struct gate_facts facts = {.now_us = NOW};
    enum gate_kind at = 0;
    bool asks = true;
    struct verdict verdict = gate_walk(&delivery, &facts, &at, &asks);
    assert_row(at == row->at && !asks, row->name);
    assert_row((verdict.answer == GATE_OPEN) == (row->at == GATE_COUNT), row->name);
    if (verdict.answer != GATE_OPEN)
        assert_row(verdict.end == row->end && verdict.reason[0], row->name);
}

static void a_delivery_past_its_time_ends_instead_of_leaving(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        check_times(&times[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_delivery_past_its_time_ends_instead_of_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
