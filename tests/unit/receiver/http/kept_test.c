#include "receiver/http/kept.h"

#include "receiver/http/taken.h"
#include "tests/test.h"

#define HEADER(n, v)                                                                               \
    {                                                                                              \
        {(const unsigned char *)(n), sizeof(n) - 1},                                               \
        {                                                                                          \
            (const unsigned char *)(v), sizeof(v) - 1                                              \
        }                                                                                          \
    }

static void keeps_lines_and_hides_what_opens_doors(void **state)
{
    (void)state;
    static const struct received_header headers[] = {HEADER("content-type", "application/json"),
            HEADER("authorization", "Bearer abc"), HEADER("cookie", "a=b"),
            HEADER("stripe-signature", "t=1,v1=ff"), HEADER("X-Api-Key", "abc"),
            HEADER("x-shop-hmac-sha256", "abc"), HEADER("x-erp", "abc"),
            HEADER("idempotency-key", "order-1")};
    AUTO_FREE char *kept = kept_headers(headers, ARRAY_LEN(headers), "X-Erp");
    assert_non_null(strstr(kept, "content-type: application/json\n"));
    assert_non_null(strstr(kept, "idempotency-key: order-1\n"));
    // sha256("abc") starts with ba7816bf8f01.
    assert_non_null(strstr(kept, "X-Api-Key: sha256:ba7816bf8f01\n"));
    assert_non_null(strstr(kept, "x-erp: sha256:ba7816bf8f01\n"));
    assert_non_null(strstr(kept, "x-shop-hmac-sha256: sha256:ba7816bf8f01\n"));
    assert_null(strstr(kept, "Bearer"));
    assert_null(strstr(kept, "a=b"));
    assert_null(strstr(kept, "v1=ff"));
    assert_null(strstr(kept, ": abc"));
}

// A name of the policy's choice may say nothing of what it holds.
static void hides_the_header_that_proves_a_request(void **state)
{
    (void)state;
    static char name[] = "erp", proof[] = "X-Erp", adobe[] = "adobe-sign";
    static const struct received_header headers[] = {
            HEADER("x-erp", "abc"), HEADER("x-adobesign-clientid", "abc")};
    struct custom_verify by_token = {.token_header = proof},
                         signed_one = {.signature_header = proof};
    struct custom_verify *const rules[] = {&by_token, &signed_one};
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct source source = {.name = name, .scheme = adobe, .verify = rules[i]};
        struct received received = {.headers = headers, .n_headers = ARRAY_LEN(headers)};
        struct verdict verdict = {.kind = VERDICT_OK};
        const char *wrong = NULL;
        struct arrival *arrival = taken_arrival(&source, &received, &verdict, &wrong);
        assert_null(strstr(arrival->headers, ": abc"));
        arrival_free(arrival);
    }
}

static void keeps_only_printable_bytes(void **state)
{
    (void)state;
    static const struct received_header headers[] = {HEADER("x-a", "\xff\x00\t\nb")};
    AUTO_FREE char *kept = kept_headers(headers, 1, NULL);
    assert_string_equal(kept, "x-a: ????b\n");
}

static void leaves_out_whole_lines_beyond_its_bound(void **state)
{
    (void)state;
    static char big[KEPT_MAX];
    memset(big, 'x', sizeof big);
    struct received_header headers[] = {HEADER("x-a", "1"),
            {SLICE("x-big"), {(unsigned char *)big, sizeof big}}, HEADER("x-b", "2")};
    AUTO_FREE char *kept = kept_headers(headers, ARRAY_LEN(headers), NULL);
    assert_string_equal(kept, "x-a: 1\nx-b: 2\n");
    assert_null(kept_headers(NULL, 0, NULL));
    assert_null(kept_headers(&headers[1], 1, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(keeps_lines_and_hides_what_opens_doors),
            cmocka_unit_test(hides_the_header_that_proves_a_request),
            cmocka_unit_test(keeps_only_printable_bytes),
            cmocka_unit_test(leaves_out_whole_lines_beyond_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
