#include "common/config/schema.h"

#include "common/config/near.h"
#include "common/config/schema_load.h"
#include "common/config/schema_value.h"

#include <assert.h>

static const struct schema_key *find_key(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->n_keys; i++) {
        if (strcmp(schema->keys[i].name, name) == 0)
            return &schema->keys[i];
    }
    return NULL;
}

static void *slot_of(void *base, size_t offset)
{
    return base && offset != NOWHERE ? (char *)base + offset : NULL;
}

// Copies a value to where the row keeps it, if it does.
static void put(void *base, size_t offset, const void *from, size_t size)
{
    void *slot = slot_of(base, offset);
    if (slot)
        memcpy(slot, from, size);
}

static void report(struct schema_load *load, const struct yaml_node *node, const char *code,
        const struct text *why)
{
    yaml_diag(load->diag, DIAG_ERROR, node, code, "%s", text_cstr(why));
}

static void set_scalar(const struct schema_key *key, void *slot)
{
    AUTO_TEXT struct text why;
    text_init(&why, DIAG_TEXT_MAX);
    const char *code = NULL;
    bool ok = schema_value(key, slice_of(key->fallback), slot, &code, &why);
    assert(ok); // tables are ours
}

static void set_default(const struct schema_key *key, void *base);

// All defaults but that of the slot at offset `but`.
static void set_defaults(const struct schema *schema, void *base, size_t but)
{
    for (size_t i = 0; i < schema->n_keys; i++) {
        if (schema->keys[i].offset != but)
            set_default(&schema->keys[i], base);
    }
    if (schema->shorthand && schema->shorthand->offset != but)
        set_default(schema->shorthand, base);
}

// The default of a row that was not written.
static void set_default(const struct schema_key *key, void *base)
{
    void *slot = slot_of(base, key->offset);
    if (!slot)
        return;
    if (key->type == S_MAP && key->shape == ONE)
        set_defaults(key->of, slot, NOWHERE);
    if (key->type == S_REF && key->shape == ONE)
        memcpy(slot, &(int){-1}, sizeof(int));
    if (!key->fallback)
        return;
    if (key->shape == LIST) {
        size_t one = 1;
        void *items = xcalloc(1, schema_slot_size(key));
        memcpy(slot, &items, sizeof items);
        put(base, key->count_offset, &one, sizeof one);
        slot = items;
    }
    set_scalar(key, slot);
}

static void load_scalar(struct schema_load *load, const struct schema_key *key, void *slot,
        const struct yaml_node *node)
{
    if (node->kind == YAML_BAD)
        return;
    AUTO_TEXT struct text why;
    text_init(&why, DIAG_TEXT_MAX);
    const char *code = "value";
    if (node->kind != YAML_TEXT)
        text_fmt(&why, "%s: one value is wanted here, not a %s", key->name,
                node->kind == YAML_MAP ? "map" : "list");
    else if (node->len == 0 && !node->quoted)
        text_fmt(&why, "%s has no value", key->name);
    if (why.len) {
        report(load, node, code, &why);
        return;
    }
    schema_load_note(load, slot, node);
    if (key->type == S_REF) {
        assert(slot);
        memcpy(slot, &(int){-1}, sizeof(int));
        schema_load_ref(load, &(struct schema_ref){.slot = slot, .node = node, .kind = key->ref});
        return;
    }
    struct slice text = {(const unsigned char *)node->text, node->len};
    if (schema_value(key, text, slot, &code, &why))
        return;
    if (key->type == S_CREDENTIAL)
        yaml_diag_secret(load->diag, node, code, text_cstr(&why));
    else
        report(load, node, code, &why);
    if (key->fallback && slot) // so that no later check stumbles over it
        set_scalar(key, slot);
}

static void load_one(struct schema_load *load, const struct schema_key *key, void *slot,
        const struct yaml_node *node, const struct yaml_node *at)
{
    if (key->type == S_MAP)
        schema_load(load, key->of, slot, node, at);
    else
        load_scalar(load, key, slot, node);
}

static bool check_entry_name(
        struct schema_load *load, const struct schema *of, void *item, const struct yaml_node *name)
{
    if (name->kind == YAML_BAD)
        return false;
    struct schema_key row = {.name = of->name, .type = of->name_type, .words = of->name_words};
    void *slot = item ? slot_of(item, of->name_offset) : NULL;
    schema_load_note(load, slot, name);
    AUTO_TEXT struct text why;
    text_init(&why, DIAG_TEXT_MAX);
    const char *code = NULL;
    struct slice text = {(const unsigned char *)name->text, name->len};
    if (schema_value(&row, text, slot, &code, &why))
        return true;
    report(load, name, of->name_words ? "unknown-key" : code, &why);
    return true; // its value is checked all the same
}

// Entries that were refused are left out, so that the array holds only whole ones.
static void load_many(struct schema_load *load, const struct schema_key *key, void *base,
        const struct yaml_node *node)
{
    size_t size = schema_slot_size(key), n = 0;
    bool kept = slot_of(base, key->offset) != NULL;
    char *items = kept && node->n ? xcalloc(node->n, size) : NULL;
    for (size_t i = 0; i < node->n; i++) {
        void *item = items ? items + n * size : NULL;
        if (node->items[i].kind == YAML_BAD)
            continue;
        bool named = key->shape == MAP_OF;
        if (named && !check_entry_name(load, key->of, item, &node->keys[i]))
            continue;
        load_one(load, key, item, &node->items[i], named ? &node->keys[i] : &node->items[i]);
        n++;
    }
    if (!kept)
        return;
    put(base, key->offset, &items, sizeof items);
    put(base, key->count_offset, &n, sizeof n);
}

static void load_key(struct schema_load *load, const struct schema_key *key, void *base,
        const struct yaml_node *node, const struct yaml_node *at)
{
    void *slot = slot_of(base, key->offset);
    if (key->later)
        yaml_diag(load->diag, DIAG_INACTIVE, at, "inactive", "not active yet: %s: %s", key->name,
                key->later);
    if (node->kind == YAML_BAD)
        return;
    if (key->shape == BOXED) {
        void *box = xcalloc(1, key->of->size);
        memcpy(slot, &box, sizeof box);
        load_one(load, key, box, node, at);
        return;
    }
    if (key->shape == ONE) {
        load_one(load, key, slot, node, at);
        return;
    }
    schema_load_note(load, slot, node);
    bool list = key->shape == LIST;
    if (node->kind != (list ? YAML_LIST : YAML_MAP)) {
        yaml_diag(load->diag, DIAG_ERROR, node, list ? "list" : "map", "%s: a %s is wanted here",
                key->name, list ? "list, [..]," : "map");
        return;
    }
    if (node->n < key->least)
        yaml_diag(load->diag, DIAG_ERROR, node, "empty", "%s: at least %zu wanted", key->name,
                key->least);
    load_many(load, key, base, node);
}

static void unknown_key(
        struct schema_load *load, const struct schema *schema, const struct yaml_node *key)
{
    struct near near = {0};
    for (size_t i = 0; i < schema->n_keys; i++)
        near_offer(&near, key->text, schema->keys[i].name);
    AUTO_TEXT struct text why;
    text_init(&why, DIAG_TEXT_MAX);
    text_fmt(&why, "unknown key '%s' in %s", yaml_show(slice_of(key->text)).text, schema->name);
    if (near.best)
        text_fmt(&why, "; did you mean '%s'?", near.best);
    report(load, key, "unknown-key", &why);
}

// The schema that the variant key's value chooses, or schema itself.
static const struct schema *choose(const struct schema *schema, const struct yaml_node *node)
{
    if (!schema->variant_key)
        return schema;
    const struct yaml_node *word = yaml_get(node, schema->variant_key, NULL);
    for (size_t i = 0; word && word->kind == YAML_TEXT && i < schema->n_variants; i++) {
        if (strcmp(word->text, schema->variants[i].word) == 0)
            return schema->variants[i].schema;
    }
    return NULL; // only the variant key itself can be checked
}

static void load_map(struct schema_load *load, const struct schema *schema, void *base,
        const struct yaml_node *node, const struct yaml_node *at)
{
    for (size_t i = 0; i < node->n; i++) {
        const struct yaml_node *key = &node->keys[i];
        const struct schema_key *row = key->kind == YAML_TEXT ? find_key(schema, key->text) : NULL;
        if (row)
            load_key(load, row, base, &node->items[i], key);
        else if (key->kind == YAML_TEXT)
            unknown_key(load, schema, key);
    }
    for (size_t i = 0; i < schema->n_keys; i++) {
        const struct schema_key *row = &schema->keys[i];
        if (yaml_get(node, row->name, NULL))
            continue;
        if (row->required)
            yaml_diag(load->diag, DIAG_ERROR, at, "missing-key", "%s has no '%s'", schema->name,
                    row->name);
        set_default(row, base);
    }
    if (schema->shorthand && schema->shorthand->type == S_REF)
        set_default(schema->shorthand, base);
}

static void load_variant_key(struct schema_load *load, const struct schema *schema, void *base,
        const struct yaml_node *node, const struct yaml_node *at)
{
    const struct schema_key *row = find_key(schema, schema->variant_key);
    const struct yaml_node *word = yaml_get(node, schema->variant_key, NULL);
    if (word)
        load_key(load, row, base, word, word);
    else
        yaml_diag(load->diag, DIAG_ERROR, at, "missing-key", "%s has no '%s'", schema->name,
                schema->variant_key);
}

void schema_load(struct schema_load *load, const struct schema *schema, void *base,
        const struct yaml_node *node, const struct yaml_node *at)
{
    if (node->kind == YAML_BAD)
        return;
    const struct schema_key *shorthand = schema->shorthand;
    if (node->kind != YAML_MAP && shorthand) {
        load_key(load, shorthand, base, node, at);
        set_defaults(schema, base, shorthand->offset);
        return;
    }
    if (node->kind != YAML_MAP) {
        yaml_diag(load->diag, DIAG_ERROR, node->len || node->kind != YAML_TEXT ? node : at, "map",
                "%s: a map of keys and values is wanted here", schema->name);
        set_defaults(schema, base, NOWHERE); // so that no later check stumbles over it
        return;
    }
    const struct schema *chosen = choose(schema, node);
    if (chosen)
        load_map(load, chosen, base, node, at);
    else
        load_variant_key(load, schema, base, node, at);
}
