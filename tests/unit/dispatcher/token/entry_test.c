// A token's row as it is read, and what follows from it.
#include "dispatcher/token/entry.h"
#include "dispatcher/token/seal.h"
#include "tests/test.h"

static const struct key identity = {{7}};
static char driver[] = "fcm";
static struct provider provider = {
        .driver_name = driver, .password.value = {(const unsigned char *)"a private key", 13}};

struct bench {
    struct entry entry;
    struct text sealed;
};

static struct bench begin(const char *token)
{
    struct bench bench;
    struct err err;
    entry_init(&bench.entry, identity, &provider);
    bench.entry.age_min_s = 1200;
    text_init(&bench.sealed, 1000);
    assert_true(seal(provider.password.value, identity, slice_of(token), &bench.sealed, &err));
    return bench;
}

static void end(struct bench *bench)
{
    entry_fini(&bench->entry);
    text_fini(&bench->sealed);
}

static struct token_row row(const struct bench *bench, int64_t generation)
{
    return (struct token_row){.sealed = text_slice(&bench->sealed),
            .generation = generation,
            .refresh_ms = 2000000,
            .expires_ms = 3000000};
}

static void a_token_is_used_until_its_row_says_it_ends(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row good = row(&b, 1);
    assert_int_equal(entry_ready(&b.entry, 0), TOKEN_COMING);
    assert_int_equal(entry_wants(&b.entry, 0), WANTS_READ);
    assert_false(entry_take(&b.entry, &good, 1000));
    assert_int_equal(entry_ready(&b.entry, 3000999), TOKEN_READY);
    assert_int_equal(entry_ready(&b.entry, 3001000), TOKEN_COMING);
    assert_string_equal(text_cstr(&b.entry.token), "abc");
    assert_int_equal(entry_next_ms(&b.entry), 2001000);
    end(&b);
}

static void one_that_somebody_renews_is_used_on(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row held = row(&b, 1);
    held.refresh_ms = 0;
    held.held = true;
    held.hold_ms = 30000;
    assert_false(entry_take(&b.entry, &held, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_READY);
    assert_int_equal(entry_next_ms(&b.entry), 1000 + TOKEN_ASK_LATER_MS);
    end(&b);
}

static void without_one_a_row_that_is_held_is_asked_again_soon(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    const struct token_row held = {.held = true, .hold_ms = 30000};
    assert_false(entry_take(&b.entry, &held, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_COMING);
    assert_int_equal(entry_next_ms(&b.entry), 1000 + TOKEN_ASK_SOON_MS);
    end(&b);
}

static void after_a_failure_of_anybody_it_is_missing_and_nobody_asks_before_the_pause(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    const struct token_row postponed = {.hold_ms = 4000};
    assert_false(entry_take(&b.entry, &postponed, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_MISSING);
    assert_int_equal(entry_next_ms(&b.entry), 5000);
    struct token_row good = row(&b, 1);
    assert_false(entry_take(&b.entry, &good, 5000));
    assert_int_equal(entry_ready(&b.entry, 5000), TOKEN_READY);
    end(&b);
}

static void a_failure_does_not_take_a_good_token_away(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row postponed = row(&b, 1);
    postponed.refresh_ms = 0;
    postponed.hold_ms = 4000;
    assert_false(entry_take(&b.entry, &postponed, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_READY);
    assert_int_equal(entry_next_ms(&b.entry), 5000);
    end(&b);
}

static void the_granted_one_makes_it_and_asks_nothing_meanwhile(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row granted = row(&b, 1);
    granted.refresh_ms = 0;
    granted.hold_ms = 30000;
    granted.held = granted.granted = true;
    assert_true(entry_take(&b.entry, &granted, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_READY);
    assert_int_equal(entry_wants(&b.entry, 100000), WANTS_NOTHING);
    assert_int_equal(entry_next_ms(&b.entry), INT64_MAX);
    assert_true(text_str(&b.entry.made, "new"));
    assert_int_equal(entry_wants(&b.entry, 100000), WANTS_PUT);
    end(&b);
}

static void a_refused_token_is_not_used_while_another_comes(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row now = row(&b, 4);
    assert_false(entry_take(&b.entry, &now, 1000));
    b.entry.stale = 4;
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_COMING);
    now.held = true;
    now.hold_ms = 30000;
    assert_false(entry_take(&b.entry, &now, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_COMING);
    struct token_row next = row(&b, 5);
    assert_false(entry_take(&b.entry, &next, 2000));
    assert_int_equal(entry_ready(&b.entry, 2000), TOKEN_READY);
    assert_int_equal(b.entry.generation, 5);
    end(&b);
}

static void a_refused_token_that_is_too_young_for_another_is_used_on(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row now = row(&b, 4);
    assert_false(entry_take(&b.entry, &now, 1000));
    b.entry.stale = 4;
    assert_false(entry_take(&b.entry, &now, 2000));
    assert_int_equal(entry_ready(&b.entry, 2000), TOKEN_READY);
    assert_int_equal(b.entry.deaf_ms, 2000 + TOKEN_DEAF_MS);
    end(&b);
}

static void a_refused_token_that_can_not_be_made_anew_stays_refused(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row now = row(&b, 4);
    assert_false(entry_take(&b.entry, &now, 1000));
    b.entry.stale = 4;
    now.hold_ms = 5000;
    assert_false(entry_take(&b.entry, &now, 2000));
    assert_int_equal(entry_ready(&b.entry, 2000), TOKEN_MISSING);
    assert_int_equal(entry_next_ms(&b.entry), 7000);
    end(&b);
}

static void a_row_that_can_not_be_opened_counts_as_refused(void **state)
{
    (void)state;
    struct bench b = begin("abc");
    struct token_row bad = row(&b, 9);
    bad.sealed = SLICE("0123456789012345678901234567890123456789");
    assert_false(entry_take(&b.entry, &bad, 1000));
    assert_int_equal(entry_ready(&b.entry, 1000), TOKEN_COMING);
    assert_int_equal(b.entry.stale, 9);
    assert_int_equal(entry_next_ms(&b.entry), 1000 + TOKEN_ASK_LATER_MS);
    end(&b);
}

static void apples_hour_gives_a_new_one_between_20_and_60_minutes(void **state)
{
    (void)state;
    for (uint64_t random = 0; random <= UINT32_MAX; random += UINT32_MAX / 16) {
        int64_t refresh_s = token_refresh_s(3600, (uint32_t)random);
        assert_in_range(refresh_s, 40 * 60, 50 * 60);
    }
    assert_int_equal(token_use_s(3600), 55 * 60);
    assert_in_range(token_refresh_s(10, 0), 5, 8);
    assert_true(token_use_s(1) > 0);
}

static void failures_are_answered_with_doubled_pauses_up_to_five_minutes(void **state)
{
    (void)state;
    assert_int_equal(token_pause_s(1, 0), 4);
    assert_int_equal(token_pause_s(1, UINT32_MAX), 6);
    assert_in_range(token_pause_s(3, UINT32_MAX / 2), 16, 24);
    assert_int_equal(token_pause_s(1000, UINT32_MAX), 360);
}

static void a_life_that_nobody_means_is_bounded(void **state)
{
    (void)state;
    static const struct {
        int64_t said_s, want_s;
    } cases[] = {{3600, 3600}, {43200, 43200}, {86400, 86400}, {86401, 86400},
            {1000000000000, 86400}, {INT64_MAX, 86400}, {30, 30}, {29, 0}, {0, 0}, {-1, 0},
            {INT64_MIN, 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(token_life_s(cases[i].said_s), cases[i].want_s);
}

static void only_its_own_secret_and_identity_open_a_token(void **state)
{
    (void)state;
    struct bench b = begin("eyJ.abc.def");
    AUTO_TEXT struct text out = {0};
    text_init(&out, 1000);
    assert_false(unseal(SLICE("another key"), identity, text_slice(&b.sealed), &out));
    assert_false(unseal(provider.password.value, (struct key){{8}}, text_slice(&b.sealed), &out));
    for (size_t i = 0; i < b.sealed.len; i++) {
        b.sealed.ptr[i] ^= 1;
        assert_false(unseal(provider.password.value, identity, text_slice(&b.sealed), &out));
        b.sealed.ptr[i] ^= 1;
    }
    for (size_t n = 0; n < b.sealed.len; n++)
        assert_false(unseal(provider.password.value, identity,
                (struct slice){(const unsigned char *)b.sealed.ptr, n}, &out));
    assert_int_equal(out.len, 0);
    assert_true(unseal(provider.password.value, identity, text_slice(&b.sealed), &out));
    assert_string_equal(text_cstr(&out), "eyJ.abc.def");
    assert_null(memmem(b.sealed.ptr, b.sealed.len, "abc", 3));
    end(&b);
}

static void two_seals_of_a_token_differ(void **state)
{
    (void)state;
    struct bench a = begin("same"), b = begin("same");
    assert_false(slice_eq(text_slice(&a.sealed), text_slice(&b.sealed)));
    end(&a);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_token_is_used_until_its_row_says_it_ends),
            cmocka_unit_test(one_that_somebody_renews_is_used_on),
            cmocka_unit_test(without_one_a_row_that_is_held_is_asked_again_soon),
            cmocka_unit_test(
                    after_a_failure_of_anybody_it_is_missing_and_nobody_asks_before_the_pause),
            cmocka_unit_test(a_failure_does_not_take_a_good_token_away),
            cmocka_unit_test(the_granted_one_makes_it_and_asks_nothing_meanwhile),
            cmocka_unit_test(a_refused_token_is_not_used_while_another_comes),
            cmocka_unit_test(a_refused_token_that_is_too_young_for_another_is_used_on),
            cmocka_unit_test(a_refused_token_that_can_not_be_made_anew_stays_refused),
            cmocka_unit_test(a_row_that_can_not_be_opened_counts_as_refused),
            cmocka_unit_test(apples_hour_gives_a_new_one_between_20_and_60_minutes),
            cmocka_unit_test(failures_are_answered_with_doubled_pauses_up_to_five_minutes),
            cmocka_unit_test(a_life_that_nobody_means_is_bounded),
            cmocka_unit_test(only_its_own_secret_and_identity_open_a_token),
            cmocka_unit_test(two_seals_of_a_token_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
