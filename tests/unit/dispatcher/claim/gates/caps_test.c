#include "dispatcher/claim/gates/caps.h"
#include "dispatcher/claim/gates/gate.h"
#include "tests/test.h"

#define S INT64_C(1000)

static char recipient[] = "recipient", order[] = "order", name[] = "shipped";
static char mail[] = "ann@example.net", loud[] = " Ann@Example.NET", other[] = "bob@example.net";
static char named[] = " \"<Bob>\" <Ann@Example.net> ", odd[] = "<ann@example.net> too";
static char phone[] = "+4915112345", typed[] = "+49 (151) 123-45", id[] = "c-1", o1[] = "1001";

static struct cap a_cap(char *per, bool across)
{
    return (struct cap){.most = 3, .in_s = 60, .per = per, .across = across, .withhold = true};
}

static char *name_of(struct delivery delivery, struct cap cap)
{
    struct message message = {.name = name, .caps = &cap, .n_caps = 1};
    caps_of(&message, &delivery);
    char *found = delivery.n_caps ? xstrdup(delivery.caps[0].name) : NULL;
    for (size_t i = 0; i < delivery.n_caps; i++)
        free(delivery.caps[i].name);
    free(delivery.caps);
    return found;
}

static const struct pair_row {
    const char *name;
    struct delivery a, b;
    char *per;
    bool across, same;
} pairs[] = {
        {"an address however it is written", {.channel = CHANNEL_EMAIL, .address = mail},
                {.channel = CHANNEL_EMAIL, .address = loud}, recipient, false, true},
        {"an address with a name before it", {.channel = CHANNEL_EMAIL, .address = mail},
                {.channel = CHANNEL_EMAIL, .address = named}, recipient, false, true},
        {"what names no mailbox", {.channel = CHANNEL_EMAIL, .address = mail},
                {.channel = CHANNEL_EMAIL, .address = odd}, recipient, false, false},
        {"a number however it is typed", {.channel = CHANNEL_SMS, .address = phone},
                {.channel = CHANNEL_SMS, .address = typed}, recipient, false, true},
        {"another address", {.channel = CHANNEL_EMAIL, .address = mail},
                {.channel = CHANNEL_EMAIL, .address = other}, recipient, false, false},
        {"one contact with two addresses",
                {.channel = CHANNEL_EMAIL, .address = mail, .recipient = id},
                {.channel = CHANNEL_EMAIL, .address = other, .recipient = id}, recipient, false,
                true},
        {"two channels count apart", {.channel = CHANNEL_EMAIL, .recipient = id},
                {.channel = CHANNEL_SMS, .recipient = id}, recipient, false, false},
        {"or together", {.channel = CHANNEL_EMAIL, .recipient = id},
                {.channel = CHANNEL_SMS, .recipient = id}, recipient, true, true},
        {"an id that is another's address", {.channel = CHANNEL_EMAIL, .recipient = mail},
                {.channel = CHANNEL_EMAIL, .address = mail}, recipient, false, false},
        {"one order to two contacts", {.channel = CHANNEL_EMAIL, .recipient = id, .order_id = o1},
                {.channel = CHANNEL_EMAIL, .address = mail, .order_id = o1}, order, false, true},
};

static void slots_are_found_by_what_is_known_of_the_delivery_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(pairs); i++) {
        struct delivery d = i % 2 ? pairs[i / 2].b : pairs[i / 2].a;
        struct cap cap = a_cap(pairs[i / 2].per, pairs[i / 2].across);
        struct message message = {.name = name, .caps = &cap, .n_caps = 1};
        int of_order, of_recipient;
        caps_buckets(&d, &of_order, &of_recipient);
        caps_of(&message, &d);
        assert_row((of_order == -1) == !d.order_id, pairs[i / 2].name);
        assert_row(d.caps[0].bucket == (cap.per == order ? of_order : of_recipient),
                pairs[i / 2].name);
        free(d.caps[0].name);
        free(d.caps);
    }
}

static void who_counts_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct cap cap = a_cap(pairs[i].per, pairs[i].across);
        AUTO_FREE char *a = name_of(pairs[i].a, cap);
        AUTO_FREE char *b = name_of(pairs[i].b, cap);
        assert_row(a && b && (strcmp(a, b) == 0) == pairs[i].same, pairs[i].name);
    }
}

static void a_name_says_the_rule_and_keeps_no_address(void **state)
{
    (void)state;
    struct delivery delivery = {.channel = CHANNEL_EMAIL, .address = mail};
    AUTO_FREE char *found = name_of(delivery, a_cap(recipient, false));
    assert_ptr_equal(strstr(found, "shipped/3/60/recipient/email "), found);
    assert_null(strstr(found, "ann"));
    AUTO_FREE char *all = name_of(delivery, a_cap(recipient, true));
    assert_ptr_equal(strstr(all, "shipped/3/60/recipient/* "), all);
    assert_null(name_of(delivery, a_cap(order, false))); // there is no order
}

static void limits_hold_beside_its_own_caps(void **state)
{
    (void)state;
    struct cap cap = a_cap(recipient, false), limit = a_cap(order, true);
    struct message message = {
            .name = name, .caps = &cap, .n_caps = 1, .limits = &limit, .n_limits = 1};
    struct delivery *delivery = xcalloc(1, sizeof *delivery);
    delivery->channel = CHANNEL_EMAIL;
    delivery->address = xstrdup(mail);
    delivery->order_id = xstrdup(o1);
    caps_of(&message, delivery);
    caps_of(&message, delivery);
    assert_int_equal(delivery->n_caps, 2);
    assert_ptr_equal(
            strstr(delivery->caps[1].name, "limits/3/60/order/* "), delivery->caps[1].name);
    assert_int_equal(delivery->caps[1].in_ms, 60 * S);
    delivery_free(delivery);
}

static const int64_t two_free[] = {4 * S, 7 * S};

// Two may ask for each slot that becomes free; the jitter is left out by random 0.
static const struct wait_row {
    const char *name;
    int most, held;
    size_t n_free, rank;
    int64_t in_ms, want_ms;
} waits[] = {
        {"the first slot that is free", 2, 0, 2, 0, 10 * S, 4 * S},
        {"two for each", 2, 0, 2, 1, 10 * S, 4 * S},
        {"the next slot", 2, 0, 2, 2, 10 * S, 7 * S},
        {"the first one again after its time", 2, 0, 2, 4, 10 * S, 14 * S},
        {"and again", 2, 0, 2, 11, 10 * S, 27 * S},
        {"the first looks early at a slot that is held", 1, 1, 0, 0, 10 * S, 500},
        {"but not before there is anything to see", 1, 1, 0, 0, S / 2, 50},
        {"nor more seldom than every half minute", 1, 1, 0, 0, 86400 * S, 30 * S},
        {"the others give a held slot its whole time", 1, 1, 0, 1, 10 * S, 10 * S},
        {"a held one after the dated ones", 3, 1, 2, 4, 10 * S, 10 * S},
        {"at least once a day", 1, 0, 1, 9000, 3600 * S, 86400 * S},
        {"of many only the first are told", 500, 0, 2, 700, 10 * S, 7 * S},
};

static void a_deferred_one_asks_again_when_a_slot_is_free(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        const struct wait_row *row = &waits[i];
        struct cap_room room = {.most = row->most,
                .held = row->held,
                .in_ms = row->in_ms,
                .free_ms = two_free,
                .n_free = row->n_free};
        int64_t got = cap_wait_ms(&room, row->rank, 0);
        if (got != row->want_ms)
            fail_msg("case '%s': %lld ms", row->name, (long long)got);
        int64_t spread = cap_wait_ms(&room, row->rank, UINT32_MAX);
        assert_row(spread >= got && spread <= got + 1000, row->name);
    }
}

static struct verdict asked(const struct shut_cap *cap, int64_t expires_us, enum gate_kind *ret_at)
{
    struct cap rule = a_cap(recipient, false);
    struct message message = {.name = name, .caps = &rule, .n_caps = 1};
    struct delivery delivery = {
            .channel = CHANNEL_EMAIL, .address = mail, .expires_us = expires_us};
    struct gate_facts facts = {
            .now_us = 1000, .message = &message, .cap = *cap, .known = 1u << GATE_CAP};
    bool asks = true;
    *ret_at = 0;
    struct verdict verdict = gate_walk(&delivery, &facts, ret_at, &asks);
    assert_false(asks);
    return verdict;
}

static void the_gate_lets_pass_or_wait_no_longer_than_it_lives(void **state)
{
    (void)state;
    enum gate_kind at;
    assert_int_equal(asked(&(struct shut_cap){0}, 0, &at).answer, GATE_OPEN);
    assert_int_equal(at, GATE_COUNT);
    struct verdict race = asked(&(struct shut_cap){.wait_ms = 20}, 0, &at);
    assert_int_equal(race.until_us, 21000);
    assert_string_equal(race.reason, ""); // no cap was full
    assert_int_equal(asked(&(struct shut_cap){.wait_ms = 20}, 1007, &at).until_us, 1007);
    assert_int_equal(at, GATE_CAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(who_counts_together),
            cmocka_unit_test(slots_are_found_by_what_is_known_of_the_delivery_alone),
            cmocka_unit_test(a_name_says_the_rule_and_keeps_no_address),
            cmocka_unit_test(limits_hold_beside_its_own_caps),
            cmocka_unit_test(a_deferred_one_asks_again_when_a_slot_is_free),
            cmocka_unit_test(the_gate_lets_pass_or_wait_no_longer_than_it_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
