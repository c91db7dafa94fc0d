// Where parents and blocks put text that the Mustache suite does not say.
#include "tests/unit/common/template/kit.h"

static void puts_blocks_into_their_parents(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum template_part part;
        const char *source, *want;
    } rows[] = {
            {"values are escaped", TEMPLATE_HTML,
                    "{{<mail}}{{$title}}{{v}}{{/title}}{{$body}}{{{v}}}{{/body}}{{/mail}}",
                    "<a&amp;b|a&b>"},
            {"in JSON too", TEMPLATE_JSON, "{{<mail}}{{$body}}{{q}}{{/body}}{{/mail}}",
                    "<none|\\\">"},
            {"a header loses the last line end", TEMPLATE_HEADER,
                    "{{<mail}}\n{{$body}}\nx\n{{/body}}\n{{/mail}}\n", "<none|x>"},
            {"blocks that the parent lacks go nowhere", TEMPLATE_TEXT,
                    "{{<mail}}{{$other}}{{gone}}{{/other}}{{/mail}}", "<none|>"},
            {"lines get the indent of their place", TEMPLATE_TEXT,
                    "{{<letter}}\n{{$body}}\na\n{{v}}\n\n  b\n{{/body}}\n{{/letter}}\n",
                    "Hi\n  a\n  a&b\n  \n    b\nBye\n"},
            {"and one that starts in its tag's line", TEMPLATE_TEXT,
                    "{{<letter}}{{$body}}{{v}}\n{{/body}}{{/letter}}", "Hi\n  a&b\nBye\n"},
            {"CRLF", TEMPLATE_TEXT,
                    "{{<letter}}\r\n{{$body}}\r\n\ta\r\n\tb\r\n{{/body}}\r\n{{/letter}}\r\n",
                    "Hi\n  a\r\n  b\r\nBye\n"},
            {"an empty block writes no indent", TEMPLATE_TEXT,
                    "{{<letter}}{{$body}}{{/body}}{{/letter}}", "Hi\nBye\n"},
            {"a partial in a block", TEMPLATE_TEXT,
                    "{{<letter}}\n  {{$body}}\n  -\n  {{>line}}\n  {{/body}}\n{{/letter}}\n",
                    "Hi\n  -\n  a\n  b\nBye\n"},
            {"a parent in a block", TEMPLATE_TEXT,
                    "{{<letter}}\n{{$body}}\n{{<letter}}\n{{$body}}\nx\n{{/body}}\n{{/letter}}\n"
                    "{{/body}}\n{{/letter}}\n",
                    "Hi\n  Hi\n    x\n  Bye\nBye\n"},
            {"text around a parent stays", TEMPLATE_TEXT,
                    "  {{<mail}}{{/mail}} x\n{{<mail}}{{/mail}} \n", "  <none|> x\n<none|>"},
            {"the parent's context", TEMPLATE_TEXT, "{{<each}}{{$row}}{{n}}{{/row}}{{/each}}",
                    "1;2;"},
            {"other delimiters", TEMPLATE_TEXT,
                    "{{=<% %>=}}<%<mail%><%$body%>{{v}}<%/body%><%/mail%>", "<none|{{v}}>"},
            {"space in the tags", TEMPLATE_TEXT,
                    "{{ < mail }}{{ $ body }}x{{ / body }}{{ / mail }}", "<none|x>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = expand(slice_of(rows[i].source),
                "{\"v\":\"a&b\",\"q\":\"\\\"\",\"list\":[{\"n\":1},{\"n\":2}]}",
                (struct template_how){.part = rows[i].part});
        expect(rows[i].name, got, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(puts_blocks_into_their_parents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
