#include "dispatcher/render/render.h"
#include "tests/test.h"

#include <stdio.h>

#define TEXT(path, body)                                                                           \
    {                                                                                              \
        (char *)(uintptr_t)(path), (char *)(uintptr_t)(body), sizeof(body) - 1                     \
    }

static struct policy_text texts[] = {
        TEXT("shipped/email.en.subject.mustache", "Order {{order.id}}\n"),
        TEXT("shipped/email.en.text.mustache", "Hello {{contact.name}} {{data.note}}\n{{>tail}}"),
        TEXT("shipped/email.en.html.mustache", "<p>{{data.note}}</p>{{>own}}"),
        TEXT("shipped/own.mustache", "own"),
        TEXT("shipped/email.de.subject.mustache", "Bestellung {{order.id}}\n"),
        TEXT("shipped/email.de.text.mustache", "Hallo\n"),
        TEXT("shipped/email.fr.subject.mustache", "Commande {{order.id}}\n"),
        TEXT("shipped/email.it.text.mustache", "Ciao\n"),
        TEXT("shipped/email.it-CH.subject.mustache", "Ordine {{order.id}}\n"),
        TEXT("shipped/email.it-CH.html.mustache", "<p>Ciao</p>\n"),
        TEXT("shipped/email.zh-Hant.subject.mustache", "\xe8\xa8\x82\xe5\x96\xae {{order.id}}"),
        TEXT("shipped/email.zh-Hant.text.mustache", "x"),
        TEXT("laid/email.en.subject.mustache",
                "{{<title}}{{$what}}{{data.note}}{{/what}}{{/title}}"),
        TEXT("laid/email.en.text.mustache",
                "{{<letter}}\n{{$body}}\nIt is {{data.note}}.\n{{/body}}\n{{/letter}}\n"),
        TEXT("laid/email.en.html.mustache",
                "{{<page}}{{$body}}<b>{{data.note}}</b>{{/body}}{{/page}}"),
        TEXT("laid/signature.mustache", "the shop\n"),
        TEXT("layouts/title.mustache", "[shop] {{$what}}news{{/what}}\n"),
        TEXT("layouts/letter.mustache",
                "Hello {{contact.name}},\n\n{{$body}}{{/body}}\n-- \n{{>signature}}\n"),
        TEXT("layouts/page.mustache", "<p>{{contact.name}}</p>{{$body}}{{/body}}{{>foot}}"),
        TEXT("layouts/foot.mustache", "<hr>"),
        TEXT("torn/email.en.subject.mustache", "x"),
        TEXT("torn/email.en.text.mustache", "{{<gone}}{{/gone}}"),
        TEXT("partials/foot.mustache", "not this one"),
        TEXT("partials/tail.mustache", "-- {{order.id}}\n"),
        TEXT("bare/email.en.subject.mustache", "only a subject"),
        TEXT("header/email.en.subject.mustache", "{{data.note}}"),
        TEXT("header/email.en.text.mustache", "text"),
        TEXT("shipped/sms.en.text.mustache", "{{order.id}}: {{data.note}}\n"),
        TEXT("shipped/push.en.title.mustache", "Order {{order.id}}\n"),
        TEXT("shipped/push.en.text.mustache", "{{data.note}}\n"),
        TEXT("shipped/push.en.data.mustache", "{\"note\": \"{{data.note}}\"}\n"),
        TEXT("shipped/push.de.title.mustache", "Bestellung {{order.id}}\n"), // and no text
        TEXT("torn/push.en.text.mustache", "x"),
        TEXT("torn/push.en.data.mustache", "[]"),
        TEXT("shipped/sms.de.text.mustache", "{{order.id}} unterwegs"),
        TEXT("header/sms.en.text.mustache", "\r\n\n"),
};

static struct message messages[] = {
        {.name = (char *)(uintptr_t) "shipped", .id = 1},
        {.name = (char *)(uintptr_t) "bare", .id = 2},
        {.name = (char *)(uintptr_t) "header", .id = 3},
        {.name = (char *)(uintptr_t) "none", .id = 4},
        {.name = (char *)(uintptr_t) "laid", .id = 5},
        {.name = (char *)(uintptr_t) "torn", .id = 6},
};

static struct policy policy = {.version = 7,
        .locale = (char *)(uintptr_t) "en",
        .templates = texts,
        .n_templates = ARRAY_LEN(texts),
        .messages = messages,
        .n_messages = ARRAY_LEN(messages),
        .channels[CHANNEL_EMAIL] = {.kind = CHANNEL_EMAIL,
                .from = (char *)(uintptr_t) "Shop <notify@example.net>"},
        .channels[CHANNEL_PUSH] = {.kind = CHANNEL_PUSH},
        .channels[CHANNEL_SMS] = {.kind = CHANNEL_SMS, .from = (char *)(uintptr_t) "+15005550006"}};

static struct templates *parsed;

static bool render_of(int type, const char *data, struct delivery *delivery, struct err *err)
{
    *delivery = (struct delivery){.channel = CHANNEL_EMAIL,
            .type = type,
            .target = (char *)(uintptr_t) "",
            .address = (char *)(uintptr_t) "ann@example.net",
            .data = (char *)(uintptr_t)data,
            .notification = {{1, 2, 3}}};
    struct render_context context = {
            .policy = &policy, .templates = parsed, .now_us = 1795910400LL * 1000000};
    return render_content(&context, delivery, err);
}

static bool sms_of(int type, const char *data, struct delivery *delivery, struct err *err)
{
    *delivery = (struct delivery){.channel = CHANNEL_SMS,
            .type = type,
            .target = (char *)(uintptr_t) "",
            .address = (char *)(uintptr_t) "+4915112345678",
            .data = (char *)(uintptr_t)data};
    struct render_context context = {.policy = &policy, .templates = parsed};
    return render_content(&context, delivery, err);
}

#define VALUES(contact, note)                                                                      \
    "{\"order\":{\"id\":\"1001\",\"state\":\"shipped\"},\"event\":{\"id\":\"e\"},\"contact\":"     \
    "{\"name\":\"Ann\"" contact "},\"data\":{\"note\":\"" note "\"}}"

static void fills_every_part_with_its_own_escaping(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    assert_true(render_of(1, VALUES("", "<b>&"), &d, &err));
    assert_string_equal(d.content.subject, "Order 1001");
    assert_string_equal(d.content.text, "Hello Ann <b>&\n-- 1001\n");
    assert_string_equal(d.content.html, "<p>&lt;b&gt;&amp;</p>own");
    assert_string_equal(d.content.from, "Shop <notify@example.net>");
    assert_string_equal(d.content.to, "ann@example.net");
    assert_string_equal(d.content.date, "Sun, 29 Nov 2026 00:00:00 +0000");
    content_fini(&d.content);
}

static void a_text_message_is_its_text_alone(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    assert_true(sms_of(1, VALUES("", "<b>&"), &d, &err));
    assert_string_equal(d.content.text, "1001: <b>&");
    assert_string_equal(d.content.from, "+15005550006");
    assert_string_equal(d.content.to, "+4915112345678");
    assert_null(d.content.subject);
    assert_null(d.content.html);
    assert_null(d.content.message_id);
    AUTO_TEXT struct text json = {.max = 1000};
    struct content back = {0};
    assert_true(content_to_json(&d.content, &json));
    assert_true(content_from_json(text_slice(&json), &back, &err));
    assert_string_equal(back.text, d.content.text);
    assert_null(back.subject);
    content_fini(&back);
    content_fini(&d.content);
    assert_true(sms_of(1, VALUES(",\"locale\":\"de-AT\"", "x"), &d, &err));
    assert_string_equal(d.content.text, "1001 unterwegs");
    content_fini(&d.content);
}

static bool push_of(int type, const char *data, struct delivery *delivery, struct err *err)
{
    bool ok = sms_of(type, "", delivery, err);
    assert_false(ok); // only the fields are wanted
    delivery->channel = CHANNEL_PUSH;
    delivery->target = (char *)(uintptr_t) "fcm-0123456789abcdef";
    delivery->data = (char *)(uintptr_t)data;
    struct render_context context = {.policy = &policy, .templates = parsed};
    return render_content(&context, delivery, err);
}

static void a_push_message_has_a_title_a_text_and_data(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    AUTO_TEXT struct text json = {.max = 1000};
    struct content back = {0};
    assert_true(push_of(1, VALUES(",\"locale\":\"de\"", "say \\\"x\\\""), &d, &err));
    assert_string_equal(d.content.subject, "Order 1001"); // all of one locale
    assert_string_equal(d.content.text, "say \"x\"");
    assert_string_equal(d.content.data, "{\"note\": \"say \\\"x\\\"\"}\n");
    assert_null(d.content.message_id);
    assert_true(content_to_json(&d.content, &json));
    assert_true(content_from_json(text_slice(&json), &back, &err));
    assert_string_equal(back.data, d.content.data);
    assert_string_equal(back.subject, d.content.subject);
    content_fini(&back);
    content_fini(&d.content);
}

static void a_push_messages_data_is_a_json_object(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    assert_false(push_of(6, VALUES("", "x"), &d, &err));
    assert_string_equal(err.msg, "'torn/push.en.data.mustache' makes no JSON object");
    assert_false(push_of(2, VALUES("", "x"), &d, &err));
    assert_string_equal(err.msg, "no template 'bare/push.en.text.mustache'");
}

static void an_empty_text_message_or_none_is_refused(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    assert_false(sms_of(3, VALUES("", "x"), &d, &err));
    assert_string_equal(err.msg, "the text message is empty");
    assert_false(sms_of(2, VALUES("", "x"), &d, &err));
    assert_string_equal(err.msg, "no template 'bare/sms.en.text.mustache'");
}

static void the_message_id_is_derived_from_the_delivery_and_never_changes(void **state)
{
    (void)state;
    struct delivery a, b;
    struct err err = {0};
    assert_true(render_of(1, VALUES("", "x"), &a, &err));
    assert_true(render_of(1, VALUES("", "y"), &b, &err));
    assert_string_equal(a.content.message_id, b.content.message_id);
    char hex[KEY_HEX], want[80];
    key_hex(key_delivery((struct key){{1, 2, 3}}, CHANNEL_EMAIL, SLICE(""), 0), hex);
    snprintf(want, sizeof want, "%s@example.net", hex);
    assert_string_equal(a.content.message_id, want);
    content_fini(&a.content);
    content_fini(&b.content);
}

static void texts_share_layouts_each_with_its_escaping(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    if (!render_of(5, VALUES("", "<here>"), &d, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(d.content.subject, "[shop] <here>");
    assert_string_equal(d.content.text, "Hello Ann,\n\nIt is <here>.\n\n-- \nthe shop\n");
    assert_string_equal(d.content.html, "<p>Ann</p><b>&lt;here&gt;</b><hr>");
    content_fini(&d.content);
}

static void all_parts_are_of_one_locale(void **state)
{
    (void)state;
    struct delivery d;
    struct err err = {0};
    assert_true(render_of(1, VALUES(",\"locale\":\"it-CH\"", "x"), &d, &err));
    assert_null(d.content.text); // that of it and en are of other locales
    assert_string_equal(d.content.html, "<p>Ciao</p>\n");
    content_fini(&d.content);
}

static const struct locale_row {
    const char *name, *values, *subject;
} locales[] = {
        {"exact", VALUES(",\"locale\":\"de\"", "x"), "Bestellung 1001"},
        {"region falls back to its language", VALUES(",\"locale\":\"de-AT\"", "x"),
                "Bestellung 1001"},
        {"unknown falls back to the policy's", VALUES(",\"locale\":\"es\"", "x"), "Order 1001"},
        {"a subject without body is no locale", VALUES(",\"locale\":\"fr\"", "x"), "Order 1001"},
        {"nor a body without subject", VALUES(",\"locale\":\"it\"", "x"), "Order 1001"},
        {"a region that is whole is taken before its language",
                VALUES(",\"locale\":\"it-CH\"", "x"), "Ordine 1001"},
        {"a region beside it is not", VALUES(",\"locale\":\"it-IT\"", "x"), "Order 1001"},
        {"other spellings", VALUES(",\"locale\":\"IT_ch\"", "x"), "Ordine 1001"},
        {"one subtag after the other", VALUES(",\"locale\":\"ZH_hant_tw\"", "x"),
                "\xe8\xa8\x82\xe5\x96\xae 1001"},
        {"a dash at the end", VALUES(",\"locale\":\"de-\"", "x"), "Bestellung 1001"},
        {"what is no locale is not looked up", VALUES(",\"locale\":\"../de\"", "x"), "Order 1001"},
        {"empty", VALUES(",\"locale\":\"\"", "x"), "Order 1001"},
        {"a number", VALUES(",\"locale\":5", "x"), "Order 1001"},
};

static void check_locale(const struct locale_row *row)
{
    struct delivery d;
    struct err err = {0};
    assert_row(render_of(1, row->values, &d, &err), row->name);
    assert_row(strcmp(d.content.subject, row->subject) == 0, row->name);
    content_fini(&d.content);
}

static void the_contacts_locale_is_used_where_it_has_templates(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(locales); i++)
        check_locale(&locales[i]);
}

static const struct refused_row {
    const char *name;
    int type;
    const char *values, *why;
} refused[] = {
        {"a missing value", 1,
                "{\"order\":{\"id\":\"1\"},\"contact\":{},\"data\":{\"note\":\"x\"}}",
                "contact.name"},
        {"no body", 2, VALUES("", "x"), "bare/email.en.text"},
        {"no parent", 6, VALUES("", "x"),
                "torn/email.en.text.mustache:1:1: there is no parent 'gone'"},
        {"no template at all", 4, VALUES("", "x"), "none/email.en.subject"},
        {"a line end in a header", 3, VALUES("", "a\\r\\nBcc: x"), "header/email.en.subject"},
        {"a NUL in a header", 3, VALUES("", "a\\u0000b"), "header/email.en.subject"},
        {"a message the version does not have", 9, VALUES("", "x"), "no message type 9"},
        {"values that were blanked", 1, NULL, "no values"},
        {"values that are no object", 1, "[]", "no values"},
};

static void check_refused(const struct refused_row *row)
{
    struct delivery d;
    struct err err = {0};
    assert_row(!render_of(row->type, row->values, &d, &err), row->name);
    bool says_why = err.kind == ERR_INPUT && strstr(err.msg, row->why);
    assert_row(says_why, row->name);
    bool empty = !d.content.subject && !d.content.text && !d.content.from;
    assert_row(empty, row->name);
}

static void what_cannot_be_rendered_says_why_and_fills_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        check_refused(&refused[i]);
}

static void the_domain_of_a_sender_is_found(void **state)
{
    (void)state;
    assert_true(slice_eq(render_domain("A <a@b.example>"), SLICE("b.example")));
    assert_true(slice_eq(render_domain("a@b.example"), SLICE("b.example")));
    assert_int_equal(render_domain("nobody").len, 0);
}

// The folder is there; what the file is is measured elsewhere.
static void a_value_of_a_path_leads_into_no_other_folder(void **state)
{
    (void)state;
    char *patterns[] = {(char[]){"in/{{data.note}}.pdf"}, (char[]){"in/{{{data.note}}}.pdf"}};
    static const struct {
        const char *note, *why;
    } rows[] = {{"../secret", "a '/' can't stand in a value"},
            {"a/b", "a '/' can't stand in a value"}, {"/etc/x", "a '/' can't stand in a value"},
            {"a\\u000ab", "control character"},
            {"missing", "'in/missing.pdf': there is no such file"}};
    for (size_t i = 0; i < ARRAY_LEN(rows) * 2; i++) {
        struct delivery d;
        struct err err = {0};
        AUTO_TEXT struct text values = {.max = 1000};
        text_fmt(&values, VALUES("", "%s"), rows[i / 2].note);
        messages[0].attachments = &patterns[i % 2];
        messages[0].n_attachments = 1;
        struct render_context context = {
                .policy = &policy, .templates = parsed, .attachments = "/tmp"};
        assert_false(render_of(1, text_cstr(&values), &d, &err)); // without a folder
        d.channel = CHANNEL_EMAIL;
        assert_row(!render_content(&context, &d, &err), rows[i / 2].note);
        assert_row(err.kind == ERR_INPUT && strstr(err.msg, rows[i / 2].why), err.msg);
        assert_row(!d.content.subject && d.content.n_attachments == 0, rows[i / 2].note);
    }
    messages[0].n_attachments = 0;
}

int main(void)
{
    struct err err = {0};
    parsed = templates_new(&policy, &err);
    if (!parsed)
        return 1;
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(fills_every_part_with_its_own_escaping),
            cmocka_unit_test(a_text_message_is_its_text_alone),
            cmocka_unit_test(an_empty_text_message_or_none_is_refused),
            cmocka_unit_test(a_push_message_has_a_title_a_text_and_data),
            cmocka_unit_test(a_push_messages_data_is_a_json_object),
            cmocka_unit_test(the_message_id_is_derived_from_the_delivery_and_never_changes),
            cmocka_unit_test(texts_share_layouts_each_with_its_escaping),
            cmocka_unit_test(all_parts_are_of_one_locale),
            cmocka_unit_test(the_contacts_locale_is_used_where_it_has_templates),
            cmocka_unit_test(what_cannot_be_rendered_says_why_and_fills_nothing),
            cmocka_unit_test(the_domain_of_a_sender_is_found),
            cmocka_unit_test(a_value_of_a_path_leads_into_no_other_folder),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    templates_free(parsed);
    return failed;
}
