#include "receiver/verify/handshake.h"

#include "common/config/schema.h"
#include "tests/test.h"
#include <stdio.h>

#define NOW 1795961472

static char slack_name[] = "slack", verify_token[] = "tok-en";

// A source that signs as Slack does and has the handshake of `answer`.
static struct source source_with(struct secret *secret, char *answer)
{
    *secret = (struct secret){.value = SLICE("first-secret")};
    return (struct source){.name = slack_name,
            .scheme = slack_name,
            .secrets = secret,
            .n_secrets = 1,
            .handshake_token = {.value = slice_of(verify_token)},
            .handshake_answer = answer};
}

static struct verify_request request_of(const char *method, const char *target, const char *body)
{
    return (struct verify_request){.method = slice_of(method),
            .target = slice_of(target),
            .body = slice_of(body),
            .now_s = NOW};
}

#define CHALLENGE "20f9f8ed05f77439fe955c977e4c8a53"

// The digests were made by Python's hmac.
static void answers_each_question_that_needs_no_signature(void **state)
{
    (void)state;
    static const struct {
        const char *name, *answer, *method, *target, *header, *value;
        enum greeting_kind kind;
        const char *body; // or the value of the header that is sent back
    } cases[] = {
            {"meta", "meta", "GET",
                    "/hooks/m?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=tok-en",
                    NULL, NULL, GREETING_ANSWERED, "1158201444"},
            {"meta, escaped", "meta", "GET",
                    "/hooks/m?hub%2Emode=subscribe&hub.challenge=a%2bb&hub.verify_token=tok%2Den",
                    NULL, NULL, GREETING_ANSWERED, "a+b"},
            {"meta, another token", "meta", "GET",
                    "/hooks/m?hub.mode=subscribe&hub.challenge=1&hub.verify_token=tok-e", NULL,
                    NULL, GREETING_REFUSED, ""},
            {"meta, two tokens", "meta", "GET",
                    "/hooks/m?hub.mode=subscribe&hub.challenge=1&hub.verify_token=x&"
                    "hub.verify_token=tok-en",
                    NULL, NULL, GREETING_MALFORMED, ""},
            {"meta, unsubscribe", "meta", "GET",
                    "/hooks/m?hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=tok-en", NULL,
                    NULL, GREETING_MALFORMED, ""},
            {"meta, a line end to split the answer", "meta", "GET",
                    "/hooks/m?hub.mode=subscribe&hub.challenge=1%0d%0aX:%20y&hub.verify_token="
                    "tok-en",
                    NULL, NULL, GREETING_MALFORMED, ""},
            {"meta, no question", "meta", "GET", "/hooks/m", NULL, NULL, GREETING_NONE, ""},
            {"meta, posted", "meta", "POST",
                    "/hooks/m?hub.mode=subscribe&hub.challenge=1&hub.verify_token=tok-en", NULL,
                    NULL, GREETING_NONE, ""},
            {"x", "x", "GET", "/hooks/x?crc_token=MWNjYW5hcnk&nonce=1", NULL, NULL,
                    GREETING_ANSWERED,
                    "{\"response_token\":\"sha256=k5tB9sOIJH+JEJ50zY2+LWPzmAxIlTrI7vYedY+iZrk=\"}"
                    "\n"},
            {"x, empty", "x", "GET", "/hooks/x?crc_token=", NULL, NULL, GREETING_MALFORMED, ""},
            {"x, an event to be signed", "x", "GET", "/hooks/x?crc_token=%7B%22a%22%3A1%7D", NULL,
                    NULL, GREETING_MALFORMED, ""},
            {"dropbox", "dropbox", "GET", "/hooks/d?challenge=abc", NULL, NULL, GREETING_ANSWERED,
                    "abc"},
            {"dropbox, a script stays text", "dropbox", "GET",
                    "/hooks/d?challenge=%3Cscript%3E1%3C/script%3E", NULL, NULL, GREETING_ANSWERED,
                    "<script>1</script>"},
            {"dropbox, not ASCII", "dropbox", "GET", "/hooks/d?challenge=%c3%a4", NULL, NULL,
                    GREETING_MALFORMED, ""},
            {"dropbox, head", "dropbox", "HEAD", "/hooks/d?challenge=abc", NULL, NULL,
                    GREETING_NONE, ""},
            {"graph", "ms-graph", "POST",
                    "/hooks/g?validationToken=Validation%3a+Testing+client+application", NULL, NULL,
                    GREETING_ANSWERED, "Validation: Testing client application"},
            {"graph, got", "ms-graph", "GET", "/hooks/g?validationToken=a", NULL, NULL,
                    GREETING_NONE, ""},
            {"braintree", "braintree", "GET", "/hooks/b?bt_challenge=" CHALLENGE, NULL, NULL,
                    GREETING_ANSWERED, "tok-en|5db65361453c2c4efbb17579a7f4ca033d53e772"},
            {"braintree, no hex", "braintree", "GET",
                    "/hooks/b?bt_challenge=20f9f8ed05f77439fe955c977e4c8aXX", NULL, NULL,
                    GREETING_MALFORMED, ""},
            {"asana", "asana", "POST", "/hooks/a", "X-Hook-Secret", "b5372", GREETING_ANSWERED,
                    "b5372"},
            {"asana, empty", "asana", "POST", "/hooks/a", "x-hook-secret", "", GREETING_MALFORMED,
                    ""},
            {"asana, an event", "asana", "POST", "/hooks/a", "X-Hook-Signature", "b5372",
                    GREETING_NONE, ""},
            {"okta", "okta", "GET", "/hooks/o", "x-okta-verification-challenge", "a\"b",
                    GREETING_ANSWERED, "{\"verification\":\"a\\\"b\"}\n"},
            {"trello", "trello", "HEAD", "/hooks/t", NULL, NULL, GREETING_ANSWERED, ""},
            {"trello, got", "trello", "GET", "/hooks/t", NULL, NULL, GREETING_NONE, ""},
            {"adobe", "adobe", "GET", "/hooks/a", "X-AdobeSign-ClientId", "tok-en",
                    GREETING_ANSWERED, "tok-en"},
            {"adobe, another", "adobe", "GET", "/hooks/a", "X-AdobeSign-ClientId", "tok",
                    GREETING_REFUSED, ""},
            {"stripe has none", NULL, "GET", "/hooks/s?challenge=1", NULL, NULL, GREETING_NONE, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct secret secret;
        AUTO_FREE char *answer = cases[i].answer ? xstrdup(cases[i].answer) : NULL;
        struct source source = source_with(&secret, answer);
        struct verify_request request = request_of(cases[i].method, cases[i].target, "");
        struct verify_header header = {slice_of(cases[i].header), slice_of(cases[i].value)};
        request.headers = &header;
        request.n_headers = cases[i].header ? 1 : 0;
        AUTO_GREETING struct greeting greeting = {.kind = GREETING_NONE};
        handshake_answer(&source, &request, &greeting);
        const struct text *said = greeting.header ? &greeting.value : &greeting.body;
        assert_row(greeting.kind == cases[i].kind, cases[i].name);
        assert_row(strcmp(text_cstr(said), cases[i].body) == 0, cases[i].name);
        assert_row(!greeting.content_type || !strstr(greeting.content_type, "html"), cases[i].name);
    }
}

static void echoes_no_more_than_its_bound(void **state)
{
    (void)state;
    char answer[] = "dropbox", target[GREETING_ECHO_MAX + 64];
    for (int more = 0; more <= 1; more++) {
        struct secret secret;
        struct source source = source_with(&secret, answer);
        size_t len = (size_t)snprintf(target, sizeof target, "/hooks/d?challenge=");
        memset(target + len, 'a', GREETING_ECHO_MAX + (size_t)more);
        target[len + GREETING_ECHO_MAX + (size_t)more] = '\0';
        struct verify_request request = request_of("GET", target, "");
        AUTO_GREETING struct greeting greeting = {.kind = GREETING_NONE};
        handshake_answer(&source, &request, &greeting);
        assert_int_equal(greeting.kind, more ? GREETING_MALFORMED : GREETING_ANSWERED);
    }
}

static void says_that_the_token_is_missing(void **state)
{
    (void)state;
    static const struct {
        const char *name, *answer, *target;
    } cases[] = {{"meta", "meta", "/m?hub.mode=subscribe&hub.challenge=1&hub.verify_token="},
            {"braintree", "braintree", "/b?bt_challenge=" CHALLENGE}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct secret secret;
        AUTO_FREE char *answer = xstrdup(cases[i].answer);
        struct source source = source_with(&secret, answer);
        source.handshake_token.value = (struct slice){NULL, 0};
        struct verify_request request = request_of("GET", cases[i].target, "");
        AUTO_GREETING struct greeting greeting = {.kind = GREETING_NONE};
        handshake_answer(&source, &request, &greeting);
        assert_row(greeting.kind == GREETING_UNABLE, cases[i].name);
        assert_row(strcmp(greeting.reason, "handshake_token_unset") == 0, cases[i].name);
    }
}

// Signs the body as Slack does. Headers borrow from lines.
static void sign(const struct source *source, struct verify_request *request,
        struct verify_header headers[4], struct text *lines)
{
    struct err err;
    if (!verify_sign(source, request->body, SLICE("e"), NOW, lines, &err))
        fail_msg("%s", err.msg);
    struct slice rest = text_slice(lines);
    while (rest.ptr && rest.len) {
        const unsigned char *colon = memmem(rest.ptr, rest.len, ": ", 2);
        const unsigned char *end = memmem(rest.ptr, rest.len, "\r\n", 2);
        headers[request->n_headers++] = (struct verify_header){
                {rest.ptr, (size_t)(colon - rest.ptr)}, {colon + 2, (size_t)(end - colon) - 2}};
        rest = (struct slice){end + 2, rest.len - (size_t)(end + 2 - rest.ptr)};
    }
    request->headers = headers;
}

static void answers_what_is_signed_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *name, *answer, *body;
        int status; // 0: no handshake, however signed
        const char *said;
    } cases[] = {
            {"slack", "slack", "{\"type\":\"url_verification\",\"challenge\":\"3eZ\"}", 200, "3eZ"},
            {"slack, an event that speaks of it", "slack",
                    "{\"type\":\"event_callback\",\"challenge\":\"url_verification\"}", 0, ""},
            {"slack, two challenges", "slack",
                    "{\"type\":\"url_verification\",\"challenge\":\"1\",\"challenge\":\"2\"}", 0,
                    ""},
            {"zoom", "zoom",
                    "{\"payload\":{\"plainToken\":\"qgg8vlvZRS6UYooatFL8Aw\"},\"event_ts\":1,"
                    "\"event\":\"endpoint.url_validation\"}",
                    200,
                    "{\"plainToken\":\"qgg8vlvZRS6UYooatFL8Aw\",\"encryptedToken\":"
                    "\"3a7edeebc611d094c5582b49542845e7bcccc9671079774d703ae2a6df280237\"}\n"},
            {"discord events", "discord", "{\"version\":1,\"application_id\":\"1\",\"type\":0}",
                    204, ""},
            {"discord interactions", "discord", "{\"type\":1}", 200, "{\"type\":1}\n"},
            {"discord, an event", "discord", "{\"type\":1,\"event\":{\"type\":\"A\"}}", 0, ""},
            {"discord, a command", "discord", "{\"type\":2}", 0, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct secret secret;
        AUTO_FREE char *answer = xstrdup(cases[i].answer);
        struct source source = source_with(&secret, answer);
        struct verify_request request = request_of("POST", "/hooks/s", cases[i].body);
        struct verify_header headers[4];
        AUTO_TEXT struct text lines = {.max = 4096};
        AUTO_GREETING struct greeting unsigned_one = {.kind = GREETING_NONE},
                                      signed_one = {.kind = GREETING_NONE};
        handshake_answer(&source, &request, &unsigned_one);
        assert_row(unsigned_one.kind == GREETING_NONE, cases[i].name);
        sign(&source, &request, headers, &lines);
        handshake_answer(&source, &request, &signed_one);
        assert_row((signed_one.kind == GREETING_ANSWERED) == (cases[i].status != 0), cases[i].name);
        assert_row(!cases[i].status || signed_one.status == cases[i].status, cases[i].name);
        assert_row(strcmp(text_cstr(&signed_one.body), cases[i].said) == 0, cases[i].name);
    }
}

// Whoever asks has a handshake's question signed, and an event is signed in the same way.
static void takes_no_event_that_a_handshake_would_sign(void **state)
{
    (void)state;
    static const struct {
        const char *name, *scheme, *target, *body, *header;
        enum verify_reason want; // of the event
    } cases[] = {
            {"x, a token", "x", "/x?crc_token=1", "1", "X-Twitter-Webhooks-Signature",
                    VERIFY_NO_MATCH},
            {"x, a word of JSON", "x", "/x?crc_token=null", "null", "X-Twitter-Webhooks-Signature",
                    VERIFY_NO_MATCH},
            {"braintree", "braintree", "/b?bt_challenge=" CHALLENGE,
                    "bt_payload=" CHALLENGE "&bt_signature=tok-en%7C", NULL, VERIFY_NO_MATCH},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct secret secret;
        struct source source = source_with(&secret, NULL);
        AUTO_FREE char *scheme = xstrdup(cases[i].scheme);
        source.scheme = scheme;
        struct verify_request asking = request_of("GET", cases[i].target, "");
        AUTO_GREETING struct greeting greeting = {.kind = GREETING_NONE};
        handshake_answer(&source, &asking, &greeting);
        assert_row(greeting.kind == GREETING_ANSWERED, cases[i].name);
        char answer[256], body[256];
        snprintf(answer, sizeof answer, "%s", text_cstr(&greeting.body));
        char *start = strstr(answer, cases[i].header ? "sha256=" : "|");
        start[strcspn(start, "\"")] = '\0';
        snprintf(body, sizeof body, "%s%s", cases[i].body, cases[i].header ? "" : start + 1);
        struct verify_request event = request_of("POST", "/", body);
        struct verify_header header = {slice_of(cases[i].header), slice_of(start)};
        event.headers = &header;
        event.n_headers = cases[i].header ? 1 : 0;
        assert_row(verify_request(&source, &event).reason == cases[i].want, cases[i].name);
    }
}

static void see_words(void *ctx, const char *section, const struct schema_key *key)
{
    if (strcmp(section, "sources.*.handshake") != 0 || strcmp(key->name, "answer") != 0)
        return;
    for (const struct schema_word *word = key->words; word->name; word++) {
        enum scheme_handshake found = handshake_by_name(word->name);
        assert_row(found != HANDSHAKE_NONE && handshake_words(found), word->name);
        ++*(size_t *)ctx;
    }
}

static void knows_every_word_of_the_policy(void **state)
{
    (void)state;
    size_t n = 0, known = 0;
    schema_walk(&policy_schema, see_words, &n);
    for (int i = HANDSHAKE_NONE; i <= HANDSHAKE_ADOBE; i++)
        known += handshake_words((enum scheme_handshake)i) != NULL;
    assert_int_equal(n, known - 1); // that of AWS SNS is not lent to others
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(answers_each_question_that_needs_no_signature),
            cmocka_unit_test(echoes_no_more_than_its_bound),
            cmocka_unit_test(says_that_the_token_is_missing),
            cmocka_unit_test(answers_what_is_signed_and_nothing_else),
            cmocka_unit_test(takes_no_event_that_a_handshake_would_sign),
            cmocka_unit_test(knows_every_word_of_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
