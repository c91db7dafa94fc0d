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

static void auto_paths(char *(*paths)[MESSAGE_ATTACHMENTS_MAX])
{
    for (size_t i = 0; i < MESSAGE_ATTACHMENTS_MAX; i++)
        free((*paths)[i]);
}
#define AUTO_PATHS __attribute__((cleanup(auto_paths)))

// NULL = no file.
static bool path_of(
        const char *pattern, const struct json_node *values, char **ret_path, struct err *err)
{
    AUTO_TEXT struct text path = {0};
    text_init(&path, BENEATH_PATH_MAX);
    if (!expand(pattern, values, &path, err))
        return false;
    *ret_path = path.len ? text_steal(&path) : NULL;
    return true;
}

// All are looked at before one is read: of a mail whose last file is not there nothing is, however
// many such mails a claim has.
bool attach_files(const struct render_context *context, const struct message *message,
        const struct json_node *values, struct content *content, struct err *err)
{
    AUTO_PATHS char *paths[MESSAGE_ATTACHMENTS_MAX] = {NULL};
    const char *folder = context->attachments;
    size_t n = message->n_attachments, all = 0;
    if (n > MESSAGE_ATTACHMENTS_MAX)
        return err_set(err, ERR_INPUT, "more than %d attachments", MESSAGE_ATTACHMENTS_MAX);
    for (size_t i = 0; i < n; i++)
        if (!path_of(message->attachments[i], values, &paths[i], err) ||
                (paths[i] && !attachment_look(folder, paths[i], &all, err)))
            return false;
    for (size_t i = 0; i < n; i++)
        if (paths[i] && !attachment_add(content, folder, paths[i], err))
            return false;
    return true;
}
