#include "dispatcher/send/resend.h"

#include "dispatcher/send/mail_api.h"

#include <stdio.h>

static const struct file_words files = {"attachments", "filename", "content_type", "content"};

static bool write_body(
        const struct content *content, const char *key_hex, struct http_request *request)
{
    struct text *out = &request->body;
    AUTO_FREE char *link = mail_unsubscribe(content);
    return api_member(out, "{\"from\":", content->from) &&
           api_member(out, ",\"to\":[", content->to) &&
           api_member(out, "],\"subject\":", content->subject) &&
           api_member(out, ",\"text\":", content->text) &&
           api_member(out, ",\"html\":", content->html) &&
           api_member(out, ",\"headers\":{\"List-Unsubscribe\":", link) &&
           (!link || text_str(out, ",\"List-Unsubscribe-Post\":\"" UNSUBSCRIBE_POST "\"}")) &&
           api_member(out, ",\"tags\":[{\"name\":\"pawl_delivery\",\"value\":", key_hex) &&
           api_member(out, "},{\"name\":\"pawl_place\",\"value\":", content->place) &&
           text_str(out, "}]") && api_files(content, &files, request) && text_char(out, '}');
}

bool resend_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err)
{
    AUTO_PEOPLE struct mail_people people = {0};
    if (!mail_people_read(content, &people, ret_level, err) ||
            !mail_begin(request, provider, "https://api.resend.com", "/emails", ret_level, err) ||
            !http_head_secret(request, "Authorization", "Bearer ", provider->password.value, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    const char *repeat = content->repeat_key ? content->repeat_key : key_hex;
    if (!http_head_add(request, "Idempotency-Key", slice_of(repeat), err))
        return false;
    return write_body(content, key_hex, request) ||
           err_set(err, ERR_INPUT, "the message is too large");
}

// https://resend.com/docs/api-reference/errors
static const struct api_error errors[] = {
        {400, "invalid_idempotency_key", ATTEMPT_REFUSED, LEVEL_MESSAGE},
        {401, "missing_api_key", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {401, "restricted_api_key", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {403, "invalid_api_key", ATTEMPT_RETRY, LEVEL_PROVIDER},
        // The sender's domain is not verified, or the account may only send to itself.
        {403, "validation_error", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {404, "not_found", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {405, "method_not_allowed", ATTEMPT_RETRY, LEVEL_PROVIDER},
        // The same key came with another payload (.other_bytes): it never becomes right.
        {409, "invalid_idempotent_request", ATTEMPT_REFUSED, LEVEL_MESSAGE},
        // The first request of this key still runs: its answer is to be had later.
        {409, "concurrent_idempotent_requests", ATTEMPT_RETRY, LEVEL_MESSAGE},
        {422, "invalid_from_address", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {422, "invalid_access", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {422, "invalid_region", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE},
        {413, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE},
        {422, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE},
        {429, "monthly_quota_exceeded", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {429, "daily_quota_exceeded", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {429, "rate_limit_exceeded", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {451, "security_error", ATTEMPT_REFUSED, LEVEL_MESSAGE},
        {500, "application_error", ATTEMPT_RETRY, LEVEL_PROVIDER},
        {500, "internal_server_error", ATTEMPT_RETRY, LEVEL_PROVIDER},
};

void resend_classify(const struct http_reply *reply, struct attempt_result *result)
{
    char name[64] = "", said[160] = "";
    http_result_undocumented(reply, result);
    if (reply->end != HTTP_REPLIED)
        return;
    if (reply->status / 100 == 2) {
        (void)!api_text(reply, "/id", result->provider_id, sizeof result->provider_id);
        return;
    }
    if (!api_text(reply, "/name", name, sizeof name) ||
            !api_text(reply, "/message", said, sizeof said) ||
            !api_classify(errors, ARRAY_LEN(errors), reply, name, slice_of(said), result))
        return;
    result->other_bytes = result->outcome == ATTEMPT_REFUSED && reply->status == 409;
    // "Invalid `to` field": the only word there is that it is the recipient.
    if (result->outcome == ATTEMPT_REFUSED && strstr(said, "`to`"))
        result->level = LEVEL_ADDRESS;
}
