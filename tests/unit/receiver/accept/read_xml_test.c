// XML as JSON: what pointers find of a Braintree notification, and what is not read at all.
#include "receiver/accept/read_xml.h"

#include "tests/test.h"

#include <openssl/evp.h>

static void encode(const char *xml, char *out, size_t room)
{
    assert_true(strlen(xml) * 4 / 3 + 4 < room);
    EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)xml, (int)strlen(xml));
}

static void writes_elements_as_members(void **state)
{
    (void)state;
    static const struct {
        const char *name, *xml, *json;
    } cases[] = {
            {"a notification",
                    "<notification>\n    <timestamp "
                    "type=\"datetime\">2026-11-29T14:11:12Z</timestamp>\n"
                    "    <kind>subscription_went_past_due</kind>\n    <subject><subscription>\n"
                    "    <id>sub_1</id><transactions type=\"array\"><transaction><id>t1</id>"
                    "</transaction><transaction><id>t2</id></transaction></transactions>"
                    "<add_ons type=\"array\"></add_ons><x nil=\"true\"/></subscription></subject>"
                    "</notification>",
                    "{\"notification\":{\"timestamp\":\"2026-11-29T14:11:12Z\",\"kind\":"
                    "\"subscription_went_past_due\",\"subject\":{\"subscription\":{\"id\":\"sub_"
                    "1\","
                    "\"transactions\":[{\"id\":\"t1\"},{\"id\":\"t2\"}],\"add_ons\":[],\"x\":null}}"
                    "}}"},
            {"a root of text", "<a>1</a>", "{\"a\":\"1\"}"},
            {"nothing in it", "<a/>", "{\"a\":\"\"}"},
            {"a name twice stays so", "<a><b>1</b><b>2</b></a>",
                    "{\"a\":{\"b\":\"1\",\"b\":\"2\"}}"},
            {"text beside elements", "<a>x<b>1</b>y</a>", "{\"a\":{\"b\":\"1\"}}"},
            {"entities and quotes", "<a>&lt;&#34;\\&amp;&gt;</a>", "{\"a\":\"<\\\"\\\\&>\"}"},
            {"CDATA and comments", "<?xml version=\"1.0\"?><a><!-- c -->x<![CDATA[<y>]]></a>",
                    "{\"a\":\"x<y>\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char base64[2048];
        encode(cases[i].xml, base64, sizeof base64);
        AUTO_TEXT struct text out = {.max = 0};
        assert_row(read_xml(slice_of(base64), &out), cases[i].name);
        assert_string_equal(text_cstr(&out), cases[i].json);
    }
}

static void refuses_what_is_no_plain_document(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "text", "<a>", "<a></b>", "<a/><b/>",
            "<!DOCTYPE a><a>1</a>",
            "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>",
            "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", "<a>&b;</a>", "<a>\x01</a>",
            "<a>\xff</a>"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char base64[512];
        encode(cases[i], base64, sizeof base64);
        AUTO_TEXT struct text out = {.max = 0};
        assert_row(!read_xml(slice_of(base64), &out), cases[i]);
    }
    AUTO_TEXT struct text out = {.max = 0};
    assert_false(read_xml(SLICE("no base64 <"), &out));
}

static void refuses_what_is_deeper_than_json_may_be(void **state)
{
    (void)state;
    for (int deep = 63; deep < 80; deep += 8) {
        AUTO_TEXT struct text xml = {.max = 1000};
        AUTO_TEXT struct text out = {.max = 0};
        char base64[2048];
        for (int i = 0; i < deep; i++)
            text_str(&xml, "<a>");
        for (int i = 0; i < deep; i++)
            text_str(&xml, "</a>");
        encode(text_cstr(&xml), base64, sizeof base64);
        assert_true(read_xml(slice_of(base64), &out) == (deep < 64));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(writes_elements_as_members),
            cmocka_unit_test(refuses_what_is_no_plain_document),
            cmocka_unit_test(refuses_what_is_deeper_than_json_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
