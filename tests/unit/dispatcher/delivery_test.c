#include "dispatcher/delivery.h"
#include "tests/test.h"

static void names_every_state_and_outcome(void **state)
{
    (void)state;
    assert_string_equal(delivery_state_name(DELIVERY_DUE), "due");
    assert_string_equal(delivery_state_name(DELIVERY_UNKNOWN), "unknown");
    assert_string_equal(delivery_state_name(DELIVERY_COMPLAINED), "complained");
    assert_string_equal(attempt_outcome_name(ATTEMPT_ACCEPTED), "accepted");
    assert_string_equal(attempt_outcome_name(ATTEMPT_GIVEN_BACK), "given_back");
    assert_string_equal(delivery_state_name((enum delivery_state)99), "invalid");
    assert_string_equal(attempt_outcome_name((enum attempt_outcome) - 1), "invalid");
}

static struct content sample(void)
{
    return (struct content){
            .from = xstrdup("Shop <shop@example.net>"),
            .to = xstrdup("ann@example.org"),
            .subject = xstrdup("Grüße \"quoted\" \\ 😀"),
            .html = xstrdup("<p>\n</p>"),
            .message_id = xstrdup("0123@example.net"),
            .date = xstrdup("Sun, 29 Nov 2026 12:00:00 +0000"),
    };
}

static void content_survives_the_way_through_json(void **state)
{
    (void)state;
    struct content content = sample(), back = {0};
    struct text json;
    text_init(&json, 4096);
    struct err err;
    assert_true(content_to_json(&content, &json));
    assert_true(content_from_json(text_slice(&json), &back, &err));
    assert_string_equal(back.from, content.from);
    assert_string_equal(back.to, content.to);
    assert_string_equal(back.subject, content.subject);
    assert_null(back.text);
    assert_string_equal(back.html, content.html);
    assert_string_equal(back.message_id, content.message_id);
    assert_string_equal(back.date, content.date);
    content_fini(&content);
    content_fini(&back);
    text_fini(&json);
}

static void attachments_are_stored_by_path_size_and_hash(void **state)
{
    (void)state;
    struct content content = sample(), back = {0};
    struct text json;
    struct err err;
    content.attachments = xcalloc(2, sizeof content.attachments[0]);
    content.n_attachments = 2;
    content.attachments[0] = (struct attachment){.path = xstrdup("in/\"1\".pdf"), .size = 5};
    content.attachments[1] = (struct attachment){.path = xstrdup("b"), .size = 5242880};
    memset(content.attachments[1].sha256, 0xa5, 32);
    text_init(&json, 4096);
    assert_true(content_to_json(&content, &json));
    assert_non_null(
            strstr(text_cstr(&json), ",\"attachments\":[{\"path\":\"in/\\\"1\\\".pdf\",\"size\":5,"
                                     "\"sha256\":\"0000"));
    assert_true(content_from_json(text_slice(&json), &back, &err));
    assert_int_equal(back.n_attachments, 2);
    assert_string_equal(back.attachments[0].path, "in/\"1\".pdf");
    assert_int_equal(back.attachments[1].size, 5242880);
    assert_memory_equal(back.attachments[1].sha256, content.attachments[1].sha256, 32);
    content_fini(&content);
    content_fini(&back);
    text_fini(&json);
}

static void content_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    struct content content = sample();
    struct text json;
    text_init(&json, 40);
    assert_false(content_to_json(&content, &json));
    text_fini(&json);
    content_fini(&content);
}

static void content_that_is_not_utf8_is_an_error(void **state)
{
    (void)state;
    struct content content = sample();
    free(content.subject);
    content.subject = xstrdup("\xff");
    struct text json;
    text_init(&json, 4096);
    assert_false(content_to_json(&content, &json));
    text_fini(&json);
    content_fini(&content);
}

static void refuses_stored_content_it_can_not_read_whole(void **state)
{
    (void)state;
    static const char *const rows[] = {
            "",
            "[]",
            "{",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\"}",
            "{\"from\":\"a\",\"to\":\"b\",\"message_id\":\"c\",\"date\":\"d\"}",
            "{\"from\":\"a\",\"to\":\"b\",\"html\":\"c\"}",
            "{\"from\":\"a\",\"to\":7,\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\"}",
            "{\"from\":\"a\",\"to\":\"b\\u0000c\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":"
            "\"e\"}",
            "{\"from\":\"a\",\"from\":\"b\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\","
            "\"date\":\"e\"}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"html\":null}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":{}}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[7]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[{\"size\":1,\"sha256\":"
            "\"0000000000000000000000000000000000000000000000000000000000000000\"}]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[{\"path\":\"a\",\"size\":0,\"sha256\":"
            "\"0000000000000000000000000000000000000000000000000000000000000000\"}]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[{\"path\":\"a\",\"size\":\"1\",\"sha256\":"
            "\"0000000000000000000000000000000000000000000000000000000000000000\"}]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[{\"path\":\"a\",\"size\":1,\"sha256\":"
            "\"000000000000000000000000000000000000000000000000000000000000000\"}]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[{\"path\":\"a\",\"size\":1,\"sha256\":"
            "\"000000000000000000000000000000000000000000000000000000000000000G\"}]}",
            "{\"from\":\"a\",\"to\":\"b\",\"subject\":\"c\",\"message_id\":\"d\",\"date\":\"e\","
            "\"attachments\":[{\"path\":\"a\",\"size\":1}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct content content;
        struct err err = {0};
        assert_row(!content_from_json(slice_of(rows[i]), &content, &err), rows[i]);
        assert_int_equal(err.kind, ERR_INPUT);
    }
}

static void frees_what_a_delivery_owns(void **state)
{
    (void)state;
    struct delivery *delivery = xcalloc(1, sizeof *delivery);
    delivery->target = xstrdup("t");
    delivery->address = xstrdup("a");
    delivery->once = xstrdup("o");
    delivery->content = sample();
    delivery_free(delivery);
    delivery_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(names_every_state_and_outcome),
            cmocka_unit_test(content_survives_the_way_through_json),
            cmocka_unit_test(attachments_are_stored_by_path_size_and_hash),
            cmocka_unit_test(content_that_does_not_fit_is_an_error),
            cmocka_unit_test(content_that_is_not_utf8_is_an_error),
            cmocka_unit_test(refuses_stored_content_it_can_not_read_whole),
            cmocka_unit_test(frees_what_a_delivery_owns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
