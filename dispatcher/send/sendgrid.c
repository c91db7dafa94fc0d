#include "dispatcher/send/sendgrid.h"

#include "dispatcher/send/mail_api.h"

#include <stdio.h>

static bool write_person(const struct mailbox *mailbox, struct text *out)
{
    return api_member(out, "{\"email\":", mailbox->address) &&
           api_member(out, ",\"name\":", mailbox->name) && text_char(out, '}');
}

static bool write_part(const char *type, const char *value, bool first, struct text *out)
{
    return !value || (text_fmt(out, "%s{\"type\":\"%s\"", first ? "" : ",", type) &&
                             api_member(out, ",\"value\":", value) && text_char(out, '}'));
}

static bool write_body(const struct content *content, const struct mail_people *people,
        const char *key_hex, struct http_request *request)
{
    static const struct file_words files = {"attachments", "filename", "type", "content"};
    struct text *out = &request->body;
    AUTO_FREE char *link = mail_unsubscribe(content);
    return text_str(out, "{\"personalizations\":[{\"to\":[") && write_person(&people->to, out) &&
           api_member(out, "],\"custom_args\":{\"pawl_delivery\":", key_hex) &&
           api_member(out, ",\"pawl_place\":", content->place) && text_str(out, "}}],\"from\":") &&
           write_person(&people->from, out) &&
           api_member(out, ",\"headers\":{\"List-Unsubscribe\":", link) &&
           (!link || text_str(out, ",\"List-Unsubscribe-Post\":\"" UNSUBSCRIBE_POST "\"}")) &&
           api_member(out, ",\"subject\":", content->subject) && text_str(out, ",\"content\":[") &&
           write_part("text/plain", content->text, true, out) &&
           write_part("text/html", content->html, !content->text, out) && text_char(out, ']') &&
           api_files(content, &files, request) && text_char(out, '}');
}

bool sendgrid_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err)
{
    AUTO_PEOPLE struct mail_people people = {0};
    if (!mail_people_read(content, &people, ret_level, err) ||
            !mail_begin(request, provider, "https://api.sendgrid.com", "/v3/mail/send", ret_level,
                    err) ||
            !http_head_secret(request, "Authorization", "Bearer ", provider->password.value, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    return write_body(content, &people, key_hex, request) ||
           err_set(err, ERR_INPUT, "the message is too large");
}

// Its errors have no codes: the status, and for a 400 the field that is wrong.
static const struct api_error errors[] = {
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE}, {401, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER},
        {403, NULL, ATTEMPT_RETRY,
                LEVEL_PROVIDER}, // the sender is not verified, or the key's scope
        {413, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE}, {415, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE},
        {0, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER}, // 404 405 429 500 503
};

// X-RateLimit-Reset: unix seconds, where there is no Retry-After.
static void read_reset(const struct http_reply *reply, struct attempt_result *result)
{
    struct slice value;
    char text[24];
    if (reply->status != 429 || result->retry_after_ms ||
            !http_head_find(reply->head, "X-RateLimit-Reset", &value) || value.len > 12)
        return;
    snprintf(text, sizeof text, "%.*s", (int)value.len, (const char *)value.ptr);
    int64_t ms = strtoll(text, NULL, 10) * 1000 - reply->now_us / 1000;
    if (ms > 0)
        result->retry_after_ms = ms < HTTP_RETRY_AFTER_MAX_MS ? ms : HTTP_RETRY_AFTER_MAX_MS;
}

static void judge(const struct http_reply *reply, const char *said, struct attempt_result *result)
{
    char field[80] = "";
    (void)!api_text(reply, "/errors/0/field", field, sizeof field);
    (void)!api_classify(errors, ARRAY_LEN(errors), reply, "", slice_of(said), result);
    if (reply->status != 400)
        return;
    if (strncmp(field, "personalizations", 16) == 0 && strstr(field, ".to."))
        result->level = LEVEL_ADDRESS;
    if (strncmp(field, "from", 4) == 0) {
        // The sender is the same for all our mail.
        result->outcome = ATTEMPT_RETRY;
        result->level = LEVEL_PROVIDER;
    }
}

void sendgrid_classify(const struct http_reply *reply, struct attempt_result *result)
{
    char said[160] = "";
    http_result_undocumented(reply, result);
    if (reply->end != HTTP_REPLIED)
        return;
    struct slice id;
    if (result->outcome == ATTEMPT_ACCEPTED) {
        if (http_head_find(reply->head, "X-Message-Id", &id))
            snprintf(result->provider_id, sizeof result->provider_id, "%.*s", (int)id.len,
                    (const char *)id.ptr);
        return;
    }
    if (api_text(reply, "/errors/0/message", said, sizeof said))
        judge(reply, said, result);
    read_reset(reply, result);
}
