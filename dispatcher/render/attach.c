#include "dispatcher/render/attach.h"

#include "common/beneath.h"
#include "common/template/template.h"
#include "dispatcher/attachment.h"

#define AUTO_TEMPLATE __attribute__((cleanup(auto_template)))

static void auto_template(struct template **template)
{
    template_free(*template);
}

static bool expand(
        const char *pattern, const struct json_node *values, struct text *out, struct err *err)
{
    static const struct template_how how = {.part = TEMPLATE_PATH};
    AUTO_TEMPLATE struct template *template = template_new("attachments", slice_of(pattern), err);
    return template && template_expand(template, &how, values, out, err);
}

bool attach_files(const struct render_context *context, const struct message *message,
        const struct json_node *values, struct content *content, struct err *err)
{
    for (size_t i = 0; i < message->n_attachments; i++) {
        AUTO_TEXT struct text path = {0};
        text_init(&path, BENEATH_PATH_MAX);
        if (!expand(message->attachments[i], values, &path, err))
            return false;
        if (path.len && !attachment_add(content, context->attachments, text_cstr(&path), err))
            return false;
    }
    return true;
}
