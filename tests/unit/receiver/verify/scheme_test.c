// The catalogue as a whole.
#include "receiver/verify/scheme.h"

#include "tests/test.h"

#define DAY INT64_C(86400)

static void knows_every_scheme_of_the_catalogue_and_which_run(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool known, active;
        int64_t horizon_s;
    } cases[] = {
            {"stripe", true, true, 3 * DAY},
            {"custom", true, true, 0},
            {"app", true, true, 0},
            {"adyen", true, true, 30 * DAY},
            {"wise", true, true, 14 * DAY},
            {"easypost", true, true, 0},
            {"twilio", true, true, 0},
            {"github", true, true, 3 * DAY},
            {"Stripe", false, false, 0},
            {"", false, false, 0},
            {NULL, false, false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool active = false;
        assert_row(scheme_known(cases[i].name, &active) == cases[i].known, cases[i].name);
        assert_row(active == cases[i].active, cases[i].name);
        assert_row(scheme_horizon_s(cases[i].name) == cases[i].horizon_s, cases[i].name);
    }
}

// Every name has a row that runs and can be trusted, and says which event a request is.
static void every_scheme_of_the_catalogue_runs(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *name; (name = scheme_at(n)); n++) {
        bool active = false;
        const struct scheme *row = scheme_row(name);
        assert_row(scheme_known(name, &active) && active && row, name);
        assert_row(strcmp(row->name, name) == 0, name);
        assert_row(row->kind != SCHEME_HMAC || scheme_sound(row), name);
        assert_row(row->kind != SCHEME_HMAC || row->prefix, name);
        assert_row(row->kind != SCHEME_TOKEN || row->header, name);
        assert_row(!row->each || row->batch[0], name);
        // The policy says it of these.
        bool own = row->kind == SCHEME_CUSTOM || row->kind == SCHEME_NONE;
        if (own || strcmp(name, "jwt") == 0)
            continue;
        assert_row(row->id || row->id_header || row->id_digest, name);
        assert_row(row->type || row->type_header || row->type_fixed || row->type_of_batch, name);
    }
    assert_true(n > 75);
}

static void a_row_that_believes_what_is_not_signed_is_not_sound(void **state)
{
    (void)state;
    struct scheme adyen = *scheme_row("adyen");
    adyen.scope[0] = "/live";
    assert_false(scheme_sound(&adyen));
    adyen.once = true; // then a second scope is a replay
    assert_true(scheme_sound(&adyen));
    struct scheme stripe = *scheme_row("stripe");
    stripe.id_header = "Request-Id";
    assert_false(scheme_sound(&stripe));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(knows_every_scheme_of_the_catalogue_and_which_run),
            cmocka_unit_test(every_scheme_of_the_catalogue_runs),
            cmocka_unit_test(a_row_that_believes_what_is_not_signed_is_not_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
