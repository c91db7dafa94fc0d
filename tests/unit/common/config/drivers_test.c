// What providers of SMS and push are given by the policy, and what a program takes that knows none.
#include "common/config/policy.h"
#include "tests/unit/common/config/kit.h"

#include <stdio.h>

static struct policy *must(const char *body)
{
    struct diag diag = {0};
    struct policy *policy = kit_policy(body, &diag);
    if (!policy)
        kit_show(&diag);
    assert_non_null(policy);
    diag_fini(&diag);
    return policy;
}

static void channels_are_read(void **state)
{
    (void)state;
    AUTO_FREE char *body = kit_read("policy.yaml");
    struct policy *policy = must(body);
    const struct channel *email = &policy->channels[CHANNEL_EMAIL];
    assert_int_equal(email->kind, CHANNEL_EMAIL);
    assert_true(email->configured && email->active);
    assert_string_equal(email->from, "Shop <shop@example.net>");
    assert_int_equal(email->n_providers, 2);
    assert_int_equal(email->providers[0].driver, DRIVER_SMTP);
    assert_string_equal(email->providers[0].user, "shop");
    assert_string_equal(email->providers[0].password.credential, "smtp");
    assert_false(email->providers[0].plain || email->providers[0].starttls);
    assert_int_equal(email->providers[1].driver, DRIVER_HTTP);
    assert_ptr_equal(channel_provider(email), &email->providers[0]);
    const struct channel *sms = &policy->channels[CHANNEL_SMS];
    assert_ptr_equal(channel_provider(sms), &sms->providers[0]);
    assert_non_null(channel_provider(&policy->channels[CHANNEL_PUSH]));
    assert_string_equal(email->providers[1].driver_name, "resend");
    assert_true(sms->configured && sms->active);
    assert_true(policy->channels[CHANNEL_PUSH].active);
    policy_unref(policy);
}

static void a_gateway_is_described_by_its_request(void **state)
{
    (void)state;
    struct policy *policy = must("pawl: 1\n"
                                 "channels:\n"
                                 "  sms:\n"
                                 "    from: Shop\n"
                                 "    providers:\n"
                                 "      - driver: http\n"
                                 "        url: \"http://127.0.0.1:13013/send?to={to}\"\n"
                                 "        token: credential:kannel\n"
                                 "        request:\n"
                                 "          method: PUT\n"
                                 "          headers: { X-Ref: \"{key}\" }\n"
                                 "          form: { t: \"{text}\", f: \"{from}\" }\n"
                                 "          success: [202, 204]\n"
                                 "          id: /messages/0/id\n"
                                 "      - { driver: http, url: \"https://gw.example.net/\" }\n");
    const struct provider *provider = &policy->channels[CHANNEL_SMS].providers[0];
    assert_string_equal(provider->url, "http://127.0.0.1:13013/send?to={to}");
    assert_string_equal(provider->password.credential, "kannel");
    const struct gateway *gateway = provider->http;
    assert_non_null(gateway);
    assert_string_equal(gateway->method, "PUT");
    assert_int_equal(gateway->n_headers, 1);
    assert_string_equal(gateway->headers[0].name, "X-Ref");
    assert_string_equal(gateway->headers[0].value, "{key}");
    assert_int_equal(gateway->n_form, 2);
    assert_string_equal(gateway->form[1].name, "f");
    assert_string_equal(gateway->form[1].value, "{from}");
    assert_int_equal(gateway->n_success, 2);
    assert_int_equal(gateway->success[1], 204);
    assert_string_equal(gateway->id, "/messages/0/id");
    assert_null(gateway->json);
    assert_null(policy->channels[CHANNEL_SMS].providers[1].http);
    policy_unref(policy);
}

static const struct policy_mails {
    const char *first, *second, *name_1, *name_2; // names NULL = refused
} mails[] = {
        {"", "", "smtp", "smtp-2"},
        {"", ", name: main", "smtp", "main"},
        {", name: smtp-2", "", "smtp-2", "smtp"},
        {", name: main", ", name: main", NULL, NULL},
        {", name: main, rate: 30/m, concurrency: 7", ", name: spare", "main", "spare"},
};

static void every_provider_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mails); i++) {
        AUTO_TEXT struct text body;
        text_init(&body, 4096);
        text_fmt(&body,
                "pawl: 1\nchannels:\n  email:\n    from: \"a@b.example\"\n    providers:\n"
                "      - { driver: smtp, url: \"smtps://one.example\"%s }\n"
                "      - { driver: smtp, url: \"smtps://two.example\"%s }\n",
                mails[i].first, mails[i].second);
        struct diag diag = {0};
        struct policy *policy = kit_policy(text_cstr(&body), &diag);
        diag_fini(&diag);
        assert_int_equal(policy != NULL, mails[i].name_1 != NULL);
        if (!policy)
            continue;
        const struct provider *providers = policy->channels[CHANNEL_EMAIL].providers;
        assert_string_equal(providers[0].name, mails[i].name_1);
        assert_string_equal(providers[1].name, mails[i].name_2);
        assert_int_equal(providers[0].concurrency, i == 4 ? 7 : 0);
        assert_true(i == 4 ? providers[0].rate > 0.49 && providers[0].rate < 0.51
                           : !(providers[0].rate > 0));
        policy_unref(policy);
    }
}

static void each_drivers_settings_are_kept(void **state)
{
    (void)state;
    struct policy *policy = must(
            "pawl: 1\n"
            "channels:\n"
            "  sms:\n"
            "    from: \"+4915100000000\"\n"
            "    providers:\n"
            "      - { driver: twilio, account: AC1, token: credential:twilio,\n"
            "          callback: \"https://hooks.example.com/hooks/status\" }\n"
            "      - { driver: vonage, application: app1, key: credential:vonage }\n"
            "      - { driver: sinch, plan: plan1, token: credential:sinch,\n"
            "          url: \"https://eu.sms.api.sinch.com\" }\n"
            "      - { driver: telnyx, token: credential:telnyx }\n"
            "  push:\n"
            "    providers:\n"
            "      - { driver: apns, team: T, key_id: K, key: credential:p8, topic: com.example }\n"
            "      - { driver: fcm, project: shop, key: credential:fcm }\n"
            "      - { driver: webpush, subject: \"mailto:o@example.net\", key: credential:vapid "
            "}\n");
    const struct provider *sms = policy->channels[CHANNEL_SMS].providers;
    assert_string_equal(sms[0].account, "AC1");
    assert_string_equal(sms[0].password.credential, "twilio");
    assert_string_equal(sms[0].callback, "https://hooks.example.com/hooks/status");
    assert_null(sms[0].url);
    assert_string_equal(sms[1].account, "app1");
    assert_string_equal(sms[1].password.credential, "vonage");
    assert_string_equal(sms[2].account, "plan1");
    assert_string_equal(sms[2].url, "https://eu.sms.api.sinch.com");
    assert_string_equal(sms[3].password.credential, "telnyx");
    const struct provider *push = policy->channels[CHANNEL_PUSH].providers;
    assert_string_equal(push[0].team, "T");
    assert_string_equal(push[0].key_id, "K");
    assert_string_equal(push[0].topic, "com.example");
    assert_string_equal(push[0].password.credential, "p8");
    assert_string_equal(push[1].project, "shop");
    assert_string_equal(push[2].subject, "mailto:o@example.net");
    policy_unref(policy);
}

static void a_request_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *request, *code;
    } rows[] = {{"success: [302]", "range"},
            {"form: { t: \"{text}\" }, json: \"{}\"", "provider-body"},
            {"method: GET, form: { t: \"{text}\" }", "provider-body"},
            {"method: GET, json: \"{}\"", "provider-body"}, {"method: DELETE", "enum"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char body[512];
        struct diag diag = {0};
        snprintf(body, sizeof body,
                "pawl: 1\nchannels:\n  sms:\n    from: Shop\n    providers:\n"
                "      - { driver: http, url: \"https://gw.example.net/\", request: { %s } }\n",
                rows[i].request);
        assert_row(!kit_policy(body, &diag), rows[i].request);
        assert_row(kit_find(&diag, rows[i].code), rows[i].request);
        diag_fini(&diag);
    }
}

// What is checked since must not take the policy from programs that run.
static void a_stored_request_is_read_whatever_its_placeholders(void **state)
{
    (void)state;
    static const char text[] = "pawl: 1\nchannels:\n  sms:\n    from: Shop\n    providers:\n"
                               "      - { driver: http, url: \"https://gw.example.net/{x}\", "
                               "request: { json: \"{\" } }\n";
    struct policy_text file = kit_text("f.yaml", text, strlen(text));
    for (int is_new = 0; is_new < 2; is_new++) {
        struct policy_known known = kit_known;
        struct diag diag = {0};
        known.is_new = is_new;
        struct policy *policy = policy_new(&file, 1, NULL, 0, &known, &diag);
        assert_int_equal(policy == NULL, is_new);
        policy_unref(policy);
        diag_fini(&diag);
    }
    free(file.path);
    free(file.body);
}

// The dispatcher knows no schemes; it must not refuse what was checked when it was applied.
static void who_knows_no_schemes_takes_the_sources_of_all(void **state)
{
    (void)state;
    static const char text[] =
            "pawl: 1\n"
            "orders: { path: [a, b], create: [a] }\n"
            "sources:\n"
            "  topic: { scheme: aws-sns, topics: [\"arn:aws:sns:eu-west-1:1:t\"],\n"
            "    type: /Message/eventType, events: { Delivery: { order: /Message/id, to: b } } }\n"
            "  set: { scheme: plaid, jwks: \"https://keys.example.com/jwks\",\n"
            "    events: { T: { order: /id, to: b } } }\n"
            "  url: { scheme: twilio, public_url: \"https://example.com/hooks/url\",\n"
            "    secrets: [credential:url], events: { sent: { order: /id, to: b } } }\n";
    struct policy_text file = kit_text("f.yaml", text, strlen(text));
    const struct policy_known nothing = {0}, *const known[] = {&kit_known, &nothing, NULL};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct diag diag = {0};
        struct policy *policy = policy_new(&file, 1, NULL, 0, known[i], &diag);
        if (!policy)
            kit_show(&diag);
        assert_non_null(policy);
        policy_unref(policy);
        diag_fini(&diag);
    }
    free(file.path);
    free(file.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(channels_are_read),
            cmocka_unit_test(who_knows_no_schemes_takes_the_sources_of_all),
            cmocka_unit_test(a_gateway_is_described_by_its_request),
            cmocka_unit_test(every_provider_has_a_name_of_its_own),
            cmocka_unit_test(each_drivers_settings_are_kept),
            cmocka_unit_test(a_request_that_makes_no_sense_is_refused),
            cmocka_unit_test(a_stored_request_is_read_whatever_its_placeholders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
