#include "dispatcher/send/postmark.h"

#include "dispatcher/send/mail_api.h"

#include <stdio.h>

static const struct file_words files = {"Attachments", "Name", "ContentType", "Content"};

static bool write_body(
        const struct content *content, const char *key_hex, struct http_request *request)
{
    struct text *out = &request->body;
    AUTO_FREE char *link = mail_unsubscribe(content);
    return api_member(out, "{\"From\":", content->from) &&
           api_member(out, ",\"To\":", content->to) &&
           api_member(out, ",\"Subject\":", content->subject) &&
           api_member(out, ",\"TextBody\":", content->text) &&
           api_member(out, ",\"HtmlBody\":", content->html) &&
           api_member(out, ",\"Headers\":[{\"Name\":\"List-Unsubscribe\",\"Value\":", link) &&
           (!link || text_str(out,
                             "},{\"Name\":\"List-Unsubscribe-Post\",\"Value\":\"" UNSUBSCRIBE_POST
                             "\"}]")) &&
           api_member(out, ",\"Metadata\":{\"pawl-delivery\":", key_hex) &&
           api_member(out, ",\"pawl-place\":", content->place) && text_char(out, '}') &&
           api_files(content, &files, request) && text_char(out, '}');
}

bool postmark_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err)
{
    AUTO_PEOPLE struct mail_people people = {0};
    if (!mail_people_read(content, &people, ret_level, err) ||
            !mail_begin(
                    request, provider, "https://api.postmarkapp.com", "/email", ret_level, err) ||
            !http_head_add(request, "X-Postmark-Server-Token", provider->password.value, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    return write_body(content, key_hex, request) ||
           err_set(err, ERR_INPUT, "the message is too large");
}

// By ErrorCode: https://postmarkapp.com/developer/api/overview#error-codes
static const struct api_error errors[] = {
        {200, "0", ATTEMPT_ACCEPTED, LEVEL_MESSAGE},
        {0, "10", ATTEMPT_RETRY, LEVEL_PROVIDER},    // no such token
        {0, "100", ATTEMPT_RETRY, LEVEL_PROVIDER},   // maintenance
        {0, "300", ATTEMPT_REFUSED, LEVEL_MESSAGE},  // invalid mail
        {0, "400", ATTEMPT_RETRY, LEVEL_PROVIDER},   // sender signature not found
        {0, "401", ATTEMPT_RETRY, LEVEL_PROVIDER},   // .. or not confirmed
        {0, "402", ATTEMPT_REFUSED, LEVEL_MESSAGE},  // JSON
        {0, "403", ATTEMPT_REFUSED, LEVEL_MESSAGE},  // JSON of another form
        {0, "405", ATTEMPT_RETRY, LEVEL_PROVIDER},   // out of credits
        {0, "406", ATTEMPT_REFUSED, LEVEL_ADDRESS},  // inactive recipient
        {0, "409", ATTEMPT_REFUSED, LEVEL_MESSAGE},  // JSON header
        {0, "411", ATTEMPT_REFUSED, LEVEL_MESSAGE},  // attachment type
        {0, "412", ATTEMPT_RETRY, LEVEL_PROVIDER},   // account pending
        {0, "413", ATTEMPT_RETRY, LEVEL_PROVIDER},   // account may not send
        {0, "429", ATTEMPT_RETRY, LEVEL_PROVIDER},   // too fast
        {401, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER},  // codes to come, by status
        {403, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER},  //
        {422, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE}, //
        {413, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE}, //
        {200, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE}, // a 200 is not success
        {0, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER},    //
};

void postmark_classify(const struct http_reply *reply, struct attempt_result *result)
{
    char code[16] = "", said[160] = "";
    http_result_undocumented(reply, result);
    if (reply->end != HTTP_REPLIED)
        return;
    if (!api_text(reply, "/ErrorCode", code, sizeof code)) {
        // Only ErrorCode 0 says that it was taken, and this reply has none.
        if (result->outcome == ATTEMPT_ACCEPTED)
            http_result(reply, ATTEMPT_UNKNOWN, LEVEL_MESSAGE,
                    SLICE("without the provider's own answer"), result);
        return;
    }
    (void)!api_text(reply, "/Message", said, sizeof said);
    (void)!api_classify(errors, ARRAY_LEN(errors), reply, code, slice_of(said), result);
    if (result->outcome == ATTEMPT_REFUSED && strstr(said, "'To'"))
        result->level = LEVEL_ADDRESS;
    if (result->outcome == ATTEMPT_ACCEPTED)
        (void)!api_text(reply, "/MessageID", result->provider_id, sizeof result->provider_id);
    snprintf(result->enhanced, sizeof result->enhanced, "%s", code);
}

bool postmark_look_build(const struct provider *provider, const char *key_hex, int64_t since_s,
        struct http_request *request, struct err *err)
{
    (void)since_s;
    char path[128];
    enum failure_level level;
    snprintf(path, sizeof path, "/messages/outbound?count=%d&offset=0&metadata_pawl-delivery=%s",
            LOOK_LIST, key_hex);
    request->method = "GET";
    return mail_begin(request, provider, "https://api.postmarkapp.com", path, &level, err) &&
           http_head_add(request, "X-Postmark-Server-Token", provider->password.value, err);
}

void postmark_look_read(
        const struct http_reply *reply, const char *key_hex, int nth, struct attempt_result *result)
{
    char total[16] = "", key[64] = "", of_key[64], of_id[64], none[16];
    snprintf(none, sizeof none, "%d", nth);
    if (!api_text(reply, "/TotalCount", total, sizeof total))
        return;
    if (strcmp(total, none) == 0) {
        result->outcome = ATTEMPT_NOT_FOUND;
        return;
    }
    snprintf(of_key, sizeof of_key, "/Messages/%d/Metadata/pawl-delivery", nth);
    snprintf(of_id, sizeof of_id, "/Messages/%d/MessageID", nth);
    // A search that took no notice of the metadata would find somebody else's mail.
    if (!api_text(reply, of_key, key, sizeof key) || strcmp(key, key_hex) != 0)
        return;
    result->outcome = ATTEMPT_FOUND;
    (void)!api_text(reply, of_id, result->provider_id, sizeof result->provider_id);
}
