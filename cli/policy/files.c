#include "cli/policy/policy.h"

#include "common/clock.h"

#include <libgen.h>
#include <stdio.h>

struct texts {
    struct policy_text *rows;
    size_t n;
};

static void texts_fini(struct texts *texts)
{
    policy_texts_free(texts->rows, texts->n);
}
#define AUTO_TEXTS __attribute__((cleanup(texts_fini)))

// Texts beside the first file, unless told otherwise.
static char *templates_beside(const char *file)
{
    AUTO_FREE char *copy = xstrdup(file);
    const char *dir = dirname(copy);
    size_t room = strlen(dir) + sizeof "/templates";
    char *path = xmalloc(room);
    snprintf(path, room, "%s/templates", dir);
    return path;
}

static bool read_files(const struct host_config *host, const char *const *files, size_t n_files,
        struct texts *ret, struct err *err)
{
    if (n_files == 0)
        return policy_read_files(host->dir, host->policy, host->n_policy, &ret->rows, &ret->n, err);
    AUTO_FREE char **names = xcalloc(n_files, sizeof *names);
    for (size_t i = 0; i < n_files; i++)
        names[i] = xstrdup(files[i]);
    bool ok = policy_read_files(".", names, n_files, &ret->rows, &ret->n, err);
    for (size_t i = 0; i < n_files; i++)
        free(names[i]);
    return ok;
}

struct policy *policy_from_files(const struct host_config *host, const char *const *files,
        size_t n_files, const char *templates, struct diag *diag, struct err *err)
{
    AUTO_TEXTS struct texts policy = {0};
    AUTO_TEXTS struct texts messages = {0};
    AUTO_FREE char *beside = n_files > 0 ? templates_beside(files[0]) : NULL;
    const char *dir = templates ? templates : beside ? beside : host->templates;
    if (!read_files(host, files, n_files, &policy, err) ||
            !policy_read_templates(dir, &messages.rows, &messages.n, err))
        return NULL;
    struct policy_known known = policy_knowledge_of_files;
    known.now_s = clock_now_s();
    known.no_attachments = host && !host->dispatcher.attachments;
    return policy_new(policy.rows, policy.n, messages.rows, messages.n, &known, diag);
}
