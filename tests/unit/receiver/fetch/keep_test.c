#include "receiver/fetch/keep.h"

#include "receiver/fetch/confirms.h"
#include "receiver/fetch/pace.h"
#include "tests/test.h"
#include <openssl/evp.h>
#include <stdio.h>

enum { NOW = 1795961472, DAY_MS = 24 * 3600000 };

static EVP_PKEY *some_key; // one for all: who holds it does not matter here

static int make_key(void **state)
{
    (void)state;
    some_key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    return some_key ? 0 : -1;
}

static int drop_key(void **state)
{
    (void)state;
    EVP_PKEY_free(some_key);
    return 0;
}

static struct key_query certificate(const char *url)
{
    return (struct key_query){.kind = KEY_CERTIFICATE,
            .source = "sns",
            .url = slice_of(url),
            .domain = ".example",
            .now_s = NOW};
}

static struct key_query set_key(const char *url, const char *kid)
{
    return (struct key_query){.kind = KEY_JWKS,
            .source = "plaid",
            .url = slice_of(url),
            .kid = slice_of(kid),
            .now_s = NOW};
}

// As fetch_find does it.
static enum key_answer ask(struct keep *keep, struct key_query query, int64_t mono_ms)
{
    EVP_PKEY *key = NULL;
    bool want = false;
    enum key_answer answer = keep_find(keep, &query, mono_ms, &key, &want);
    if (want && !keep_want(keep, &query, mono_ms))
        answer = KEY_UNAVAILABLE;
    assert_true((answer == KEY_READY) == (key != NULL));
    EVP_PKEY_free(key);
    return answer;
}

static struct keep_result ready_with(const char *kid)
{
    struct keep_result result = {.answer = KEY_READY};
    assert_int_equal(EVP_PKEY_up_ref(some_key), 1);
    result.set.keys[0] = (struct pubkey_named){xstrdup(kid), some_key};
    result.set.n = 1;
    return result;
}

// Does the next job; false when there is none. url: which it must be, NULL = any.
static bool work(struct keep *keep, int64_t mono_ms, const char *url, struct keep_result result)
{
    struct keep_job job = keep_next(keep, mono_ms);
    bool any = job.kind != JOB_NONE;
    if (any && url)
        assert_string_equal(job.url, url);
    if (any)
        keep_done(keep, &job, &result, mono_ms);
    pubkey_set_fini(&result.set);
    keep_job_fini(&job);
    return any;
}

static struct keep_result failed(enum key_answer answer)
{
    return (struct keep_result){.answer = answer};
}

static void gives_a_key_from_the_second_question_on(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    assert_int_equal(ask(keep, certificate("u"), 0), KEY_PENDING);
    assert_int_equal(ask(keep, certificate("u"), 1), KEY_PENDING);
    assert_true(work(keep, 2, "u", ready_with("")));
    assert_false(work(keep, 3, NULL, failed(KEY_UNAVAILABLE)));
    assert_int_equal(ask(keep, certificate("u"), 4), KEY_READY);
    assert_int_equal(ask(keep, set_key("u", ""), 5), KEY_PENDING); // another kind is another key
    keep_free(keep);
}

static void keeps_a_certificate_within_its_dates_and_a_day(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    ask(keep, certificate("u"), 0);
    struct keep_result result = ready_with("");
    result.from_s = NOW - 10;
    result.until_s = NOW + 10;
    assert_true(work(keep, 0, "u", result));
    struct key_query query = certificate("u");
    assert_int_equal(ask(keep, query, 1), KEY_READY);
    query.now_s = NOW + 11;
    assert_int_equal(ask(keep, query, 1), KEY_UNAVAILABLE);
    query.now_s = NOW - 11;
    assert_int_equal(ask(keep, query, 1), KEY_UNAVAILABLE);
    query.now_s = NOW;
    assert_int_equal(ask(keep, query, DAY_MS - 1), KEY_READY);
    assert_int_equal(ask(keep, query, DAY_MS), KEY_PENDING);
    keep_free(keep);
}

// It may have been renewed where it is: nobody is refused for what was kept here.
static void asks_again_for_a_certificate_that_ended(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    ask(keep, certificate("u"), 0);
    struct keep_result first = ready_with("");
    first.until_s = NOW;
    assert_true(work(keep, 0, "u", first));
    struct key_query query = certificate("u");
    assert_int_equal(ask(keep, query, KEEP_REFUSED_MS), KEY_READY);
    query.now_s = NOW + 1;
    assert_int_equal(ask(keep, query, KEEP_REFUSED_MS), KEY_PENDING);
    assert_int_equal(ask(keep, query, KEEP_REFUSED_MS + 1), KEY_PENDING);
    struct keep_result renewed = ready_with("");
    renewed.until_s = NOW + 100;
    assert_true(work(keep, KEEP_REFUSED_MS + 2, "u", renewed));
    assert_int_equal(ask(keep, query, KEEP_REFUSED_MS + 3), KEY_READY);
    query.now_s = NOW + 101;
    assert_int_equal(ask(keep, query, 3 * KEEP_REFUSED_MS), KEY_PENDING);
    assert_true(work(keep, 3 * KEEP_REFUSED_MS, "u", failed(KEY_REFUSED)));
    assert_int_equal(ask(keep, query, 3 * KEEP_REFUSED_MS + 1), KEY_REFUSED);
    keep_free(keep);
}

static void asks_again_for_what_is_used_before_it_runs_out(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    ask(keep, certificate("used"), 0);
    ask(keep, certificate("unused"), 0);
    while (work(keep, 0, NULL, ready_with("")))
        ;
    int64_t later = KEEP_CERTIFICATE_AGAIN_MS;
    assert_int_equal(ask(keep, certificate("used"), later - 1), KEY_READY);
    assert_true(work(keep, later, NULL, failed(KEY_UNAVAILABLE)));
    assert_int_equal(ask(keep, certificate("used"), later + 1), KEY_READY); // it is still fresh
    assert_true(work(keep, later + KEEP_FAILED_MS, NULL, ready_with("")));
    keep_free(keep);
}

static void rests_after_a_failure(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum key_answer answer;
        int64_t rest_ms;
    } rows[] = {{"unavailable", KEY_UNAVAILABLE, KEEP_FAILED_MS},
            {"refused", KEY_REFUSED, KEEP_REFUSED_MS}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct keep *keep = keep_new();
        ask(keep, certificate("u"), 0);
        assert_row(work(keep, 0, "u", failed(rows[i].answer)), rows[i].name);
        assert_row(
                ask(keep, certificate("u"), rows[i].rest_ms - 1) == rows[i].answer, rows[i].name);
        assert_row(!work(keep, rows[i].rest_ms - 1, NULL, failed(KEY_REFUSED)), rows[i].name);
        assert_row(ask(keep, certificate("u"), rows[i].rest_ms) == KEY_PENDING, rows[i].name);
        keep_free(keep);
    }
}

static void a_flood_of_urls_is_asked_for_slowly_and_pushes_no_key_out(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    ask(keep, certificate("good"), 0);
    assert_true(work(keep, 0, "good", ready_with("")));
    int asked = 0, taken = 0;
    for (int i = 0; i < 10000; i++) {
        char url[32];
        snprintf(url, sizeof url, "made-up-%d", i);
        taken += ask(keep, certificate(url), i) == KEY_PENDING;
        asked += work(keep, i, NULL, failed(KEY_UNAVAILABLE));
    }
    // In these ten seconds: what may come at once, and one each three seconds.
    assert_in_range(asked, 1, PACE_SOURCE_BURST + 10000 / PACE_SOURCE_EACH_MS + 1);
    assert_in_range(taken, 1, asked);
    assert_int_equal(ask(keep, certificate("good"), 10000), KEY_READY);
    struct key_query other = certificate("of another source");
    other.source = "elsewhere";
    assert_int_equal(ask(keep, other, 10000), KEY_PENDING);
    keep_free(keep);
}

static void keeps_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    for (int i = 0; i < 3 * KEEP_READY_MAX; i++) {
        char url[32];
        snprintf(url, sizeof url, "u-%d", i);
        int64_t mono_ms = i * 10000;
        assert_int_equal(
                ask(keep, certificate("often"), mono_ms), i == 0 ? KEY_PENDING : KEY_READY);
        assert_int_equal(ask(keep, certificate(url), mono_ms), KEY_PENDING);
        while (work(keep, mono_ms, NULL, ready_with("")))
            ;
    }
    assert_int_equal(ask(keep, certificate("u-1"), 3 * KEEP_READY_MAX * 10000), KEY_PENDING);
    keep_free(keep);
}

static void an_unknown_kid_has_its_set_fetched_once_a_minute(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    ask(keep, set_key("s", "k1"), 0);
    assert_true(work(keep, 0, "s", ready_with("k1")));
    assert_int_equal(ask(keep, set_key("s", "k1"), 1), KEY_READY);
    assert_int_equal(ask(keep, set_key("s", "k2"), KEEP_UNKNOWN_KID_MS - 1), KEY_UNKNOWN);
    assert_int_equal(ask(keep, set_key("s", "k2"), KEEP_UNKNOWN_KID_MS), KEY_PENDING);
    assert_int_equal(ask(keep, set_key("s", "k3"), KEEP_UNKNOWN_KID_MS), KEY_PENDING);
    assert_int_equal(ask(keep, set_key("s", "k1"), KEEP_UNKNOWN_KID_MS), KEY_READY);
    assert_true(work(keep, KEEP_UNKNOWN_KID_MS, "s", failed(KEY_UNAVAILABLE)));
    assert_int_equal(ask(keep, set_key("s", "k1"), KEEP_UNKNOWN_KID_MS), KEY_READY);
    assert_int_equal(ask(keep, set_key("s", "k2"), KEEP_UNKNOWN_KID_MS + 1), KEY_UNKNOWN);
    assert_int_equal(ask(keep, set_key("s", "k2"), 2 * KEEP_UNKNOWN_KID_MS), KEY_PENDING);
    assert_true(work(keep, 2 * KEEP_UNKNOWN_KID_MS, "s", ready_with("k2")));
    assert_int_equal(ask(keep, set_key("s", "k2"), 2 * KEEP_UNKNOWN_KID_MS), KEY_READY);
    assert_int_equal(ask(keep, set_key("s", "k1"), 2 * KEEP_UNKNOWN_KID_MS), KEY_UNKNOWN);
    keep_free(keep);
}

static void watches_the_sets_of_the_policy(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    const char *const urls[] = {"a", "b"};
    keep_watch(keep, urls, 2, 0);
    assert_true(work(keep, 0, NULL, ready_with("k")));
    assert_true(work(keep, 0, NULL, failed(KEY_UNAVAILABLE)));
    assert_false(work(keep, KEEP_FAILED_MS - 1, NULL, failed(KEY_UNAVAILABLE)));
    assert_true(work(keep, KEEP_FAILED_MS, NULL, ready_with("k")));
    assert_int_equal(ask(keep, set_key("a", "k"), KEEP_FAILED_MS), KEY_READY);
    assert_int_equal(ask(keep, set_key("b", "k"), KEEP_FAILED_MS), KEY_READY);
    int64_t later = KEEP_FAILED_MS + KEEP_SET_AGAIN_MS;
    assert_true(work(keep, later, NULL, ready_with("k")));
    assert_true(work(keep, later, NULL, ready_with("k")));
    assert_false(work(keep, later, NULL, ready_with("k")));
    keep_free(keep);
}

static void confirms_each_subscription_until_it_is_taken_and_then_rests(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    assert_true(keep_confirm(keep, "sns", "c", 0));
    assert_true(keep_confirm(keep, "sns", "c", 0)); // known
    assert_true(work(keep, 0, "c", failed(KEY_UNAVAILABLE)));
    assert_false(work(keep, CONFIRM_WAIT_MS - 1, NULL, failed(KEY_READY)));
    assert_true(work(keep, CONFIRM_WAIT_MS, "c", failed(KEY_READY)));
    assert_true(keep_confirm(keep, "sns", "c", CONFIRM_WAIT_MS + 1));
    assert_false(work(keep, CONFIRM_WAIT_MS + CONFIRM_REST_MS - 1, NULL, failed(KEY_READY)));
    assert_true(keep_confirm(keep, "sns", "c", CONFIRM_WAIT_MS + CONFIRM_REST_MS));
    assert_true(work(keep, CONFIRM_WAIT_MS + CONFIRM_REST_MS, "c", failed(KEY_READY)));
    keep_free(keep);
}

static void gives_a_confirmation_up_after_some_tries(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    int tries = 0;
    assert_true(keep_confirm(keep, "sns", "c", 0));
    for (int64_t mono_ms = 0; mono_ms < DAY_MS; mono_ms += 5000)
        tries += work(keep, mono_ms, "c", failed(KEY_UNAVAILABLE));
    assert_int_equal(tries, CONFIRM_TRIES);
    keep_free(keep);
}

static void a_flood_does_not_keep_a_url_waiting_that_had_a_key(void **state)
{
    (void)state;
    struct keep *keep = keep_new();
    ask(keep, certificate("good"), 0);
    assert_true(work(keep, 0, "good", ready_with("")));
    int64_t later = DAY_MS + 1;
    char url[32];
    for (int i = 0; i < 2 * PACE_ALL_BURST; i++) {
        snprintf(url, sizeof url, "made-up-%d", i);
        ask(keep, certificate(url), later);
    }
    assert_int_equal(ask(keep, certificate("one-more"), later), KEY_UNAVAILABLE);
    assert_int_equal(ask(keep, certificate("good"), later), KEY_PENDING);
    keep_free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(gives_a_key_from_the_second_question_on),
            cmocka_unit_test(keeps_a_certificate_within_its_dates_and_a_day),
            cmocka_unit_test(asks_again_for_a_certificate_that_ended),
            cmocka_unit_test(asks_again_for_what_is_used_before_it_runs_out),
            cmocka_unit_test(rests_after_a_failure),
            cmocka_unit_test(a_flood_does_not_keep_a_url_waiting_that_had_a_key),
            cmocka_unit_test(a_flood_of_urls_is_asked_for_slowly_and_pushes_no_key_out),
            cmocka_unit_test(keeps_no_more_than_there_is_room_for),
            cmocka_unit_test(an_unknown_kid_has_its_set_fetched_once_a_minute),
            cmocka_unit_test(watches_the_sets_of_the_policy),
            cmocka_unit_test(confirms_each_subscription_until_it_is_taken_and_then_rests),
            cmocka_unit_test(gives_a_confirmation_up_after_some_tries),
    };
    return cmocka_run_group_tests(tests, make_key, drop_key);
}
