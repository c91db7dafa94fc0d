// render.h: a notification's values and its version's templates -> the content that is stored and
// sent.
//
// Templates are `<type>/<channel>.<locale>.<part>.mustache`, parts subject, text, html of a mail,
// text of a text message, title, text and data (JSON) of a push message; a partial {{>name}} or
// parent {{<name}} is `<type>/name.mustache`, else in `layouts/`, else in `partials/`. Values are
// the notification's frozen JSON:
// {"order":{..},"event":{..},"contact":{..}, "data":{..}}. All parts are of one locale: the
// contact's (`de-AT`), its language (`de`), or the policy's, the first that has a text; of a
// mail a subject and a text or html.
#pragma once
#include "common/json/tree.h"
#include "dispatcher/delivery.h"

enum {
    RENDER_SUBJECT_MAX = 900, // bytes; RFC 5322 lines end at 998
    RENDER_BODY_MAX = 512 * 1024,
    RENDER_SMS_MAX = 16 * 1024, // the limit that counts is in parts
    RENDER_PUSH_MAX = 4096,     // of one part; what a service takes in all, its driver knows
};

// The templates of one policy version, parsed. Read-only once made.
struct templates;

// Parses all of them; NULL + err names the first that can't be.
MUST_CHECK struct templates *templates_new(const struct policy *policy, struct err *err);
void templates_free(struct templates *templates); // NULL is fine

struct render_context {
    const struct policy *policy;
    const struct policy *sender; // the active one: its keys are loaded; NULL = policy's own
    const struct templates *templates;
    int64_t now_us;          // the database's clock: becomes the Date
    const char *attachments; // the host's folder of files; NULL = none
    struct json_tree *tree;  // where values are read into again and again; NULL = none is kept
};

// Fills delivery->content. False + err, ERR_INPUT: a missing template or value, no channel or
// message of that name, a header with a line end, an attachment that is not there or too large; or
// ERR_TEMP: one can't be read now. Nothing is filled then.
MUST_CHECK bool render_content(
        const struct render_context *context, struct delivery *delivery, struct err *err);

// The domain of "Name <a@domain>" or "a@domain"; empty when there is none.
struct slice render_domain(const char *from);
