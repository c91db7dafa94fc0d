#include "receiver/http/answer.h"
#include "tests/test.h"

static char *body_of(enum answer_row row, const struct arrival *arrival, struct answer_shape *shape)
{
    struct text out;
    text_init(&out, ANSWER_BODY_MAX);
    answer_make(row, arrival, shape, &out);
    assert_false(out.overflow);
    return text_steal(&out);
}

static void answers_by_the_table_of_the_design(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum answer_row row;
        int status;
        const char *code, *headers; // C close, R Retry-After, A Allow (G: GET too), W challenge
    } rows[] = {
            {"malformed", ROW_MALFORMED, 400, "malformed_http", "C"},
            {"no idempotency key", ROW_NO_KEY, 400, "idempotency_key_missing", ""},
            {"unauthorized", ROW_UNAUTHORIZED, 401, "unauthorized", "W"},
            {"unknown source", ROW_NOT_FOUND, 404, "unknown_source", ""},
            {"wrong method", ROW_METHOD, 405, "method_not_allowed", "A"},
            {"wrong method of a link", ROW_LINK_METHOD, 405, "method_not_allowed", "AG"},
            {"in flight", ROW_IN_FLIGHT, 409, "in_flight", "R"},
            {"too large", ROW_TOO_LARGE, 413, "too_large", ""},
            {"mismatch", ROW_MISMATCH, 422, "idempotency_mismatch", ""},
            {"unreadable", ROW_UNREADABLE, 422, "unreadable", ""},
            {"unavailable", ROW_UNAVAILABLE, 503, "unavailable", "R"},
            {"deadline", ROW_DEADLINE, 503, "deadline", "R"},
            {"rate", ROW_RATE, 429, "rate", "R"},
            {"queue full", ROW_QUEUE_FULL, 503, "queue_full", "R"},
            {"no secret", ROW_NO_SECRET, 503, "source_without_secret", "R"},
            {"key not there yet", ROW_KEY_AWAY, 503, "key_fetching", "RS"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct answer_shape shape;
        AUTO_FREE char *body = body_of(rows[i].row, NULL, &shape);
        assert_row(shape.status == rows[i].status, rows[i].name);
        assert_row(strcmp(shape.content_type, "application/problem+json") == 0, rows[i].name);
        assert_row(shape.close == (strchr(rows[i].headers, 'C') != NULL), rows[i].name);
        assert_row(shape.retry_after == (strchr(rows[i].headers, 'R') != NULL), rows[i].name);
        assert_row(shape.soon == (strchr(rows[i].headers, 'S') != NULL), rows[i].name);
        assert_row(!shape.allow == !strchr(rows[i].headers, 'A'), rows[i].name);
        const char *allow = strchr(rows[i].headers, 'G') ? "GET, POST" : "POST";
        assert_row(!shape.allow || strcmp(shape.allow, allow) == 0, rows[i].name);
        assert_row(shape.authenticate == (strchr(rows[i].headers, 'W') != NULL), rows[i].name);
        assert_row(strcmp(answer_code(rows[i].row), rows[i].code) == 0, rows[i].name);
        assert_row(strstr(body, "\"code\":\"") && strstr(body, rows[i].code), rows[i].name);
    }
}

static void answers_a_provider_in_its_own_style(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum reply_style style;
        int status;
        const char *body, *type;
        int refusal;
    } rows[] = {
            {"default", STYLE_DEFAULT, 200, "{\"received\":true}\n", "application/json", 401},
            {"xero", STYLE_EMPTY, 200, "", NULL, 401},
            {"discord", STYLE_NO_CONTENT, 204, "", NULL, 401},
            {"adyen", STYLE_ACCEPTED, 200, "[accepted]", "text/plain", 401},
            {"adobe", STYLE_CLIENT_ID, 200, "{\"received\":true}\n", "application/json", 401},
            {"gocardless", STYLE_REFUSE_498, 200, "{\"received\":true}\n", "application/json", 498},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct answer_shape shape;
        AUTO_FREE char *body =
                body_of(answer_styled(answer_row_of(ANSWER_OK), rows[i].style), NULL, &shape);
        assert_row(shape.status == rows[i].status, rows[i].name);
        assert_row(strcmp(body, rows[i].body) == 0, rows[i].name);
        assert_row(rows[i].type ? strcmp(shape.content_type, rows[i].type) == 0
                                : shape.content_type == NULL,
                rows[i].name);
        AUTO_FREE char *refused =
                body_of(answer_styled(ROW_UNAUTHORIZED, rows[i].style), NULL, &shape);
        assert_row(shape.status == rows[i].refusal, rows[i].name);
        for (int row = ROW_NOT_FOUND; row < ROW_COUNT; row++)
            assert_row(answer_styled((enum answer_row)row, rows[i].style) == (enum answer_row)row,
                    rows[i].name);
    }
}

static void tells_a_provider_the_same_whatever_happened(void **state)
{
    (void)state;
    struct event event = {.id = (char[]){"evt_1"}, .order_id = (char[]){"1001"}};
    struct arrival arrival = {.events = &event, .n_events = 1};
    for (int outcome = EVENT_NONE; outcome <= EVENT_UNMAPPED; outcome++) {
        struct answer_shape shape;
        event.outcome = (enum event_outcome)outcome;
        AUTO_FREE char *body = body_of(answer_row_of(ANSWER_OK), &arrival, &shape);
        assert_int_equal(shape.status, 200);
        assert_string_equal(body, "{\"received\":true}\n");
    }
}

static void tells_an_app_the_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum event_outcome outcome;
        enum move_outcome move;
        const char *order, *want;
    } rows[] = {
            {"applied", EVENT_ACCEPTED, MOVE_APPLIED, "1001",
                    "{\"outcome\":\"applied\",\"order\":\"1001\",\"event\":\"e \\\"1\\\"\"}\n"},
            {"conflict", EVENT_ACCEPTED, MOVE_CONFLICT, "1001",
                    "{\"outcome\":\"conflict\",\"order\":\"1001\",\"event\":\"e \\\"1\\\"\"}\n"},
            {"the stored move of a repeat", EVENT_DUPLICATE, MOVE_ALREADY_DONE, "1001",
                    "{\"outcome\":\"already_done\",\"order\":\"1001\",\"event\":\"e "
                    "\\\"1\\\"\"}\n"},
            {"notify only", EVENT_ACCEPTED, MOVE_APPLIED, NULL,
                    "{\"outcome\":\"applied\",\"event\":\"e \\\"1\\\"\"}\n"},
            {"unmapped, again", EVENT_DUPLICATE, MOVE_NONE, NULL,
                    "{\"outcome\":\"unmapped\",\"event\":\"e \\\"1\\\"\"}\n"},
            {"unmapped", EVENT_UNMAPPED, MOVE_NONE, NULL,
                    "{\"outcome\":\"unmapped\",\"event\":\"e \\\"1\\\"\"}\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct event event = {
                .id = (char[]){"e \"1\""}, .outcome = rows[i].outcome, .move = rows[i].move};
        AUTO_FREE char *order = rows[i].order ? xstrdup(rows[i].order) : NULL;
        event.order_id = order;
        struct arrival arrival = {.events = &event, .n_events = 1};
        struct answer_shape shape;
        AUTO_FREE char *body = body_of(answer_row_of(ANSWER_OUTCOME), &arrival, &shape);
        assert_row(strcmp(body, rows[i].want) == 0, rows[i].name);
        assert_row(!shape.replayed && shape.status == 200, rows[i].name);
        AUTO_FREE char *again = body_of(answer_row_of(ANSWER_REPLAYED), &arrival, &shape);
        assert_row(strcmp(again, rows[i].want) == 0 && shape.replayed, rows[i].name);
    }
}

static void says_what_an_unreadable_body_lacks(void **state)
{
    (void)state;
    struct event event = {.parked_reason = "no-order", .outcome = EVENT_PARKED};
    struct arrival arrival = {.events = &event, .n_events = 1};
    struct answer_shape shape;
    AUTO_FREE char *body = body_of(ROW_UNREADABLE, &arrival, &shape);
    assert_non_null(strstr(body, "\"detail\":\"no-order\"}"));
}

static void fits_the_longest_ids(void **state)
{
    (void)state;
    char id[EVENT_ID_MAX + 1];
    memset(id, 1, EVENT_ID_MAX); // six bytes each once escaped
    id[EVENT_ID_MAX] = '\0';
    struct event event = {.id = id, .outcome = EVENT_UNMAPPED};
    struct arrival arrival = {.events = &event, .n_events = 1};
    struct answer_shape shape;
    AUTO_FREE char *body = body_of(ROW_OUTCOME, &arrival, &shape);
    assert_string_equal(body + strlen(body) - 3, "\"}\n");
}

static void never_says_4xx_for_what_is_ours(void **state)
{
    (void)state;
    static const enum answer ours[] = {ANSWER_NONE, ANSWER_UNAVAILABLE, (enum answer)99};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        assert_int_equal(answer_row_of(ours[i]), ROW_UNAVAILABLE);
}

static void counts_by_what_became_of_the_event(void **state)
{
    (void)state;
    struct event events[] = {{.outcome = EVENT_DUPLICATE}, {.outcome = EVENT_ACCEPTED}};
    struct arrival one = {.events = events, .n_events = 1};
    struct arrival both = {.events = events, .n_events = 2};
    assert_string_equal(answer_outcome(ROW_RECEIVED, &one), "duplicate");
    assert_string_equal(answer_outcome(ROW_RECEIVED, &both), "accepted");
    assert_string_equal(answer_outcome(ROW_UNAUTHORIZED, NULL), "rejected");
    assert_string_equal(answer_outcome(ROW_DEADLINE, NULL), "unavailable");
    assert_string_equal(answer_outcome(ROW_UNREADABLE, NULL), "parked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(answers_by_the_table_of_the_design),
            cmocka_unit_test(answers_a_provider_in_its_own_style),
            cmocka_unit_test(tells_a_provider_the_same_whatever_happened),
            cmocka_unit_test(tells_an_app_the_outcome),
            cmocka_unit_test(says_what_an_unreadable_body_lacks),
            cmocka_unit_test(fits_the_longest_ids),
            cmocka_unit_test(never_says_4xx_for_what_is_ours),
            cmocka_unit_test(counts_by_what_became_of_the_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
