#include "dispatcher/send/rules.h"

#include "common/json/scan.h"
#include "common/utf8.h"

#include <stdio.h>

// A scalar's text; cut where it is long. Ids and codes that were cut would name something else.
static void take(const struct json_result *found, char *out, size_t size, bool may_cut)
{
    AUTO_TEXT struct text text = {0};
    text_init(&text, HTTP_REPLY_MAX);
    out[0] = '\0';
    if (found->found != JSON_FOUND || !json_plain(found->token, &text, NULL))
        return;
    if (may_cut || (text.len < size && utf8_is_printable_ascii(text_slice(&text))))
        snprintf(out, size, "%s", text_cstr(&text));
}

void http_said_read(struct slice body, const struct http_where *where, struct http_said *ret_said)
{
    const char *pointers[] = {where->code, where->text, where->id};
    const char *asked[ARRAY_LEN(pointers)];
    struct json_result found[ARRAY_LEN(pointers)];
    *ret_said = (struct http_said){0};
    // A pointer that is not asked for looks for what no body has.
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++)
        asked[i] = pointers[i] ? pointers[i] : "/~0~1~0";
    if (body.len == 0 || !json_find(body, asked, ARRAY_LEN(asked), found, NULL))
        return;
    take(&found[0], ret_said->code, sizeof ret_said->code, false);
    take(&found[1], ret_said->text, sizeof ret_said->text, true);
    take(&found[2], ret_said->id, sizeof ret_said->id, false);
}

static const struct http_rule *find(
        const struct http_rule *rules, size_t n, int status, const char *code)
{
    for (size_t i = 0; i < n; i++) {
        if ((rules[i].status == 0 || rules[i].status == status) &&
                (!rules[i].code || strcmp(rules[i].code, code) == 0))
            return &rules[i];
    }
    return NULL;
}

// What is no code of letters goes nowhere: it is shown as it stands.
static void keep_code(const char *code, struct attempt_result *result)
{
    size_t len = strlen(code);
    bool fits = len < sizeof result->enhanced && utf8_is_printable_ascii(slice_of(code));
    memcpy(result->enhanced, fits ? code : "", fits ? len + 1 : 1);
}

void http_judge(const struct http_rule *rules, size_t n, const struct http_reply *reply,
        const struct http_said *said, struct attempt_result *result)
{
    bool replied = reply->end == HTTP_REPLIED;
    const struct http_rule *rule = replied ? find(rules, n, reply->status, said->code) : NULL;
    result->enhanced[0] = '\0';
    result->dead_since_ms = 0;
    result->stale_token = result->apart = false;
    if (!rule) {
        http_result_undocumented(reply, result);
    } else {
        char words[sizeof said->code + sizeof said->text + 2];
        snprintf(words, sizeof words, "%s%s%s", said->code,
                said->code[0] && said->text[0] ? " " : "", said->text);
        http_result(reply, rule->outcome, rule->level, slice_of(words), result);
        keep_code(said->code, result);
        result->stale_token = rule->stale;
        if (rule->outcome == ATTEMPT_RETRY && result->retry_after_ms < rule->wait_s * INT64_C(1000))
            result->retry_after_ms = rule->wait_s * INT64_C(1000);
    }
    result->provider_id[0] = '\0';
    if (result->outcome == ATTEMPT_ACCEPTED && utf8_is_printable_ascii(slice_of(said->id)))
        snprintf(result->provider_id, sizeof result->provider_id, "%s", said->id);
}

void http_apart(const char *const *codes, size_t n, const struct http_said *said,
        struct attempt_result *result)
{
    for (size_t i = 0; i < n; i++)
        result->apart |= result->level == LEVEL_PROVIDER && strcmp(codes[i], said->code) == 0;
}
