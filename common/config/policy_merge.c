#include "common/config/policy_merge.h"

static const char *const joined[] = {"sources", "channels", "messages"};

static bool is_joined(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(joined); i++) {
        if (strcmp(joined[i], key) == 0)
            return true;
    }
    return false;
}

static void append(struct yaml_node *map, const struct yaml_node *key, const struct yaml_node *item)
{
    map->keys = xrealloc(map->keys, (map->n + 1) * sizeof *map->keys);
    map->items = xrealloc(map->items, (map->n + 1) * sizeof *map->items);
    map->keys[map->n] = *key;
    map->items[map->n++] = *item;
}

static void again(const struct yaml_node *key, const struct yaml_node *first, struct diag *diag)
{
    yaml_diag(diag, DIAG_ERROR, key, "duplicate-key", "'%s' is defined again (first at %s:%d:%d)",
            yaml_show(slice_of(key->text)).text, first->doc->file, first->line, first->column);
}

static void join(struct yaml_node *section, const struct yaml_node *more, struct diag *diag)
{
    for (size_t i = 0; i < more->n; i++) {
        const struct yaml_node *key = &more->keys[i], *first = NULL;
        if (key->kind == YAML_TEXT && yaml_get(section, key->text, &first))
            again(key, first, diag);
        else
            append(section, key, &more->items[i]);
    }
}

// A section of one file joins what is there: its arrays are the merge's own when it is a joined
// one.
static void add_section(struct yaml_node *root, const struct yaml_node *key,
        const struct yaml_node *item, struct diag *diag)
{
    const struct yaml_node *first = NULL;
    const struct yaml_node *there = yaml_get(root, key->text, &first);
    bool is_map = item->kind == YAML_MAP && is_joined(key->text);
    if (there && is_map && there->kind == YAML_MAP) {
        join(&root->items[there - root->items], item, diag);
        return;
    }
    if (there && strcmp(key->text, "pawl") != 0)
        again(key, first, diag);
    if (there)
        return;
    struct yaml_node copy = *item;
    if (is_map)
        copy.keys = copy.items = NULL, copy.n = 0;
    append(root, key, &copy);
    if (is_map)
        join(&root->items[root->n - 1], item, diag);
}

static void check_format(const struct yaml_node *file, struct diag *diag)
{
    const struct yaml_node *format = yaml_get(file, "pawl", NULL);
    if (!format)
        yaml_diag(diag, DIAG_ERROR, file, "missing-key", "the file does not begin with 'pawl: 1'");
    else if (format->kind == YAML_TEXT && strcmp(format->text, "1") != 0)
        yaml_diag(diag, DIAG_ERROR, format, "format", "this version reads format 1, not '%s'",
                yaml_show(slice_of(format->text)).text);
}

static void add_file(struct yaml_node *root, const struct yaml_node *file, struct diag *diag)
{
    if (file->kind == YAML_BAD)
        return;
    if (file->kind != YAML_MAP) {
        yaml_diag(diag, DIAG_ERROR, file, "map", "a policy file is a map of keys and values");
        return;
    }
    check_format(file, diag);
    for (size_t i = 0; i < file->n; i++) {
        if (file->keys[i].kind == YAML_TEXT)
            add_section(root, &file->keys[i], &file->items[i], diag);
    }
}

void policy_merge_init(
        struct policy_merge *merge, struct yaml_doc *const *docs, size_t n_docs, struct diag *diag)
{
    *merge = (struct policy_merge){.root = {.kind = YAML_MAP, .line = 1, .column = 1, .span = 1}};
    for (size_t i = 0; i < n_docs; i++) {
        if (!docs[i])
            continue;
        if (!merge->root.doc)
            merge->root.doc = docs[i];
        add_file(&merge->root, &docs[i]->root, diag);
    }
}

void policy_merge_fini(struct policy_merge *merge)
{
    struct yaml_node *root = &merge->root;
    for (size_t i = 0; i < root->n; i++) {
        if (root->items[i].kind != YAML_MAP || !is_joined(root->keys[i].text))
            continue;
        free(root->items[i].keys);
        free(root->items[i].items);
    }
    free(root->keys);
    free(root->items);
    *merge = (struct policy_merge){0};
}
