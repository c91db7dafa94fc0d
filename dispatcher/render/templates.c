#include "dispatcher/render/templates.h"

struct row {
    char *path;
    struct template *template;
};

struct templates {
    struct row *rows; // sorted by path
    size_t n;
};

static int by_path(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return strcmp(x->path, y->path);
}

struct templates *templates_new(const struct policy *policy, struct err *err)
{
    struct templates *templates = xcalloc(1, sizeof *templates);
    templates->rows = xcalloc(policy->n_templates + 1, sizeof templates->rows[0]);
    for (size_t i = 0; i < policy->n_templates; i++) {
        const struct policy_text *text = &policy->templates[i];
        struct slice source = {(const unsigned char *)text->body, text->len};
        struct template *template = template_new(text->path, source, err);
        if (!template) {
            templates_free(templates);
            return NULL;
        }
        templates->rows[templates->n++] = (struct row){xstrdup(text->path), template};
    }
    qsort(templates->rows, templates->n, sizeof templates->rows[0], by_path);
    return templates;
}

void templates_free(struct templates *templates)
{
    if (!templates)
        return;
    for (size_t i = 0; i < templates->n; i++) {
        template_free(templates->rows[i].template);
        free(templates->rows[i].path);
    }
    free(templates->rows);
    free(templates);
}

const struct template *templates_find(const struct templates *templates, const char *path)
{
    size_t low = 0, high = templates->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(path, templates->rows[middle].path);
        if (order == 0)
            return templates->rows[middle].template;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
