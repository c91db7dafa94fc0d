// What is found in the texts of a policy: partials, layouts and locales.
#include "cli/context.h"
#include "tests/unit/common/config/kit.h"

enum { EXTRA_MAX = 4 };

struct row {
    const char *name;
    const char *extra[EXTRA_MAX][2]; // path, body
    const char *want;                // part of the findings; NULL = there are none
    bool error;
};

static const struct row rows[] = {
        {"nothing to find", {{0}}, NULL, false},
        {"a parent in layouts",
                {{"receipt/email.en.html.mustache", "{{<page}}{{/page}}"},
                        {"layouts/page.mustache", "x"}},
                NULL, false},
        {"a parent in partials",
                {{"receipt/email.en.html.mustache", "{{<page}}{{/page}}"},
                        {"partials/page.mustache", "x"}},
                NULL, false},
        {"a partial of the message",
                {{"receipt/email.en.html.mustache", "{{>page}}"}, {"receipt/page.mustache", "x"}},
                NULL, false},
        {"no parent", {{"receipt/email.en.html.mustache", "a\n {{<page}}{{/page}}"}},
                "receipt/email.en.html.mustache:2:2: error: there is no 'page': it would be "
                "receipt/page.mustache, or in layouts/ or partials/ [template-partial]",
                true},
        {"no partial, in a block of a parent",
                {{"receipt/email.en.html.mustache", "{{<page}}{{$b}}{{>foot}}{{/b}}{{/page}}"},
                        {"layouts/page.mustache", "x"}},
                "receipt/email.en.html.mustache:1:16: error: there is no 'foot'", true},
        {"a partial of another message",
                {{"receipt/email.en.html.mustache", "{{>page}}"},
                        {"login-code/page.mustache", "x"}},
                "receipt/email.en.html.mustache:1:1: error: there is no 'page'", true},
        {"a layout may name what messages have",
                {{"layouts/page.mustache", "{{>end}}"}, {"receipt/end.mustache", "x"}}, NULL,
                false},
        {"a layout that names what is nowhere", {{"layouts/page.mustache", "{{>end}}"}},
                "layouts/page.mustache:1:1: error: there is no 'end': it would be "
                "<message>/end.mustache",
                true},
        {"a locale that is whole",
                {{"receipt/email.de.subject.mustache", "x"},
                        {"receipt/email.de.text.mustache", "x"}},
                NULL, false},
        {"a locale without a body", {{"receipt/email.de.subject.mustache", "x"}},
                "receipt/email.de.subject.mustache: warning: is not used: message 'receipt' has no "
                "text or "
                "html in locale 'de', so that mail takes another [template-locale]",
                false},
        {"a locale without a subject", {{"receipt/email.de-AT.text.mustache", "x"}},
                "receipt/email.de-AT.text.mustache: warning: is not used: message 'receipt' has no "
                "subject "
                "in locale 'de-AT'",
                false},
        {"a locale with less than the default's",
                {{"receipt/email.en.html.mustache", "x"},
                        {"receipt/email.de.subject.mustache", "x"},
                        {"receipt/email.de.text.mustache", "x"}},
                "receipt/email.de.subject.mustache: warning: message 'receipt' has no html in "
                "locale 'de', "
                "and has it in 'en': its mails go without [template-locale]",
                false},
        {"a locale with more",
                {{"receipt/email.de.subject.mustache", "x"},
                        {"receipt/email.de.text.mustache", "x"},
                        {"receipt/email.de.html.mustache", "x"}},
                NULL, false},
        {"a subject of two lines", {{"receipt/email.de.subject.mustache", "Thanks\nfor {{x}}"}},
                "receipt/email.de.subject.mustache:1:7: error: a line break can't stand in a "
                "header: write it on one line [template-part]",
                true},
        {"a subject with a line that is there at times",
                {{"receipt/email.de.subject.mustache",
                        "{{#a}}\nOne\n{{/a}}\n{{^a}}\nTwo\n{{/a}}\n"}},
                "receipt/email.de.subject.mustache:2:4: error: a line break", true},
        {"a subject with the line end of its file, and a text of two lines",
                {{"receipt/email.de.subject.mustache",
                         "{{! of the receipt }}\nThanks {{#a}}x{{/a}}\r\n"},
                        {"receipt/email.de.text.mustache", "a\nb"}},
                NULL, false},
        {"push data that is no JSON",
                {{"sent/push.en.data.mustache", "{\"order\": {{order.id}}, \"a\": b}"}},
                "sent/push.en.data.mustache: error: makes no JSON object: with 1 for each value "
                "json: byte 18: ",
                true},
        {"push data that is a list", {{"sent/push.en.data.mustache", "[{{order.id}}]\n"}},
                "sent/push.en.data.mustache: error: makes JSON, but no object: begin it with '{'",
                true},
        {"push data of which values decide",
                {{"sent/push.en.data.mustache", "{\"a\": {{data.a}}}\n"},
                        {"sent/push.de.text.mustache", "x"},
                        {"sent/push.de.data.mustache", "{{{data.all}}}"}},
                NULL, false},
};

static void check(const struct row *row)
{
    struct policy_known known = kit_known;
    known.template_partials = policy_knowledge_of_files.template_partials;
    known.template_part_ok = policy_knowledge_of_files.template_part_ok;
    AUTO_FREE char *body = kit_read("policy.yaml");
    struct policy_text file = kit_text("f.yaml", body, strlen(body));
    size_t n = 0;
    struct policy_text *texts = kit_templates(&n);
    texts = xrealloc(texts, (n + EXTRA_MAX) * sizeof *texts);
    for (size_t i = 0; i < EXTRA_MAX && row->extra[i][0]; i++)
        texts[n++] = kit_text(row->extra[i][0], row->extra[i][1], strlen(row->extra[i][1]));
    struct diag diag = {0};
    struct policy *policy = policy_new(&file, 1, texts, n, &known, &diag);
    AUTO_TEXT struct text out = {.max = 1 << 20};
    diag_print(&diag, &out);
    bool told = row->want ? strstr(text_cstr(&out), row->want) != NULL
                          : !strstr(text_cstr(&out), "mustache");
    if (!told || (policy == NULL) != row->error) {
        fputs(text_cstr(&out), stderr);
        fail_msg("%s", row->name);
    }
    policy_unref(policy);
    diag_fini(&diag);
    policy_texts_free(texts, n);
    free(file.path);
    free(file.body);
}

static void findings_in_texts_have_their_place_and_the_way_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&rows[i]);
}

static void partials_are_looked_for_from_the_message_outwards(void **state)
{
    (void)state;
    static const char *const want[] = {
            "receipt/foot.mustache", "layouts/foot.mustache", "partials/foot.mustache"};
    char path[30];
    for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
        assert_true(policy_partial_path("receipt", SLICE("foot"), i, path, sizeof path));
        assert_string_equal(path, want[i]);
    }
    assert_false(policy_partial_path("receipt", SLICE("foot"), 3, path, sizeof path));
    assert_false(policy_partial_path("receipt", SLICE("foot"), 0, path, 21));
    assert_true(policy_partial_path("receipt", SLICE("foot"), 0, path, 22));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(findings_in_texts_have_their_place_and_the_way_out),
            cmocka_unit_test(partials_are_looked_for_from_the_message_outwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
