#include "tests/unit/common/template/kit.h"

static void escapes_by_the_part_it_fills(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum template_part part;
        const char *source, *want;
    } rows[] = {
            {"HTML", TEMPLATE_HTML, "{{v}}", "O&#39;Neil &amp; &lt;Co&gt; &quot;x&quot;"},
            {"HTML, not escaped", TEMPLATE_HTML, "{{{v}}}{{&v}}",
                    "O'Neil & <Co> \"x\"O'Neil & <Co> \"x\""},
            {"text", TEMPLATE_TEXT, "{{v}}", "O'Neil & <Co> \"x\""},
            {"header", TEMPLATE_HEADER, "{{v}}", "O'Neil & <Co> \"x\""},
            {"JSON", TEMPLATE_JSON, "{\"t\":\"{{v}}\"}", "{\"t\":\"O'Neil & <Co> \\\"x\\\"\"}"},
            {"literal text is never escaped", TEMPLATE_HTML, "<b>&</b>", "<b>&</b>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = expand(slice_of(rows[i].source),
                "{\"v\":\"O'Neil & <Co> \\\"x\\\"\"}", (struct template_how){.part = rows[i].part});
        expect(rows[i].name, got, rows[i].want);
    }
}

static void lets_no_line_break_or_nul_into_a_header(void **state)
{
    (void)state;
    const struct {
        const char *name, *source, *values, *want;
    } rows[] = {
            {"the file's line end is not part of it", "Hi {{v}}\n", "{\"v\":\"x\"}", "Hi x"},
            {"nor is CRLF", "Hi\r\n", "{}", "Hi"},
            {"but the value's is", "{{v}}\n", "{\"v\":\"x\\n\"}",
                    "t:1:1: a line break can't stand in a header"},
            {"LF in a value", "Hi {{v}}", "{\"v\":\"x\\nBcc: y\"}",
                    "t:1:4: a line break can't stand in a header"},
            {"CR in a value", "Hi {{{v}}}", "{\"v\":\"x\\ry\"}",
                    "t:1:4: a line break can't stand in a header"},
            {"NUL in a value", "Hi {{v}}", "{\"v\":\"x\\u0000y\"}",
                    "t:1:4: a NUL can't stand in a message"},
            {"two lines in the template", "a\nb", "{}",
                    "t:1:1: a line break can't stand in a header"},
            {"an empty line at the end", "a\n\n", "{}",
                    "t:1:1: a line break can't stand in a header"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = expand(slice_of(rows[i].source), rows[i].values,
                (struct template_how){.part = TEMPLATE_HEADER});
        expect(rows[i].name, got, rows[i].want);
    }
}

static void names_the_place_of_a_missing_value(void **state)
{
    (void)state;
    const struct {
        const char *name, *source, *values, *want;
    } rows[] = {
            {"missing", "a\n\xC3\xA9 {{order.id}}", "{}", "t:2:3: 'order.id' has no value"},
            {"missing, not escaped", "{{{x}}}", "{}", "t:1:1: 'x' has no value"},
            {"null", "{{x}}", "{\"x\":null}", "t:1:1: 'x' has no value"},
            {"broken chain", "{{#a}}{{b.c}}{{/a}}", "{\"a\":{\"b\":{}},\"b\":{\"c\":1}}",
                    "t:1:7: 'b.c' has no value"},
            {"a group", "{{x}}", "{\"x\":{}}",
                    "t:1:1: 'x' is not one value but a group; name a field of it"},
            {"a list", "{{x}}", "{\"x\":[1]}",
                    "t:1:1: 'x' is not one value but a list; write a section around it"},
            {"no partial", "{{>nope}}", "{}", "t:1:1: there is no partial 'nope'"},
            {"no parent", "a {{<nope}}{{$b}}x{{/b}}{{/nope}}", "{}",
                    "t:1:3: there is no parent 'nope'"},
            {"in a block that is passed", "{{<mail}}\n{{$body}}{{gone}}{{/body}}{{/mail}}", "{}",
                    "t:2:10: 'gone' has no value"},
            {"in a block that is replaced", "{{<mail}}{{$title}}x{{/title}}{{/mail}}", "{}",
                    "<x|>"},
            {"in the default of a block", "{{$a}}{{gone}}{{/a}}", "{}",
                    "t:1:7: 'gone' has no value"},
            {"in a partial", "{{>bad}}", "{}", "bad:2:2: 'gone' has no value"},
            {"an empty string is a value", "[{{x}}]", "{\"x\":\"\"}", "[]"},
            {"a section asks whether it is there", "{{#x}}{{x}}{{/x}}{{^x}}none{{/x}}", "{}",
                    "none"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got =
                expand(slice_of(rows[i].source), rows[i].values, (struct template_how){0});
        expect(rows[i].name, got, rows[i].want);
    }
}

static void expands_values_of_every_kind(void **state)
{
    (void)state;
    const struct {
        const char *name, *source, *values, *want;
    } rows[] = {
            {"integer", "{{x}}", "{\"x\":9223372036854775807}", "9223372036854775807"},
            {"real in its shortest form", "{{x}} {{y}}", "{\"x\":1.21,\"y\":0.1}", "1.21 0.1"},
            {"booleans", "{{x}} {{y}}", "{\"x\":true,\"y\":false}", "true false"},
            {"zero is there", "{{#x}}{{x}}{{/x}}", "{\"x\":0}", "0"},
            {"an empty string is not", "{{^x}}none{{/x}}", "{\"x\":\"\"}", "none"},
            {"a list with the current value", "{{#x}}{{.}},{{/x}}", "{\"x\":[1,\"b\",2.5]}",
                    "1,b,2.5,"},
            {"once key", "order-paid/{{order.id}}", "{\"order\":{\"id\":\"1001\"}}",
                    "order-paid/1001"},
            {"no values needed", "plain", "null", "plain"},
            {"empty", "", "{}", ""},
            {"tree of partials", "{{>tree}}",
                    "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[]},{\"v\":3,\"kids\":[]}]}", "1[2][3]"},
            {"indents add up", " {{>outer}}\n", "{}", " (\n   a\n   b\n )\n"},
            {"partials without a space keep the indent around", "  {{>lines}}\n", "{}",
                    "  a\n  b\n"},
            {"other delimiters", "{{=<% %>=}}<%x%> {{x}} <%{x}%>", "{\"x\":1}", "1 {{x}} 1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got =
                expand(slice_of(rows[i].source), rows[i].values, (struct template_how){0});
        expect(rows[i].name, got, rows[i].want);
    }
}

static void says_where_the_syntax_is_wrong_and_what_to_do(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice source;
        const char *want;
    } rows[] = {
            {"unclosed tag", SLICE("a\n b {{x"),
                    "t:2:4: this tag does not end; close it with '}}'"},
            {"unclosed triple", SLICE("{{{x}}"),
                    "t:1:1: this tag does not end; close it with '}}}'"},
            {"unclosed comment", SLICE("{{! x }"),
                    "t:1:1: this tag does not end; close it with '}}'"},
            {"only the opening", SLICE("{{"), "t:1:1: this tag does not end; close it with '}}'"},
            {"empty tag", SLICE("{{ }}"), "t:1:1: this tag names nothing"},
            {"empty section", SLICE("{{#}}{{/}}"), "t:1:1: this tag names nothing"},
            {"space in a name", SLICE("{{a b}}"),
                    "t:1:1: a name has no space in it: 'a b'; is the tag before it not closed?"},
            {"empty part", SLICE("{{a..b}}"), "t:1:1: a part of the name 'a..b' is empty"},
            {"leading dot", SLICE("{{.a}}"), "t:1:1: a part of the name '.a' is empty"},
            {"unclosed section", SLICE("x\n{{#a}}"),
                    "t:2:1: section 'a' does not end; close it with {{/a}}"},
            {"crossed sections", SLICE("{{#a}}\n{{#b}}{{/a}}{{/b}}"),
                    "t:2:7: section 'b' opened at 2:1 ends first; write {{/b}} before this"},
            {"end without a section", SLICE("{{/a}}"), "t:1:1: no section 'a' is open here"},
            {"dynamic name", SLICE("{{>*a}}"),
                    "t:1:1: a name can't begin with '$', '<' or '*': '*a' (dynamic names are not "
                    "part of this language)"},
            {"dynamic parent", SLICE("{{<*a}}{{/*a}}"),
                    "t:1:1: a name can't begin with '$', '<' or '*': '*a' (dynamic names are not "
                    "part of this language)"},
            {"unclosed block", SLICE("x\n{{$a}}"),
                    "t:2:1: block 'a' does not end; close it with {{/a}}"},
            {"unclosed parent", SLICE("{{<a}}"),
                    "t:1:1: parent 'a' does not end; close it with {{/a}}"},
            {"crossed block", SLICE("{{<p}}{{$a}}{{/p}}"),
                    "t:1:13: block 'a' opened at 1:7 ends first; write {{/a}} before this"},
            {"value between the blocks", SLICE("{{<p}}\n {{x}}{{/p}}"),
                    "t:2:2: only blocks stand in parent 'p'; write this tag inside of one"},
            {"one delimiter", SLICE("{{=<%=}}"),
                    "t:1:1: delimiters are two words of at most 8 bytes without '=', as in {{=<% "
                    "%>=}}"},
            {"three delimiters", SLICE("{{=a b c=}}"),
                    "t:1:1: delimiters are two words of at most 8 bytes without '=', as in {{=<% "
                    "%>=}}"},
            {"long delimiter", SLICE("{{=<<<<<<<<< >=}}"),
                    "t:1:1: delimiters are two words of at most 8 bytes without '=', as in {{=<% "
                    "%>=}}"},
            {"invalid UTF-8", SLICE("ab\n\xFF"),
                    "t:2:1: template is not UTF-8 text; save it as UTF-8"},
            {"NUL", SLICE("ab\0"), "t:1:3: template is not UTF-8 text; save it as UTF-8"},
            {"byte order mark", SLICE("\xEF\xBB\xBFx"),
                    "t:1:1: template starts with a byte order mark; save it without"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        assert_row(!template_new("t", rows[i].source, &err), rows[i].name);
        assert_row(err.kind == ERR_INPUT, rows[i].name);
        expect(rows[i].name, err.msg, rows[i].want);
    }
}

// n times str.
static char *times(size_t n, const char *str, const char *tail)
{
    AUTO_TEXT struct text text = {.max = 1 << 24};
    for (size_t i = 0; i < n; i++)
        assert_true(text_str(&text, str));
    assert_true(text_str(&text, tail));
    return text_steal(&text);
}

static void refuses_templates_past_its_limits(void **state)
{
    (void)state;
    AUTO_FREE char *deep = times(TEMPLATE_SECTIONS_MAX + 1, "{{#a}}", "");
    AUTO_FREE char *large = times(TEMPLATE_SOURCE_MAX, "x", "x");
    AUTO_FREE char *name = times(300, "n", "}}");
    AUTO_FREE char *bomb = times(100000, "{{", "");
    char long_name[400];
    snprintf(long_name, sizeof long_name, "{{%s", name);
    const struct {
        const char *name, *source, *want;
    } rows[] = {
            {"deep sections", deep, "t:1:193: sections are nested deeper than 32"},
            {"large source", large, "t:1:1: template is longer than 262144 bytes"},
            {"long name", long_name, "t:1:1: a name is longer than 255 bytes"},
            {"only openings", bomb, "t:1:1: this tag does not end; close it with '}}}'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        assert_row(!template_new("t", slice_of(rows[i].source), &err), rows[i].name);
        expect(rows[i].name, err.msg, rows[i].want);
    }
}

static void bounds_what_an_expansion_may_take(void **state)
{
    (void)state;
    AUTO_FREE char *list = times(2999, "0,", "0]}");
    AUTO_FREE char *kids = times(40, "{\"v\":1,\"kids\":[", "");
    AUTO_FREE char *ends = times(40, "]}", "");
    AUTO_FREE char *many = xmalloc(strlen(list) + 10);
    AUTO_FREE char *deep = xmalloc(strlen(kids) + strlen(ends) + 1);
    snprintf(many, strlen(list) + 10, "{\"x\":[%s", list);
    snprintf(deep, strlen(kids) + strlen(ends) + 1, "%s%s", kids, ends);
    const struct {
        const char *name, *source, *values, *want;
    } rows[] = {
            {"giant result", "{{#x}}{{#x}}spam{{/x}}{{/x}}", many,
                    "t:1:13: the message is longer than 4000 bytes"},
            {"loops that write nothing", "{{#x}}{{#x}}{{^x}}{{/x}}{{/x}}{{/x}}", many,
                    "t:1:7: expansion takes more than 200000 steps"},
            {"a partial that contains itself", "{{>loop}}", "{}",
                    "loop:1:1: partials are nested deeper than 32; does 'loop' contain itself?"},
            {"a parent that is its own", "{{<parents}}{{/parents}}", "{}",
                    "parents:1:1: partials are nested deeper than 32; does 'parents' contain "
                    "itself?"},
            {"a block that passes itself",
                    "{{<mail}}{{$body}}{{<mail}}{{$body}}{{$body}}x{{/body}}{{/body}}{{/mail}}"
                    "{{/body}}{{/mail}}",
                    "{}", "<none|<none|x>>"},
            {"a tree that is too deep", "{{>tree}}", deep,
                    "tree:1:16: partials are nested deeper than 32; does 'tree' contain itself?"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got =
                expand(slice_of(rows[i].source), rows[i].values, (struct template_how){0});
        expect(rows[i].name, got, rows[i].want);
    }
}

static void says_what_it_becomes_before_there_are_values(void **state)
{
    (void)state;
    const struct {
        const char *source, *line, *outline; // line: NULL = one; outline: NULL = nobody knows
    } rows[] = {
            {"", NULL, ""},
            {"a {{b}}{{! c }}\r\n", NULL, "a 1\r\n"},
            {"a\n\n", "t:1:2: a line break can't stand in a header: write it on one line", "a\n\n"},
            {"a {{b}}\nc", "t:1:8: a line break can't stand in a header: write it on one line",
                    "a 1\nc"},
            {"{{{b}}}", NULL, NULL},
            {"{{#b}}\nc\n{{/b}}\n", NULL, NULL},
            {"{{<b}}\n\n{{$c}}d\n{{/c}}{{/b}}", NULL, NULL},
            {"{{>b}}", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        AUTO_TEXT struct text out = {.max = 100};
        struct template *t = parse("t", slice_of(rows[i].source));
        assert_int_equal(template_one_line(t, &err), rows[i].line == NULL);
        if (rows[i].line)
            expect(rows[i].source, err.msg, rows[i].line);
        assert_int_equal(template_outline(t, &out), rows[i].outline != NULL);
        if (rows[i].outline)
            expect(rows[i].source, text_cstr(&out), rows[i].outline);
        template_free(t);
    }
}

static void fills_the_ceiling_to_the_last_byte(void **state)
{
    (void)state;
    struct template *t = parse("t", SLICE("{{v}}"));
    AUTO_JSON_TREE struct json_tree json = load("{\"v\":\"12&45\"}");
    struct template_how html = {.part = TEMPLATE_HTML};
    for (size_t max = 0; max <= 9; max++) {
        AUTO_TEXT struct text out = {.max = max};
        bool ok = template_expand(t, &html, json.nodes, &out, NULL);
        assert_int_equal(ok, max >= strlen("12&amp;45"));
        assert_int_equal(out.len, ok ? 9 : 0);
    }
    template_free(t);
}

static void write_name(void *ctx, const struct template_name *name)
{
    static const char *const use[] = {
            "value", "raw", "section", "inverted", "partial", "parent", "block"};
    assert_true(text_fmt(ctx, "%u:%u %s%s %.*s in '%.*s'\n", name->line, name->col,
            name->passed ? "passed " : "", use[name->use], (int)name->name.len,
            (const char *)name->name.ptr, (int)name->section.len, (const char *)name->section.ptr));
}

static void lists_the_names_it_uses_with_their_places(void **state)
{
    (void)state;
    AUTO_TEXT struct text out = {.max = 1000};
    struct template *t =
            parse("t", SLICE("{{order.id}} {{! no }}{{{b}}}\n{{#items}}{{^gone}}\n{{.}}"
                             "{{/gone}}{{x}}{{/items}}{{>foot}}{{order.id}}\n"
                             "{{<mail}}{{$body}}{{y}}{{#z}}{{w}}{{/z}}{{/body}}{{/mail}}{{v}}"));
    template_names(t, write_name, &out);
    expect("names", text_cstr(&out),
            "1:1 value order.id in ''\n"
            "1:23 raw b in ''\n"
            "2:1 section items in ''\n"
            "2:11 inverted gone in 'items'\n"
            "3:1 value . in 'gone'\n"
            "3:15 value x in 'items'\n"
            "3:30 partial foot in ''\n"
            "3:39 value order.id in ''\n"
            "4:1 parent mail in ''\n"
            "4:10 passed block body in ''\n"
            "4:19 passed value y in ''\n"
            "4:24 passed section z in ''\n"
            "4:30 passed value w in 'z'\n"
            "4:59 value v in ''\n");
    template_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(escapes_by_the_part_it_fills),
            cmocka_unit_test(lets_no_line_break_or_nul_into_a_header),
            cmocka_unit_test(names_the_place_of_a_missing_value),
            cmocka_unit_test(expands_values_of_every_kind),
            cmocka_unit_test(says_where_the_syntax_is_wrong_and_what_to_do),
            cmocka_unit_test(refuses_templates_past_its_limits),
            cmocka_unit_test(bounds_what_an_expansion_may_take),
            cmocka_unit_test(says_what_it_becomes_before_there_are_values),
            cmocka_unit_test(fills_the_ceiling_to_the_last_byte),
            cmocka_unit_test(lists_the_names_it_uses_with_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
