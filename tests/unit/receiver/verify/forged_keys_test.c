// Forgeries of the schemes that verify with published keys: each is derived from an original that
// is accepted in the same breath.
#include "tests/unit/receiver/verify/keyed_kit.h"

#include "common/keys.h"
#include "receiver/verify/sns.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <zlib.h>

#define TOPIC "arn:aws:sns:us-east-1:123456789012:orders"
#define SNS_URL "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem"
#define PAYPAL_URL "https://api.paypal.com/v1/notifications/certs/CERT-1"
#define SENT_AT "2026-11-29T14:11:12Z" // KIT_NOW

static EVP_PKEY *rsa, *other_rsa;
static char topic[] = TOPIC, *topics[] = {topic};

static int make_keys(void **state)
{
    (void)state;
    rsa = kit_rsa(0);
    other_rsa = kit_rsa(1);
    return rsa && other_rsa ? 0 : -1;
}

static int drop_keys(void **state)
{
    (void)state;
    pubkey_drop(&rsa);
    pubkey_drop(&other_rsa);
    return 0;
}

static void sign_sns(struct scene *scene, const char *version, const char *url, EVP_PKEY *key)
{
    AUTO_TEXT struct text signed_text = {.max = 4096};
    text_str(&signed_text,
            "Message\nHello \xc3\xa9\n2nd\nMessageId\nm-1\nSubject\ns\nTimestamp\n" SENT_AT
            "\nTopicArn\n" TOPIC "\nType\nNotification\n");
    text_reset(&scene->body);
    text_fmt(&scene->body,
            "{\"Type\":\"Notification\",\"MessageId\":\"m-1\",\"TopicArn\":\"" TOPIC
            "\",\"Subject\":\"s\",\"Message\":\"Hello \\u00e9\\n2nd\",\"Timestamp\":\"" SENT_AT
            "\",\"SignatureVersion\":\"%s\",\"SigningCertURL\":\"%s\",\"Signature\":\"",
            version, url);
    kit_sign(key, strcmp(version, "1") == 0 ? "SHA1" : "SHA256", text_slice(&signed_text),
            &scene->body);
    text_str(&scene->body, "\"}");
}

static void refuses_forged_messages_of_sns(void **state)
{
    (void)state;
    static const char *const versions[] = {"1", "2"};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct scene scene;
        scene_init(&scene, "aws-sns", KEY_CERTIFICATE, rsa);
        scene.source.topics = topics;
        scene.source.n_topics = 1;
        scene.ring.rows[0].url = SNS_URL;
        sign_sns(&scene, versions[i], SNS_URL, rsa);
        accept_original(&scene);
        refuse_flips(&scene, &scene.body, FORGED_MIN, "a bit of the body");
        static const char *const swaps[][2] = {{"m-1", "m-2"}, {"Notification\"", "Other\""},
                {"\"Subject\":\"s\",", ""}, {"orders", "others"}, {"Hello", "hello"},
                {"2nd", "3rd"}, {"Notification\"", "SubscriptionConfirmation\""},
                {SENT_AT, "2026-11-29T14:11:13Z"},
                {"\"MessageId\":\"m-1\"", "\"MessageId\":\"m-1\",\"MessageId\":\"m-2\""},
                {"\"Subject\":\"s\"", "\"Subject\":\"s\\u0000\""},
                {"\"MessageId\":\"m-1\"", "\"MessageId\":[\"m-1\"]"},
                {"us-east-1.amazonaws", "us-east-1.evil"}, {"https://sns", "https://user@sns"},
                {".amazonaws.com/", ".amazonaws.com:8443/"},
                {".amazonaws.com/", ".amazonaws.com.evil.example/"}, {"https://sns", "http://sns"},
                {"\\n2nd\",", "\",\"x\":\"\\n2nd\","}, {"\"Signature\"", "\"signature\""},
                {"\"SignatureVersion\":\"", "\"SignatureVersion\":\"3"}};
        for (size_t j = 0; j < ARRAY_LEN(swaps); j++)
            refuse_swap(&scene, &scene.body, swaps[j][0], swaps[j][1]);
        sign_sns(&scene, versions[i], SNS_URL, other_rsa);
        refuse(&scene, "another key");
        sign_sns(&scene, i ? "1" : "2", SNS_URL, rsa);
        refuse_swap(&scene, &scene.body, i ? "Version\":\"1" : "Version\":\"2",
                i ? "Version\":\"2" : "Version\":\"1"); // the digest of the other version
        sign_sns(&scene, versions[i], SNS_URL, rsa);
        scene.source.n_topics = 0;
        refuse(&scene, "no topic is allowed");
        assert_in_range(scene.n, FORGED_MIN, 1000);
        scene_fini(&scene);
    }
}

// The line between two signed members can't be moved: only Message may hold line ends.
static void refuses_a_message_that_is_cut_into_other_members(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, "aws-sns", KEY_CERTIFICATE, rsa);
    scene.source.topics = topics;
    scene.source.n_topics = 1;
    scene.ring.rows[0].url = SNS_URL;
    AUTO_TEXT struct text made = {.max = 4096}, signature = {.max = 1024};
    text_str(&made, "Message\nA\nMessageId\nm-1\nSubject\nB\nMessageId\nm-2\nTimestamp\n" SENT_AT
                    "\nTopicArn\n" TOPIC "\nType\nNotification\n");
    kit_sign(rsa, "SHA256", text_slice(&made), &signature);
    static const struct {
        const char *members;
        bool accepted;
    } rows[] = {{"\"Message\":\"A\\nMessageId\\nm-1\\nSubject\\nB\",\"MessageId\":\"m-2\"", true},
            {"\"Message\":\"A\",\"MessageId\":\"m-1\",\"Subject\":\"B\\nMessageId\\nm-2\"", false},
            {"\"Message\":\"A\",\"MessageId\":\"m-1\\nSubject\\nB\\nMessageId\\nm-2\"", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        text_reset(&scene.body);
        text_fmt(&scene.body,
                "{%s,\"Type\":\"Notification\",\"TopicArn\":\"" TOPIC "\",\"Timestamp\":\"" SENT_AT
                "\",\"SignatureVersion\":\"2\",\"SigningCertURL\":\"" SNS_URL
                "\",\"Signature\":\"%s\"}",
                rows[i].members, text_cstr(&signature));
        assert_row((kit_run(&scene, KIT_NOW).reason == VERIFY_OK) == rows[i].accepted,
                rows[i].members);
    }
    scene_fini(&scene);
}

static void sign_paypal(struct scene *scene, const char *webhook, const char *time, EVP_PKEY *key)
{
    static const char *const names[HEADERS] = {"PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-TIME",
            "PAYPAL-CERT-URL", "PAYPAL-AUTH-ALGO", "PAYPAL-TRANSMISSION-SIG"};
    AUTO_TEXT struct text made = {.max = 1024};
    set_text(&scene->body, "{\"id\":\"WH-1\",\"event_type\":\"PAYMENT.CAPTURE.COMPLETED\"}");
    text_fmt(&made, "69cd13f0-d67a|%s|%s|%u", time, webhook,
            (unsigned)crc32_z(0, (const unsigned char *)scene->body.ptr, scene->body.len));
    memcpy(scene->names, names, sizeof names);
    scene->n_headers = HEADERS;
    set_text(&scene->values[0], "69cd13f0-d67a");
    set_text(&scene->values[1], time);
    set_text(&scene->values[2], PAYPAL_URL);
    set_text(&scene->values[3], "SHA256withRSA");
    text_reset(&scene->values[4]);
    kit_sign(key, "SHA256", text_slice(&made), &scene->values[4]);
}

static void paypal_init(struct scene *scene)
{
    scene_init(scene, "paypal", KEY_CERTIFICATE, rsa);
    scene->ring.rows[0].url = PAYPAL_URL;
    scene->secret.value = SLICE("8PT597110X687430LKGECATA");
    scene->source.secrets = &scene->secret;
    scene->source.n_secrets = 1;
    sign_paypal(scene, "8PT597110X687430LKGECATA", SENT_AT, rsa);
    accept_original(scene);
}

static void refuses_forged_transmissions_of_paypal(void **state)
{
    (void)state;
    struct scene scene;
    paypal_init(&scene);
    refuse_flips(&scene, &scene.body, 150, "a bit of the body");
    for (size_t i = 0; i < HEADERS; i++)
        refuse_flips(&scene, &scene.values[i], 60, scene.names[i]);
    refuse_text(&scene, &scene.values[0], "69cd13f0-d67a|x", "a bar in the id");
    refuse_text(
            &scene, &scene.values[1], "2026-11-29T14:11:12+00:00", "another way to say the time");
    refuse_text(&scene, &scene.values[1], "1795961472", "a time in seconds");
    refuse_text(&scene, &scene.values[2], "https://api.paypal.com.evil.example/c", "another host");
    refuse_text(&scene, &scene.values[2], "https://api.paypal.com@evil/v1/notifications/certs/c",
            "a user");
    refuse_text(&scene, &scene.values[2], "http://api.paypal.com/v1/notifications/certs/CERT-1",
            "no TLS");
    refuse_text(&scene, &scene.values[3], "SHA1withRSA", "a weaker algorithm");
    refuse_text(&scene, &scene.values[3], "none", "no algorithm");
    refuse_text(&scene, &scene.values[4], "", "no signature");
    sign_paypal(&scene, "8PT597110X687430LKGECATB", SENT_AT, rsa);
    refuse(&scene, "another webhook");
    sign_paypal(&scene, "8PT597110X687430LKGECATA", SENT_AT, other_rsa);
    refuse(&scene, "another key");
    assert_in_range(scene.n, FORGED_MIN, 1000);
    scene_fini(&scene);
}

static void a_transmission_of_paypal_counts_once_and_for_three_days(void **state)
{
    (void)state;
    struct scene scene;
    paypal_init(&scene);
    struct verify_result first = kit_run(&scene, KIT_NOW);
    unsigned char want[32];
    AUTO_TEXT struct text made = {.max = 1024};
    text_fmt(&made, "69cd13f0-d67a|" SENT_AT "|8PT597110X687430LKGECATA|%u",
            (unsigned)crc32_z(0, (const unsigned char *)scene.body.ptr, scene.body.len));
    sha256_of(text_slice(&made), want);
    assert_true(first.has_once);
    assert_memory_equal(first.once, want, sizeof want);
    assert_int_equal(kit_run(&scene, KIT_NOW + 3 * 86400).reason, VERIFY_OK);
    assert_int_equal(kit_run(&scene, KIT_NOW + 3 * 86400 + 1).reason, VERIFY_TOO_OLD);
    assert_int_equal(kit_run(&scene, KIT_NOW - 300).reason, VERIFY_OK);
    assert_int_equal(kit_run(&scene, KIT_NOW - 301).reason, VERIFY_TOO_NEW);
    scene_fini(&scene);
}

// The key of such a URL is not even asked for: asking is what does the harm.
static void asks_for_no_key_outside_the_rule_or_of_another_topic(void **state)
{
    (void)state;
    static const char *const urls[] = {"https://evil.example/x.pem",
            "http://sns.us-east-1.amazonaws.com/x.pem",
            "https://u@sns.us-east-1.amazonaws.com/x.pem", PAYPAL_URL};
    struct scene scene;
    scene_init(&scene, "aws-sns", KEY_CERTIFICATE, rsa);
    scene.source.topics = topics;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        scene.source.n_topics = 1;
        scene.ring.rows[0].url = urls[i];
        sign_sns(&scene, "2", urls[i], rsa);
        assert_row(kit_run(&scene, KIT_NOW).reason == VERIFY_CERT_URL, urls[i]);
        scene.source.n_topics = 0;
        assert_row(kit_run(&scene, KIT_NOW).reason == VERIFY_TOPIC, urls[i]);
    }
    assert_int_equal(scene.ring.asked, 0);
    scene_fini(&scene);
    paypal_init(&scene);
    size_t asked = scene.ring.asked;
    set_text(&scene.values[2], SNS_URL);
    scene.ring.rows[0].url = SNS_URL;
    assert_int_equal(kit_run(&scene, KIT_NOW).reason, VERIFY_CERT_URL);
    assert_int_equal(scene.ring.asked, asked);
    scene_fini(&scene);
}

// https://docs.aws.amazon.com/sns/latest/api/API_ConfirmSubscription.html
static void builds_the_url_that_confirms_from_topic_and_token_alone(void **state)
{
    (void)state;
    static const struct {
        const char *topic, *token, *want; // NULL: none can be built
    } rows[] = {{TOPIC, "ab12",
                        "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&"
                        "TopicArn=arn%3Aaws%3Asns%3Aus-east-1%3A123456789012%3Aorders&Token=ab12"},
            {"arn:aws-cn:sns:cn-north-1:1:t", "a",
                    "https://sns.cn-north-1.amazonaws.com.cn/?Action=ConfirmSubscription&"
                    "TopicArn=arn%3Aaws-cn%3Asns%3Acn-north-1%3A1%3At&Token=a"},
            {"arn:aws:sns:eu-west-1:1:t", "a&Action=x#/@",
                    "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&"
                    "TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A1%3At&Token=a%26Action%3Dx%23%2F%40"},
            {"arn:aws:sns:evil.example/:1:t", "a", NULL},
            {"arn:aws:sns:eu-west-1@evil:1:t", "a", NULL}, {"arn:aws:sqs:eu-west-1:1:t", "a", NULL},
            {"arn:aws:sns", "a", NULL}, {"arn:aws:sns::1:t", "a", NULL}, {TOPIC, "", NULL},
            {TOPIC, "a\\n", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text body = {.max = 4096}, url = {.max = 4096};
        text_fmt(&body, "{\"TopicArn\":\"%s\",\"Token\":\"%s\",\"SubscribeURL\":\"https://evil\"}",
                rows[i].topic, rows[i].token);
        assert_row(
                sns_confirm_url(text_slice(&body), &url) == (rows[i].want != NULL), rows[i].topic);
        if (rows[i].want)
            assert_string_equal(text_cstr(&url), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(refuses_forged_messages_of_sns),
            cmocka_unit_test(refuses_a_message_that_is_cut_into_other_members),
            cmocka_unit_test(refuses_forged_transmissions_of_paypal),
            cmocka_unit_test(a_transmission_of_paypal_counts_once_and_for_three_days),
            cmocka_unit_test(asks_for_no_key_outside_the_rule_or_of_another_topic),
            cmocka_unit_test(builds_the_url_that_confirms_from_topic_and_token_alone),
    };
    return cmocka_run_group_tests(tests, make_keys, drop_keys);
}
