#include "dispatcher/send/mail_api.h"

#include "common/json/scan.h"
#include "dispatcher/send/encode.h"
#include "dispatcher/send/filename.h"
#include "dispatcher/send/mime.h"

#include <stdio.h>

bool api_text(const struct http_reply *reply, const char *pointer, char *out, size_t size)
{
    struct json_result found;
    struct err err;
    AUTO_TEXT struct text text = {0};
    text_init(&text, HTTP_REPLY_MAX);
    if (!json_find(reply->body, &pointer, 1, &found, &err) || found.found != JSON_FOUND ||
            !json_plain(found.token, &text, &err))
        return false;
    snprintf(out, size, "%s", text_cstr(&text));
    return true;
}

void mail_people_fini(struct mail_people *people)
{
    mailbox_fini(&people->from);
    mailbox_fini(&people->to);
}

static bool check_texts(const struct content *content, struct err *err)
{
    struct slice subject = slice_of(content->subject);
    if (!content->subject || text_has_control(subject) || !text_is_utf8(subject))
        return err_set(err, ERR_INPUT, "the subject is not one line of UTF-8");
    return mime_parts_ok(content, err);
}

bool mail_people_read(const struct content *content, struct mail_people *ret_people,
        enum failure_level *ret_level, struct err *err)
{
    // No IDNA: the transport has put domains into ASCII, and what is left has no such form.
    *ret_level = LEVEL_MESSAGE;
    if (!check_texts(content, err))
        return false;
    if (!mailbox_parse(slice_of(content->from), NULL, &ret_people->from, err))
        return err_prefix(err, "from");
    *ret_level = LEVEL_ADDRESS;
    if (!mailbox_parse(slice_of(content->to), NULL, &ret_people->to, err))
        return err_prefix(err, "to");
    *ret_level = LEVEL_MESSAGE;
    return true;
}

char *mail_unsubscribe(const struct content *content)
{
    AUTO_TEXT struct text value = {0};
    if (!content->unsubscribe)
        return NULL;
    text_init(&value, HTTP_URL_MAX);
    return text_fmt(&value, "<%s>", content->unsubscribe) ? text_steal(&value) : NULL;
}

bool api_member(struct text *out, const char *before, const char *value)
{
    return !value || (text_str(out, before) && json_quote(out, slice_of(value)));
}

bool api_files(
        const struct content *content, const struct file_words *words, struct http_request *request)
{
    struct text *out = &request->body;
    size_t n = content->n_attachments;
    bool ok = n == 0 || text_fmt(out, ",\"%s\":[", words->list);
    for (size_t i = 0; ok && i < n; i++) {
        const struct attachment *attachment = &content->attachments[i];
        ok = text_fmt(out, "%s\"%s\":", i ? ",{" : "{", words->name) &&
             json_quote(out, slice_of(filename_of(attachment->path))) &&
             text_fmt(out, ",\"%s\":\"%s\",\"%s\":\"", words->type, filename_type(attachment->path),
                     words->content);
        inlays_add_file(&request->inlays, out->len, attachment, false);
        ok = ok && text_str(out, "\"}");
    }
    return ok && (n == 0 || text_char(out, ']'));
}

bool mail_begin(struct http_request *request, const struct provider *provider, const char *base,
        const char *path, enum failure_level *ret_level, struct err *err)
{
    *ret_level = LEVEL_PROVIDER;
    if (provider->password.value.len == 0)
        return err_set(err, ERR_FATAL, "the provider's token is not there");
    return http_request_begin(request, provider->url ? provider->url : base, path, err) &&
           http_head_add(request, "Content-Type", SLICE("application/json"), err) &&
           http_head_add(request, "Accept", SLICE("application/json"), err);
}

bool api_classify(const struct api_error *rows, size_t n, const struct http_reply *reply,
        const char *word, struct slice said, struct attempt_result *result)
{
    for (size_t i = 0; i < n; i++) {
        if ((rows[i].status && rows[i].status != reply->status) ||
                (rows[i].word && strcmp(rows[i].word, word) != 0))
            continue;
        http_result(reply, rows[i].outcome, rows[i].level, said, result);
        return true;
    }
    return false;
}
