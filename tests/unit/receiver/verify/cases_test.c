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
} outside[] = {{"stripe", 14, 0}, {"github", 7, 0}, {"shopify", 9, 0}, {"svix", 12, 0},
        {"standardwebhooks", 9, 0}, {"standardwebhooks-v1a", 10, 0}, {"slack", 10, 0},
        {"twilio", 10, 0}, {"aws-sns", 7, 0}, {"paypal", 5, 0}, {"plaid", 4, 0}};

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
            {OWN "slack.jsonl", 9}, {OWN "twilio.jsonl", 31}};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        int n = 0;
        assert_row(cases_each(files[i].file, run_active, &n) > 0, files[i].file);
        assert_row(n >= files[i].n, files[i].file);
    }
}

// Rows that do not run yet: the grammar can say them, and the engine needs no change for them.
#define BODY_ONLY(provider, name_of_header, before, how, written)                                  \
    {                                                                                              \
        .name = provider, .kind = SCHEME_HMAC, .header = name_of_header, .prefix = before,         \
        .parts = {{.kind = PART_BODY}}, .algorithm = how, .encoding = written                      \
    }
#define SIGNED_WITH(text)                                                                          \
    {                                                                                              \
        PART_LITERAL,                                                                              \
        {                                                                                          \
            (const unsigned char *)(text), sizeof(text) - 1                                        \
        }                                                                                          \
    }
#define STANDARD_PARTS                                                                             \
    {                                                                                              \
        {.kind = PART_ID}, SIGNED_WITH("."), {.kind = PART_TIMESTAMP}, SIGNED_WITH("."),           \
        {                                                                                          \
            .kind = PART_BODY                                                                      \
        }                                                                                          \
    }
#define STANDARD_WEBHOOKS(provider, start)                                                         \
    {                                                                                              \
        .name = provider, .kind = SCHEME_HMAC, .header = start "-signature", .item_sep = " ",      \
        .kv_sep = ",", .keys = {"v1"}, .prefix = "",                                               \
        .time = {TIME_HEADER, start "-timestamp", false, 300, 300}, .id_header = start "-id",      \
        .parts = STANDARD_PARTS, .algorithm = HMAC_SHA256, .encoding = ENCODING_BASE64,            \
        .key = SECRET_WHSEC                                                                        \
    }
#define KEY_VALUE(provider, name_of_header, between, key_of_time, key_of_signature, tolerance)     \
    {                                                                                              \
        .name = provider, .kind = SCHEME_HMAC, .header = name_of_header, .item_sep = between,      \
        .kv_sep = "=", .keys = {key_of_signature}, .prefix = "",                                   \
        .time = {TIME_ITEM, key_of_time, false, tolerance, tolerance},                             \
        .parts = {{.kind = PART_TIMESTAMP}, SIGNED_WITH("."), {.kind = PART_BODY}},                \
        .algorithm = HMAC_SHA256                                                                   \
    }

static const struct scheme later[] = {
        BODY_ONLY("meta", "X-Hub-Signature-256", "sha256=", HMAC_SHA256, ENCODING_HEX_LOWER),
        BODY_ONLY("woocommerce", "X-WC-Webhook-Signature", "", HMAC_SHA256, ENCODING_BASE64),
        BODY_ONLY("line", "x-line-signature", "", HMAC_SHA256, ENCODING_BASE64),
        BODY_ONLY("lemonsqueezy", "X-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
        BODY_ONLY("dropbox", "X-Dropbox-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
        BODY_ONLY("checkout-com", "Cko-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
        BODY_ONLY(
                "coinbase-commerce", "X-CC-Webhook-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
        BODY_ONLY("razorpay", "X-Razorpay-Signature", "", HMAC_SHA256, ENCODING_HEX_LOWER),
        BODY_ONLY("vercel", "x-vercel-signature", "", HMAC_SHA1, ENCODING_HEX_LOWER),
        BODY_ONLY("intercom", "X-Hub-Signature", "sha1=", HMAC_SHA1, ENCODING_HEX_LOWER),
        STANDARD_WEBHOOKS("openai", "webhook"),
        KEY_VALUE("mux", "Mux-Signature", ",", "t", "v1", 300),
        KEY_VALUE("calendly", "Calendly-Webhook-Signature", ",", "t", "v1", 180),
        {.name = "workos",
                .kind = SCHEME_HMAC,
                .header = "WorkOS-Signature",
                .item_sep = ", ",
                .kv_sep = "=",
                .keys = {"v1"},
                .prefix = "",
                .time = {TIME_ITEM, "t", true, 180, 180},
                .parts = {{.kind = PART_TIMESTAMP}, SIGNED_WITH("."), {.kind = PART_BODY}},
                .algorithm = HMAC_SHA256},
        {.name = "paddle",
                .kind = SCHEME_HMAC,
                .header = "Paddle-Signature",
                .item_sep = ";",
                .kv_sep = "=",
                .keys = {"h1"},
                .prefix = "",
                .time = {TIME_ITEM, "ts", false, 5, 5},
                .parts = {{.kind = PART_TIMESTAMP}, SIGNED_WITH(":"), {.kind = PART_BODY}},
                .algorithm = HMAC_SHA256},
        {.name = "zoom",
                .kind = SCHEME_HMAC,
                .header = "x-zm-signature",
                .prefix = "v0=",
                .time = {TIME_HEADER, "x-zm-request-timestamp", false, 300, 300},
                .parts = {SIGNED_WITH("v0:"), {.kind = PART_TIMESTAMP}, SIGNED_WITH(":"),
                        {.kind = PART_BODY}},
                .algorithm = HMAC_SHA256},
};

static void run_later(struct sig_case *signed_case, void *user)
{
    int *n = user;
    for (size_t i = 0; i < ARRAY_LEN(later); i++) {
        if (strcmp(later[i].name, signed_case->provider) != 0)
            continue;
        judge_case(
                signed_case, engine_verify(&later[i], &signed_case->source, &signed_case->request));
        ++*n;
    }
}

static void says_the_schemes_of_later_as_rows(void **state)
{
    (void)state;
    int n = 0;
    if (cases_each(SHARED, run_later, &n) < 0) {
        print_message("skipped: no ../shared/cases/signatures.jsonl beside the repository\n");
        skip();
    }
    assert_true(n >= 90);
    for (size_t i = 0; i < ARRAY_LEN(later); i++)
        assert_row(scheme_sound(&later[i]) && scheme_known(later[i].name, NULL), later[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(agrees_with_the_providers_own_libraries),
            cmocka_unit_test(agrees_with_the_vectors_of_the_repository),
            cmocka_unit_test(says_the_schemes_of_later_as_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
