// What a policy means once it is loaded.
#include "common/config/policy.h"
#include "tests/unit/common/config/kit.h"

static struct policy *good(void)
{
    struct diag diag = {0};
    AUTO_FREE char *body = kit_read("policy.yaml");
    struct policy *policy = kit_policy(body, &diag);
    if (!policy)
        kit_show(&diag);
    diag_fini(&diag);
    assert_non_null(policy);
    return policy;
}

static const struct message *message_named(const struct policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->n_messages; i++) {
        if (strcmp(policy->messages[i].name, name) == 0)
            return &policy->messages[i];
    }
    fail_msg("no message '%s'", name);
    abort(); // fail_msg() does not come back, but the compiler is not told
}

static int state_named(const struct policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->flow.n_states; i++) {
        if (strcmp(policy->flow.states[i].name, name) == 0)
            return (int)i;
    }
    fail_msg("no state '%s'", name);
    return -1;
}

static void defaults_and_keeping_are_read(void **state)
{
    (void)state;
    struct policy *policy = good();
    assert_string_equal(policy->timezone, "Europe/Berlin");
    assert_string_equal(policy->locale, "en");
    assert_int_equal(policy->keep_keys_s, 45 * 86400);
    assert_int_equal(policy->keep_bodies_s, 14 * 86400);
    assert_int_equal(policy->flow.park_s, 7 * 86400);
    policy_unref(policy);
}

static void a_small_policy_gets_every_default(void **state)
{
    (void)state;
    struct diag diag = {0};
    struct policy *policy =
            kit_policy("pawl: 1\nmessages:\n  receipt:\n    once: \"r/{{event.id}}\"\n"
                       "    delivery: at-most-once\n    send: [email]\n  login-code:\n"
                       "    once: \"c/{{event.id}}\"\n    delivery: at-most-once\n"
                       "    send: [email]\nchannels:\n  email:\n    from: a@b.c\n"
                       "    providers: [{ driver: smtp, url: \"smtp://mail.b.c\" }]\n",
                    &diag);
    if (!policy)
        kit_show(&diag);
    assert_non_null(policy);
    assert_string_equal(policy->timezone, "UTC");
    assert_int_equal(policy->keep_keys_s, 45 * 86400);
    assert_int_equal(policy->keep_bodies_s, 14 * 86400);
    assert_int_equal(policy->flow.n_states, 0);
    const struct message *message = message_named(policy, "receipt");
    assert_int_equal(message->when, -1);
    assert_int_equal(message->priority, PRIORITY_NORMAL);
    assert_int_equal(message->retry_for_s, 0);
    assert_int_equal(message->expires_s, 0);
    const struct provider *provider = &policy->channels[CHANNEL_EMAIL].providers[0];
    assert_true(provider->starttls);
    assert_false(provider->plain);
    assert_null(provider->password.credential);
    policy_unref(policy);
    diag_fini(&diag);
}

static void sources_are_read(void **state)
{
    (void)state;
    struct policy *policy = good();
    const struct source *pay = policy_source(policy, SLICE("pay"));
    assert_non_null(pay);
    assert_true(pay->active);
    assert_int_equal(pay->n_secrets, 2);
    assert_string_equal(pay->secrets[0].credential, "pay-2026");
    assert_int_equal(pay->secrets[0].until, 0);
    assert_int_equal(pay->secrets[1].until, 1798761600); // 2027-01-01T00:00:00Z
    assert_string_equal(pay->secrets[1].note, "rolled over");
    assert_string_equal(pay->fingerprint_ignore[0], "/pending");
    assert_int_equal(pay->body_max, 262144);
    assert_null(pay->id_ptr);
    const struct source *status = policy_source(policy, SLICE("status"));
    assert_false(status->active);
    assert_string_equal(status->receipts, "sms");
    assert_null(policy_source(policy, SLICE("pa")));
    assert_null(policy_source(policy, SLICE("")));
    policy_unref(policy);
}

static void a_custom_scheme_is_read(void **state)
{
    (void)state;
    struct policy *policy = good();
    const struct source *source = policy_source(policy, SLICE("carrier"));
    const struct custom_verify *verify = source->verify;
    assert_string_equal(verify->signature_header, "X-Signature");
    assert_string_equal(verify->signature_prefix, "v1=");
    assert_string_equal(verify->encoding, "hex");
    assert_string_equal(verify->timestamp_header, "X-Time");
    assert_string_equal(verify->timestamp_unit, "milliseconds");
    assert_int_equal(verify->tolerance_s, 60);
    assert_string_equal(verify->signed_form, "{timestamp}.{id}.{body}");
    assert_string_equal(verify->algorithm, "hmac-sha256");
    assert_string_equal(source->id_ptr, "/id");
    assert_string_equal(source->type_ptr, "/kind");
    assert_string_equal(source->time_ptr, "/at");
    policy_unref(policy);
}

static void rules_are_read(void **state)
{
    (void)state;
    struct policy *policy = good();
    const struct source *shop = policy_source(policy, SLICE("shop"));
    const struct event_rule *placed = source_rule(shop, SLICE("placed"));
    assert_string_equal(placed->order, "/order/id");
    assert_int_equal(placed->to, state_named(policy, "placed"));
    assert_int_equal(placed->notify, -1);
    assert_int_equal(placed->n_contact, 6);
    assert_string_equal(placed->contact[1].name, "email");
    assert_string_equal(placed->contact[1].pointer, "/c/mail");
    assert_string_equal(placed->data[0].name, "total");
    const struct event_rule *code = source_rule(shop, SLICE("code"));
    assert_null(code->order);
    assert_int_equal(code->to, -1);
    assert_string_equal(policy->messages[code->notify].name, "login-code");
    assert_null(source_rule(shop, SLICE("plac")));
    const struct event_rule *track =
            source_rule(policy_source(policy, SLICE("carrier")), SLICE("track"));
    assert_int_equal(track->to, -1);
    assert_string_equal(track->by, "/parcel/status");
    assert_string_equal(track->sequence, "/parcel/revision");
    assert_int_equal(track->n_map, 2);
    assert_string_equal(track->map[1].value, "there");
    assert_int_equal(track->map[1].to, state_named(policy, "arrived"));
    policy_unref(policy);
}

static void the_step_matrix_is_what_the_flow_says(void **state)
{
    (void)state;
    struct policy *policy = good();
    // Rows: from; columns: to. Path placed paid packed sent arrived, aside returned.
    static const char *const want[] = {
            ".x....", // placed
            "..xxxx", // paid: packed may be missed to sent, packed and sent to arrived
            "...xx.", // packed: sent may be missed on the way to arrived
            "....xx", // sent
            ".....x", // arrived
            "......", // returned: nothing follows
    };
    const struct flow *flow = &policy->flow;
    assert_int_equal(flow->n_states, 6);
    assert_int_equal(flow->n_path, 5);
    for (size_t from = 0; from < 6; from++) {
        for (size_t to = 0; to < 6; to++) {
            if (flow->may[from * 6 + to] != (want[from][to] == 'x'))
                fail_msg("%s -> %s", flow->states[from].name, flow->states[to].name);
        }
    }
    assert_true(flow->states[0].create && flow->states[1].create);
    assert_false(flow->states[2].create || flow->states[5].create);
    policy_unref(policy);
}

static void tls_follows_from_url_and_key(void **state)
{
    (void)state;
    static const struct {
        const char *provider;
        bool starttls, plain;
    } rows[] = {{"url: \"smtp://localhost:25\"", false, true},
            {"url: \"smtp://127.0.0.1:25\", tls: none", false, true},
            {"url: \"smtp://[::1]:25\", tls: starttls", true, false},
            {"url: \"smtp://mail.example.net\"", true, false},
            {"url: \"smtp://mail.example.net\", tls: starttls", true, false},
            {"url: \"smtps://mail.example.net\", tls: implicit", false, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char body[512];
        snprintf(body, sizeof body,
                "pawl: 1\nchannels:\n  email:\n    from: a@b.c\n    providers:\n"
                "      - { driver: smtp, %s }\n",
                rows[i].provider);
        struct diag diag = {0};
        struct policy *policy = kit_policy(body, &diag);
        assert_row(policy, rows[i].provider);
        const struct provider *provider = &policy->channels[CHANNEL_EMAIL].providers[0];
        assert_row(provider->starttls == rows[i].starttls, rows[i].provider);
        assert_row(provider->plain == rows[i].plain, rows[i].provider);
        policy_unref(policy);
        diag_fini(&diag);
    }
}

static void messages_are_read(void **state)
{
    (void)state;
    struct policy *policy = good();
    const struct message *receipt = message_named(policy, "receipt");
    assert_int_equal(receipt->when, state_named(policy, "paid"));
    assert_string_equal(receipt->once, "receipt/{{order.id}}");
    assert_int_equal(receipt->delivery, AT_LEAST_ONCE);
    assert_int_equal(receipt->n_steps, 1);
    assert_true(receipt->steps[0].active);
    assert_int_equal(receipt->n_wait, 3);
    assert_int_equal(receipt->wait_ms[1], 60000);
    assert_int_equal(receipt->jitter_percent, 10);
    assert_int_equal(receipt->retry_for_s, 86400);
    const struct message *sent = message_named(policy, "sent");
    assert_int_equal(sent->delivery, AT_MOST_ONCE);
    assert_int_equal(sent->steps[0].channel, CHANNEL_PUSH);
    assert_true(sent->steps[0].active);
    assert_int_equal(sent->steps[1].channel, CHANNEL_EMAIL);
    assert_int_equal(sent->steps[1].after_s, 600);
    assert_string_equal(sent->steps[1].unless, "accepted(push)");
    assert_int_equal(sent->steps[1].unless_channel, CHANNEL_PUSH);
    assert_false(sent->steps[1].unless_delivered);
    assert_true(sent->steps[1].active);
    assert_int_equal(sent->jitter_percent, 20);
    assert_int_equal(sent->expires_s, 43200);
    assert_int_equal(sent->caps[0].most, 1);
    assert_true(sent->caps[0].withhold);
    assert_string_equal(sent->quiet_from, "21:00");
    const struct message *code = message_named(policy, "login-code");
    assert_int_equal(code->priority, PRIORITY_HIGH);
    assert_true(code->exempt);
    assert_false(receipt->exempt);
    assert_true(policy->limits[0].across);
    assert_false(policy->limits[0].withhold);
    policy_unref(policy);
}

static void what_does_not_run_is_told(void **state)
{
    (void)state;
    static const char *const told[] = {"scheme 'twilio'"};
    struct diag diag = {0};
    AUTO_FREE char *body = kit_read("policy.yaml");
    policy_unref(kit_policy(body, &diag));
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        bool found = false;
        for (size_t j = 0; j < diag.n; j++) {
            const struct diag_row *row = &diag.rows[j];
            found |= row->level == DIAG_INACTIVE && strstr(row->text, told[i]) && row->line > 0;
        }
        assert_row(found, told[i]);
    }
    for (size_t j = 0; j < diag.n; j++)
        assert_ptr_equal(strstr(diag.rows[j].text, "not active yet: "), diag.rows[j].text);
    diag_fini(&diag);
}

static void a_driver_that_does_not_send_is_told(void **state)
{
    (void)state;
    struct diag diag = {0};
    struct policy *policy =
            kit_policy("pawl: 1\nchannels:\n  sms:\n    from: Shop\n    providers:\n"
                       "      - { driver: messagebird, token: credential:m }\n",
                    &diag);
    assert_non_null(policy);
    assert_false(policy->channels[CHANNEL_SMS].active);
    bool found = false;
    for (size_t i = 0; i < diag.n; i++)
        found |= diag.rows[i].level == DIAG_INACTIVE && strstr(diag.rows[i].text, "driver:");
    assert_true(found);
    policy_unref(policy);
    diag_fini(&diag);
}

static void the_last_reference_frees(void **state)
{
    (void)state;
    struct policy *policy = good();
    assert_ptr_equal(policy_ref(policy), policy);
    policy_unref(policy);
    assert_string_equal(policy->locale, "en"); // still there; the sanitizer would tell
    policy_unref(policy);
    policy_unref(NULL);
}

static void every_name_must_be_bound(void **state)
{
    (void)state;
    struct policy *policy = good();
    struct err err = {0};
    int id = 1;
    for (size_t i = 0; i < policy->n_sources; i++)
        policy_bind(policy, NAME_SOURCE, policy->sources[i].name, id++);
    for (size_t i = 0; i < policy->n_messages; i++)
        policy_bind(policy, NAME_MESSAGE, policy->messages[i].name, id++);
    policy_bind(policy, NAME_STATE, "not in this policy", 99);
    assert_false(policy_bound(policy, &err));
    assert_string_equal(err.msg, "state 'placed' has no number in the database");
    for (size_t i = 0; i < policy->flow.n_states; i++)
        policy_bind(policy, NAME_STATE, policy->flow.states[i].name, id++);
    assert_true(policy_bound(policy, &err));
    assert_string_equal(policy_source_by_id(policy, 1)->name, "pay");
    assert_string_equal(policy_message_by_id(policy, 5)->name, "receipt");
    assert_int_equal(flow_state_by_id(&policy->flow, 8), 0);
    assert_int_equal(flow_state_by_id(&policy->flow, 500), -1);
    assert_null(policy_source_by_id(policy, 500));
    policy_unref(policy);
}

static void channels_have_names(void **state)
{
    (void)state;
    assert_string_equal(channel_name(CHANNEL_EMAIL), "email");
    assert_string_equal(channel_name(CHANNEL_NONE), "none");
    assert_int_equal(channel_by_name("push"), CHANNEL_PUSH);
    assert_int_equal(channel_by_name("none"), CHANNEL_NONE);
}

// A bit for each state is all that the judge has.
static void more_states_than_the_judge_can_hold_are_refused(void **state)
{
    (void)state;
    for (int n = FLOW_STATES_MAX; n <= FLOW_STATES_MAX + 1; n++) {
        struct diag diag = {0};
        AUTO_TEXT struct text text = {.max = 1 << 16};
        text_str(&text,
                "pawl: 1\norders:\n  create: [s0]\n  aside: { s0: { from: [s1] } }\n  path: [s1");
        for (int i = 2; i < n; i++)
            text_fmt(&text, ", s%d", i);
        text_str(&text, "]\n");
        struct policy *policy = kit_policy(text_cstr(&text), &diag);
        assert_int_equal(policy != NULL, n <= FLOW_STATES_MAX);
        assert_true(policy || strcmp(diag.rows[0].code, "too-many-states") == 0);
        policy_unref(policy);
        diag_fini(&diag);
    }
}

static void a_policy_can_be_described(void **state)
{
    (void)state;
    struct policy *policy = good();
    AUTO_TEXT struct text out = {.max = 1 << 16};
    policy_describe(policy, &out);
    static const char *const said[] = {"keeps keys 45d, bodies 14d",
            "carrier (scheme custom, 1 secret)", "moving moves to sent", "sent after paid, packed",
            "email by smtp", "(TLS), then resend",
            "receipt when an order moves to paid, at least once", "push by fcm"};
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        assert_row(strstr(text_cstr(&out), said[i]), said[i]);
    policy_unref(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(defaults_and_keeping_are_read),
            cmocka_unit_test(a_small_policy_gets_every_default),
            cmocka_unit_test(sources_are_read),
            cmocka_unit_test(a_custom_scheme_is_read),
            cmocka_unit_test(rules_are_read),
            cmocka_unit_test(the_step_matrix_is_what_the_flow_says),
            cmocka_unit_test(tls_follows_from_url_and_key),
            cmocka_unit_test(messages_are_read),
            cmocka_unit_test(what_does_not_run_is_told),
            cmocka_unit_test(a_driver_that_does_not_send_is_told),
            cmocka_unit_test(the_last_reference_frees),
            cmocka_unit_test(every_name_must_be_bound),
            cmocka_unit_test(channels_have_names),
            cmocka_unit_test(more_states_than_the_judge_can_hold_are_refused),
            cmocka_unit_test(a_policy_can_be_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
