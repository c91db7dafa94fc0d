#include "receiver/verify/mac.h"

#include "tests/test.h"
#include <pthread.h>

#define NOW 1795961472
#define DAY 86400

static char first_text[] = "first-secret", second_text[] = "second-secret", both_text[] = "a\nb";
static char stripe_name[] = "stripe", custom_name[] = "custom", app_name[] = "app",
            later_name[] = "adyen", unknown_name[] = "nobody";

static struct secret secret_of(const char *text, int64_t from, int64_t until)
{
    return (struct secret){.value = slice_of(text), .from = from, .until = until};
}

// Header lines as verify_sign writes them, cut into headers.
static size_t split_lines(struct slice lines, struct verify_header *headers, size_t room)
{
    size_t n = 0;
    while (lines.ptr && lines.len && n < room) {
        const unsigned char *colon = memmem(lines.ptr, lines.len, ": ", 2);
        const unsigned char *end = memmem(lines.ptr, lines.len, "\r\n", 2);
        assert_true(colon && end);
        headers[n++] = (struct verify_header){
                {lines.ptr, (size_t)(colon - lines.ptr)}, {colon + 2, (size_t)(end - colon) - 2}};
        lines = (struct slice){end + 2, lines.len - (size_t)(end + 2 - lines.ptr)};
    }
    return n;
}

// Signed with one source's secret, verified with another's.
static struct verify_result round_trip(
        const struct source *signer, const struct source *verifier, struct slice body)
{
    AUTO_TEXT struct text lines = {.max = 4096};
    struct err err;
    if (!verify_sign(signer, body, SLICE("evt_1"), NOW, &lines, &err))
        fail_msg("%s", err.msg);
    struct verify_header headers[4];
    size_t n = split_lines(text_slice(&lines), headers, ARRAY_LEN(headers));
    struct verify_request request = {
            .headers = headers, .n_headers = n, .body = body, .now_s = NOW};
    return verify_request(verifier, &request);
}

static void names_the_secret_that_matched_among_the_live_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t from[2], until[2];
        int signer; // whose secret signs: 0 or 1
        enum verify_reason reason;
        int index;
    } cases[] = {
            {"both always", {0, 0}, {0, 0}, 0, VERIFY_OK, 0},
            {"both always, second signs", {0, 0}, {0, 0}, 1, VERIFY_OK, 1},
            {"overlapping", {0, NOW - DAY}, {NOW + DAY, 0}, 0, VERIFY_OK, 0},
            {"overlapping, new one signs", {0, NOW - DAY}, {NOW + DAY, 0}, 1, VERIFY_OK, 1},
            {"old one over", {0, NOW - DAY}, {NOW - 1, 0}, 0, VERIFY_NO_MATCH, -1},
            {"old one over, new one signs", {0, NOW - DAY}, {NOW - 1, 0}, 1, VERIFY_OK, 1},
            {"over this very second", {0, 0}, {NOW, 0}, 0, VERIFY_NO_MATCH, -1},
            {"its last second", {0, 0}, {NOW + 1, 0}, 0, VERIFY_OK, 0},
            {"new one not yet", {0, NOW + 1}, {0, 0}, 1, VERIFY_NO_MATCH, -1},
            {"new one from this very second", {0, NOW}, {0, 0}, 1, VERIFY_OK, 1},
            {"neither", {NOW + 1, NOW + 1}, {0, 0}, 0, VERIFY_NO_SECRET, -1},
            {"both over", {0, 0}, {1, 1}, 1, VERIFY_NO_SECRET, -1},
    };
    char *const schemes[] = {stripe_name, app_name};
    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(schemes); i++) {
        const char *name = cases[i / 2].name;
        struct secret secrets[2] = {
                secret_of(first_text, cases[i / 2].from[0], cases[i / 2].until[0]),
                secret_of(second_text, cases[i / 2].from[1], cases[i / 2].until[1])};
        struct secret signing = secret_of(cases[i / 2].signer ? second_text : first_text, 0, 0);
        struct source verifier = {.scheme = schemes[i % 2], .secrets = secrets, .n_secrets = 2};
        struct source signer = {.scheme = schemes[i % 2], .secrets = &signing, .n_secrets = 1};
        struct verify_result got = round_trip(&signer, &verifier, SLICE("{}"));
        assert_row(got.reason == cases[i / 2].reason, name);
        assert_row(got.secret_index == cases[i / 2].index, name);
    }
}

static void reports_the_first_of_two_equal_secrets(void **state)
{
    (void)state;
    struct secret secrets[3] = {
            secret_of("", 0, 0), secret_of(first_text, 0, 0), secret_of(first_text, 0, 0)};
    struct source source = {.scheme = stripe_name, .secrets = secrets, .n_secrets = 3};
    struct verify_result got = round_trip(&source, &source, SLICE("{}"));
    assert_int_equal(got.reason, VERIFY_OK);
    assert_int_equal(got.secret_index, 1);
}

static char x_sig[] = "X-Sig", x_time[] = "X-Time", dashes[] = "--", none[] = "", hex[] = "hex",
            base64[] = "base64", upper_hex[] = "HEX", seconds[] = "seconds",
            milliseconds[] = "milliseconds", minutes[] = "minutes", sha1[] = "hmac-sha1",
            sha256[] = "hmac-sha256", sha512[] = "hmac-sha512", md5[] = "hmac-md5",
            id_pointer[] = "/delivery/id";
static char plain_form[] = "{body}", time_form[] = "{timestamp}.{body}",
            id_form[] = "{id}|{timestamp}|{body}|end", no_body[] = "{timestamp}",
            typo_form[] = "{bdoy}", stray_form[] = "{body}}", empty_form[] = "",
            long_form[] = "{body}.{body}.{body}.{body}.{body}.{body}.{body}.{body}.{body}";

#define GRAMMAR(header, before, written, time, in, tolerance, form, how)                           \
    {                                                                                              \
        .signature_header = header, .signature_prefix = before, .encoding = written,               \
        .timestamp_header = time, .timestamp_unit = in, .tolerance_s = tolerance,                  \
        .signed_form = form, .algorithm = how                                                      \
    }

static void verifies_what_it_signs_by_the_policys_own_grammar(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct custom_verify verify;
    } cases[] = {
            {"as the example", GRAMMAR(x_sig, none, hex, x_time, seconds, 300, time_form, sha256)},
            {"milliseconds",
                    GRAMMAR(x_sig, none, hex, x_time, milliseconds, 300, time_form, sha256)},
            {"base64", GRAMMAR(x_sig, dashes, base64, x_time, seconds, 300, time_form, sha512)},
            {"no timestamp", GRAMMAR(x_sig, dashes, hex, NULL, NULL, 0, plain_form, sha1)},
            {"id of the body", GRAMMAR(x_sig, none, hex, x_time, seconds, 0, id_form, sha256)},
    };
    struct secret secret = secret_of(first_text, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct custom_verify verify = cases[i].verify;
        struct source source = {.name = custom_name,
                .scheme = custom_name,
                .secrets = &secret,
                .n_secrets = 1,
                .verify = &verify,
                .id_ptr = id_pointer};
        assert_row(scheme_of(&source) != NULL, cases[i].name);
        struct verify_result got =
                round_trip(&source, &source, SLICE("{\"delivery\":{\"id\":\"d-1\"}}"));
        assert_row(got.reason == VERIFY_OK && got.secret_index == 0, cases[i].name);
    }
}

static void never_runs_a_grammar_that_leaves_the_body_or_the_time_unsigned(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct custom_verify verify;
    } cases[] = {
            {"body not signed", GRAMMAR(x_sig, none, hex, x_time, seconds, 300, no_body, sha256)},
            {"misspelt body", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, typo_form, sha256)},
            {"stray brace", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, stray_form, sha256)},
            {"nothing signed", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, empty_form, sha256)},
            {"no form", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, NULL, sha256)},
            {"too many pieces", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, long_form, sha256)},
            {"time signed, none read", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, time_form, sha256)},
            {"time read, not signed",
                    GRAMMAR(x_sig, none, hex, x_time, seconds, 9, plain_form, sha256)},
            {"no header", GRAMMAR(NULL, none, hex, NULL, NULL, 0, plain_form, sha256)},
            {"unknown encoding",
                    GRAMMAR(x_sig, none, upper_hex, NULL, NULL, 0, plain_form, sha256)},
            {"unknown unit", GRAMMAR(x_sig, none, hex, x_time, minutes, 300, time_form, sha256)},
            {"unknown algorithm", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, plain_form, md5)},
            {"no algorithm", GRAMMAR(x_sig, none, hex, NULL, NULL, 0, plain_form, NULL)},
    };
    struct secret secret = secret_of(first_text, 0, 0);
    struct verify_header header = {SLICE("X-Sig"), SLICE("00")};
    struct verify_request request = {.headers = &header, .n_headers = 1, .now_s = NOW};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct custom_verify verify = cases[i].verify;
        struct source source = {.name = custom_name,
                .scheme = custom_name,
                .secrets = &secret,
                .n_secrets = 1,
                .verify = &verify};
        AUTO_TEXT struct text out = {.max = 4096};
        assert_row(scheme_of(&source) == NULL, cases[i].name);
        assert_row(verify_request(&source, &request).reason == VERIFY_NO_SECRET, cases[i].name);
        assert_row(!verify_sign(&source, request.body, SLICE("e"), NOW, &out, NULL), cases[i].name);
    }
}

static void says_where_the_event_stands_in_the_body(void **state)
{
    (void)state;
    struct custom_verify verify = GRAMMAR(x_sig, none, hex, NULL, NULL, 0, plain_form, sha256);
    struct source stripe = {.scheme = stripe_name}, app = {.scheme = app_name},
                  custom = {.scheme = custom_name,
                          .verify = &verify,
                          .id_ptr = id_pointer,
                          .type_ptr = id_pointer,
                          .time_ptr = id_pointer};
    const struct scheme *row = scheme_of(&stripe);
    assert_string_equal(scheme_id_pointer(row, &stripe), "/id");
    assert_string_equal(scheme_type_pointer(row, &stripe), "/type");
    assert_string_equal(scheme_scope_pointers(row)[0], "/account");
    assert_string_equal(scheme_scope_pointers(row)[1], "/livemode");
    assert_null(scheme_scope_pointers(row)[2]);
    row = scheme_of(&app);
    assert_true(scheme_is_app(row));
    assert_null(scheme_id_pointer(row, &app));
    assert_string_equal(scheme_type_pointer(row, &app), "/type");
    assert_null(scheme_scope_pointers(row)[0]);
    row = scheme_of(&custom);
    assert_string_equal(scheme_id_pointer(row, &custom), id_pointer);
    assert_string_equal(scheme_type_pointer(row, &custom), id_pointer);
    assert_string_equal(scheme_time_pointer(row, &custom), id_pointer);
}

static void says_why_it_can_not_sign(void **state)
{
    (void)state;
    struct secret live = secret_of(first_text, 0, 0), over = secret_of(first_text, 0, NOW),
                  lines = secret_of(both_text, 0, 0);
    const struct {
        const char *name;
        struct source source;
        struct slice id;
    } cases[] = {
            {"a scheme that does not run",
                    {.name = later_name, .scheme = later_name, .secrets = &live, .n_secrets = 1},
                    SLICE("e")},
            {"a scheme that is none",
                    {.name = later_name, .scheme = unknown_name, .secrets = &live, .n_secrets = 1},
                    SLICE("e")},
            {"no secret", {.name = stripe_name, .scheme = stripe_name}, SLICE("e")},
            {"no live secret",
                    {.name = stripe_name, .scheme = stripe_name, .secrets = &over, .n_secrets = 1},
                    SLICE("e")},
            {"an id with a line end",
                    {.name = app_name, .scheme = app_name, .secrets = &live, .n_secrets = 1},
                    SLICE("e\r\nX: y")},
            {"an empty id",
                    {.name = app_name, .scheme = app_name, .secrets = &live, .n_secrets = 1},
                    SLICE("")},
            {"a token with a line end",
                    {.name = app_name, .scheme = app_name, .secrets = &lines, .n_secrets = 1},
                    SLICE("e")},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_TEXT struct text out = {.max = 4096};
        struct err err = {0};
        assert_row(!verify_sign(&cases[i].source, SLICE("{}"), cases[i].id, NOW, &out, &err),
                cases[i].name);
        assert_row(
                err.kind != ERR_NONE && err.msg[0] && !strstr(err.msg, first_text), cases[i].name);
    }
}

static void decodes_digests_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum scheme_encoding encoding;
        struct slice text;
        const char *want; // NULL = refused
    } cases[] = {
            {"hex", ENCODING_HEX, {(const unsigned char *)"666f6F", 6}, "foo"},
            {"lower hex", ENCODING_HEX_LOWER, {(const unsigned char *)"666f6f", 6}, "foo"},
            {"upper where lower is due", ENCODING_HEX_LOWER, {(const unsigned char *)"666F6f", 6},
                    NULL},
            {"odd hex", ENCODING_HEX, {(const unsigned char *)"666f6", 5}, NULL},
            {"short hex", ENCODING_HEX, {(const unsigned char *)"666f", 4}, NULL},
            {"long hex", ENCODING_HEX, {(const unsigned char *)"666f6f6f", 8}, NULL},
            {"hex with space", ENCODING_HEX, {(const unsigned char *)"66 f6f", 6}, NULL},
            {"hex with NUL", ENCODING_HEX, {(const unsigned char *)"66\0f6f", 6}, NULL},
            {"base64", ENCODING_BASE64, {(const unsigned char *)"Zm9v", 4}, "foo"},
            {"base64 padded once", ENCODING_BASE64, {(const unsigned char *)"Zm8=", 4}, "fo"},
            {"base64 padded twice", ENCODING_BASE64, {(const unsigned char *)"Zg==", 4}, "f"},
            {"no padding", ENCODING_BASE64, {(const unsigned char *)"Zm8", 3}, NULL},
            {"surplus padding", ENCODING_BASE64, {(const unsigned char *)"Zm9v====", 8}, NULL},
            {"stray bits", ENCODING_BASE64, {(const unsigned char *)"Zm9=", 4}, NULL},
            {"url alphabet", ENCODING_BASE64, {(const unsigned char *)"Zm_-", 4}, NULL},
            {"padding inside", ENCODING_BASE64, {(const unsigned char *)"Z=m=", 4}, NULL},
            {"three pads", ENCODING_BASE64, {(const unsigned char *)"Z===", 4}, NULL},
            {"line end", ENCODING_BASE64, {(const unsigned char *)"Zm9v\n", 5}, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned char out[8];
        size_t want = cases[i].want ? strlen(cases[i].want) : 3;
        bool ok = encoding_decode(cases[i].encoding, cases[i].text, out, want);
        assert_row(ok == (cases[i].want != NULL), cases[i].name);
        assert_row(!ok || memcmp(out, cases[i].want, want) == 0, cases[i].name);
        AUTO_TEXT struct text again = {.max = 64};
        if (ok && cases[i].encoding != ENCODING_HEX) {
            assert_true(encoding_encode(cases[i].encoding, (struct slice){out, want}, &again));
            assert_row(slice_eq(text_slice(&again), cases[i].text), cases[i].name);
        }
    }
}

// RFC 4231 test case 2, in pieces; RFC 2202 test case 2.
static void makes_the_digests_of_the_rfcs(void **state)
{
    (void)state;
    static const struct {
        enum scheme_algorithm algorithm;
        const char *want;
    } cases[] = {
            {HMAC_SHA1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
            {HMAC_SHA256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
            {HMAC_SHA512, "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75"
                          "c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
    };
    const struct slice pieces[] = {
            SLICE("what do ya"), SLICE(""), {NULL, 0}, SLICE(" want for nothing?")};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned char digest[SCHEME_DIGEST_MAX];
        AUTO_TEXT struct text hexed = {.max = 256};
        assert_true(mac_of(cases[i].algorithm, SLICE("Jefe"), pieces, ARRAY_LEN(pieces), digest));
        assert_true(encoding_encode(
                ENCODING_HEX_LOWER, (struct slice){digest, mac_size(cases[i].algorithm)}, &hexed));
        assert_string_equal(text_cstr(&hexed), cases[i].want);
        assert_false(mac_of(cases[i].algorithm, SLICE(""), pieces, 1, digest));
    }
}

static void *verify_often(void *user)
{
    struct secret secret = secret_of(user, 0, 0);
    struct source source = {.scheme = stripe_name, .secrets = &secret, .n_secrets = 1};
    intptr_t wrong = 0;
    for (int i = 0; i < 500; i++)
        wrong += round_trip(&source, &source, SLICE("{}")).reason != VERIFY_OK;
    return wrong ? user : NULL;
}

static void verifies_on_several_threads_at_once(void **state)
{
    (void)state;
    char *const secrets[] = {first_text, second_text, first_text, second_text};
    pthread_t threads[ARRAY_LEN(secrets)];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, verify_often, secrets[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

static void names_every_reason_once(void **state)
{
    (void)state;
    assert_string_equal(verify_reason_name(VERIFY_TOO_NEW), "timestamp_in_future");
    for (int i = 0; i < VERIFY_REASON_COUNT; i++) {
        for (int j = 0; j < i; j++)
            assert_string_not_equal(verify_reason_name((enum verify_reason)i),
                    verify_reason_name((enum verify_reason)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(names_the_secret_that_matched_among_the_live_ones),
            cmocka_unit_test(reports_the_first_of_two_equal_secrets),
            cmocka_unit_test(verifies_what_it_signs_by_the_policys_own_grammar),
            cmocka_unit_test(never_runs_a_grammar_that_leaves_the_body_or_the_time_unsigned),
            cmocka_unit_test(says_where_the_event_stands_in_the_body),
            cmocka_unit_test(says_why_it_can_not_sign),
            cmocka_unit_test(decodes_digests_strictly),
            cmocka_unit_test(makes_the_digests_of_the_rfcs),
            cmocka_unit_test(verifies_on_several_threads_at_once),
            cmocka_unit_test(names_every_reason_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
