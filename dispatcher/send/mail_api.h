// mail_api.h: what the mail drivers over HTTP do alike: check a content, write JSON, read a reply.
#pragma once
#include "dispatcher/send/address.h"
#include "dispatcher/send/http.h"

// A JSON reply's value at a pointer, as text; false when the reply has none (or is no JSON).
MUST_CHECK bool api_text(
        const struct http_reply *reply, const char *pointer, char *out, size_t size);

// Sender and recipient, checked, their domains in ASCII already; and that the content can be sent:
// one line of subject, a body, UTF-8. Levels as smtp_build().
struct mail_people {
    struct mailbox from, to;
};
void mail_people_fini(struct mail_people *people);
#define AUTO_PEOPLE __attribute__((cleanup(mail_people_fini)))
MUST_CHECK bool mail_people_read(const struct content *content, struct mail_people *ret_people,
        enum failure_level *ret_level, struct err *err);

// The two headers of one-click unsubscribe (RFC 8058), which a DKIM signature must cover.
#define UNSUBSCRIBE_POST "List-Unsubscribe=One-Click"

// The value of List-Unsubscribe, "<URL>"; yours. NULL where the message has none.
char *mail_unsubscribe(const struct content *content);

// Appends `before`, then value as a JSON string; nothing when value is NULL.
bool api_member(struct text *out, const char *before, const char *value);

// How an API names its list of files, and what it says of each.
struct file_words {
    const char *list, *name, *type, *content;
};
// Appends ,"list":[{"name":..,"type":..,"content":".."},..] to the request's body, the contents as
// inlays; nothing where the message has no files.
bool api_files(const struct content *content, const struct file_words *words,
        struct http_request *request);

// ERR_FATAL with *ret_level PROVIDER where the token is missing.
MUST_CHECK bool mail_begin(struct http_request *request, const struct provider *provider,
        const char *base, const char *path, enum failure_level *ret_level, struct err *err);

// One row of a driver's table of documented errors: status 0 or word NULL match any. The first row
// that matches counts.
struct api_error {
    int status;
    const char *word;
    enum attempt_outcome outcome;
    enum failure_level level;
};
// False when no row matches.
bool api_classify(const struct api_error *rows, size_t n, const struct http_reply *reply,
        const char *word, struct slice said, struct attempt_result *result);
