// Signed requests of outside origin: made by the providers' own libraries, and our own by another
// implementation (tests/vectors/signatures/make.py).
#include "tests/unit/receiver/verify/cases.h"

#include "tests/test.h"

#define SHARED "../shared/cases/signatures.jsonl"
#define OWN "tests/vectors/signatures/"

static void judge_case(struct sig_case *signed_case, struct verify_result got)
{
    bool accepted = got.reason == VERIFY_OK;
    // Where the note says that a lenient reading does no harm, either verdict counts.
    if (strstr(signed_case->note, "harmless"))
        return;
    if (accepted != signed_case->accept)
        fail_msg("case '%s': %s, expected %s", signed_case->name, verify_reason_name(got.reason),
                signed_case->accept ? "accept" : signed_case->reason);
    if (!accepted && strcmp(verify_reason_name(got.reason), signed_case->reason) != 0)
        fail_msg("case '%s': refused for %s, expected %s", signed_case->name,
                verify_reason_name(got.reason), signed_case->reason);
    assert_row(accepted == (got.secret_index >= 0) || got.reason == VERIFY_TOO_OLD ||
                       got.reason == VERIFY_TOO_NEW || got.reason == VERIFY_NO_ID,
            signed_case->name);
}

static void run_active(struct sig_case *signed_case, void *user)
{
    int *n = user;
    if (!scheme_of(&signed_case->source))
        return;
    judge_case(signed_case, verify_request(&signed_case->source, &signed_case->request));
    ++*n;
}

// Rows of the outside file for each scheme that runs.
static struct {
    const char *scheme;
    int want, n;
} outside[] = {{"stripe", 14, 0}, {"svix", 12, 0}, {"standardwebhooks", 9, 0},
        {"standardwebhooks-v1a", 10, 0}, {"github", 7, 0}, {"shopify", 9, 0}, {"twilio", 10, 0},
        {"square", 3, 0}, {"adyen", 5, 0}, {"razorpay", 3, 0}, {"paddle", 11, 0}, {"discord", 8, 0},
        {"sendgrid", 6, 0}, {"slack", 10, 0}, {"hubspot", 12, 0}, {"coinbase-commerce", 8, 0},
        {"easypost", 5, 0}, {"line", 7, 0}, {"mux", 7, 0}, {"workos", 2, 0}, {"openai", 7, 0},
        {"braintree", 3, 0}, {"aws-sns", 7, 0}, {"plaid", 4, 0}, {"woocommerce", 8, 0},
        {"lemonsqueezy", 6, 0}, {"zoom", 7, 0}, {"meta", 4, 0}, {"intercom", 7, 0},
        {"calendly", 9, 0}, {"dropbox", 5, 0}, {"checkout-com", 6, 0}, {"vercel", 6, 0},
        {"zendesk", 6, 0}, {"mailgun", 4, 0}, {"paypal", 5, 0}};

static void run_outside(struct sig_case *signed_case, void *user)
{
    run_active(signed_case, user);
    for (size_t i = 0; i < ARRAY_LEN(outside); i++)
        outside[i].n += strcmp(outside[i].scheme, signed_case->provider) == 0;
}

static void agrees_with_the_providers_own_libraries(void **state)
{
    (void)state;
    int n = 0, all = 0;
    if (cases_each(SHARED, run_outside, &n) < 0) {
        print_message("skipped: no ../shared/cases/signatures.jsonl beside the repository\n");
        skip();
    }
    for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
        assert_row(outside[i].n == outside[i].want, outside[i].scheme);
        all += outside[i].n;
    }
    assert_int_equal(n, all);
}

static void agrees_with_the_vectors_of_the_repository(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int n;
    } files[] = {{OWN "stripe.jsonl", 30}, {OWN "custom.jsonl", 25}, {OWN "app.jsonl", 20},
            {OWN "github.jsonl", 15}, {OWN "shopify.jsonl", 10}, {OWN "standardwebhooks.jsonl", 29},
            {OWN "slack.jsonl", 9}, {OWN "twilio.jsonl", 31}, {OWN "providers.jsonl", 560},
            {OWN "grammars.jsonl", 35}};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        int n = 0;
        assert_row(cases_each(files[i].file, run_active, &n) > 0, files[i].file);
        assert_row(n >= files[i].n, files[i].file);
    }
}

// Which rows of the catalogue a line of ours is accepted by.
static bool accepted[128];

static void note_accepted(struct sig_case *signed_case, void *user)
{
    (void)user;
    for (size_t i = 0; signed_case->accept && scheme_at(i); i++) {
        assert_true(i < ARRAY_LEN(accepted));
        accepted[i] |= strcmp(scheme_at(i), signed_case->provider) == 0;
    }
}

static void every_row_has_a_request_that_it_accepts(void **state)
{
    (void)state;
    static const char *const files[] = {OWN "providers.jsonl", OWN "app.jsonl", OWN "custom.jsonl",
            OWN "standardwebhooks.jsonl"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        assert_row(cases_each(files[i], note_accepted, NULL) > 0, files[i]);
    for (size_t i = 0; scheme_at(i); i++) {
        const struct scheme *row = scheme_row(scheme_at(i));
        bool elsewhere = row->kind == SCHEME_CODE || row->kind == SCHEME_NONE || row->ed25519;
        assert_row(elsewhere || accepted[i], scheme_at(i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(agrees_with_the_providers_own_libraries),
            cmocka_unit_test(agrees_with_the_vectors_of_the_repository),
            cmocka_unit_test(every_row_has_a_request_that_it_accepts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
