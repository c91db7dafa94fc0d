// Partials and parents: one that is not there would end every message that names it.
#include "common/config/policy_made.h"

#include <stdio.h>

enum { PATH_ROOM = 320 };

struct looking {
    const struct making *making;
    const char *file;
    char *folder; // of the file
    bool shared;  // the file is a layout or partial itself: any message may be around it
};

static const char *const shared_folders[] = {"layouts", "partials"};

bool policy_partial_path(
        const char *message, struct slice name, unsigned index, char *ret_path, size_t size)
{
    if (index > ARRAY_LEN(shared_folders))
        return false;
    int len = snprintf(ret_path, size, "%s/%.*s.mustache",
            index ? shared_folders[index - 1] : message, (int)name.len, (const char *)name.ptr);
    return len > 0 && (size_t)len < size;
}

static bool has_path(const struct policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->n_templates; i++) {
        if (strcmp(policy->templates[i].path, path) == 0)
            return true;
    }
    return false;
}

static bool is_there_for(const struct looking *looking, const char *message, struct slice name)
{
    char path[PATH_ROOM];
    for (unsigned i = 0; policy_partial_path(message, name, i, path, sizeof path); i++) {
        if (has_path(&looking->making->made->policy, path))
            return true;
    }
    return false;
}

static bool is_there(const struct looking *looking, struct slice name)
{
    const struct policy *policy = &looking->making->made->policy;
    if (is_there_for(looking, looking->folder, name))
        return true;
    for (size_t i = 0; i < policy->n_messages && looking->shared; i++) {
        if (policy->messages[i].name && is_there_for(looking, policy->messages[i].name, name))
            return true;
    }
    return false;
}

static void check_name(void *ctx, struct slice name, int line, int column)
{
    const struct looking *looking = ctx;
    if (is_there(looking, name))
        return;
    AUTO_TEXT struct text why = {0};
    text_init(&why, DIAG_TEXT_MAX);
    text_fmt(&why, "there is no '%.*s': it would be %s/%.*s.mustache, or in layouts/ or partials/",
            (int)name.len, (const char *)name.ptr, looking->shared ? "<message>" : looking->folder,
            (int)name.len, (const char *)name.ptr);
    const struct diag_place place = {looking->file, line, column, (int)name.len};
    diag_error_at(looking->making->diag, &place, "template-partial", text_cstr(&why));
}

static void check_file(const struct making *making, const struct policy_text *file)
{
    const char *slash = strchr(file->path, '/');
    if (!slash)
        return; // is not read, and told so
    size_t len = (size_t)(slash - file->path);
    AUTO_FREE char *folder = slice_dup((struct slice){(const unsigned char *)file->path, len});
    struct looking looking = {.making = making, .file = file->path, .folder = folder};
    for (size_t i = 0; i < ARRAY_LEN(shared_folders); i++)
        looking.shared |= strcmp(folder, shared_folders[i]) == 0;
    making->known->template_partials(file->body, file->len, check_name, &looking);
}

void policy_check_partials(const struct making *making)
{
    const struct policy *policy = &making->made->policy;
    for (size_t i = 0; i < policy->n_templates && making->known->template_partials; i++)
        check_file(making, &policy->templates[i]);
}
