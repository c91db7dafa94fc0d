#include "common/config/schema_load.h"

#include "common/config/schema_value.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

struct schema_load *schema_load_new(struct diag *diag)
{
    struct schema_load *load = xcalloc(1, sizeof *load);
    load->diag = diag;
    load->room = 64;
    load->places = xcalloc(load->room, sizeof *load->places);
    return load;
}

void schema_load_free(struct schema_load *load)
{
    if (!load)
        return;
    free(load->refs);
    free(load->places);
    free(load);
}

// The place of slot, or the free one it would take.
static struct schema_place *place_of(const struct schema_load *load, const void *slot)
{
    size_t mask = load->room - 1;
    size_t at = (size_t)(((uintptr_t)slot >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (load->places[at].slot && load->places[at].slot != slot)
        at = (at + 1) & mask;
    return &load->places[at];
}

static void rehash(struct schema_load *load)
{
    AUTO_FREE struct schema_place *old = load->places;
    size_t n = load->room;
    load->room *= 2;
    load->places = xcalloc(load->room, sizeof *load->places);
    for (size_t i = 0; i < n; i++) {
        if (old[i].slot)
            *place_of(load, old[i].slot) = old[i];
    }
}

void schema_load_note(struct schema_load *load, const void *slot, const struct yaml_node *node)
{
    if (!slot)
        return;
    if (load->n_places * 2 >= load->room)
        rehash(load);
    struct schema_place *place = place_of(load, slot);
    load->n_places += place->slot == NULL;
    *place = (struct schema_place){slot, node}; // a struct's first member overrides the struct
}

void schema_load_ref(struct schema_load *load, const struct schema_ref *ref)
{
    if ((load->n_refs & (load->n_refs - 1)) == 0)
        load->refs =
                xrealloc(load->refs, (load->n_refs ? load->n_refs * 2 : 1) * sizeof *load->refs);
    load->refs[load->n_refs++] = *ref;
}

const struct yaml_node *schema_where(const struct schema_load *load, const void *slot)
{
    return slot ? place_of(load, slot)->node : NULL;
}

const struct schema_ref *schema_refs(const struct schema_load *load, size_t *ret_n)
{
    *ret_n = load->n_refs;
    return load->refs;
}

void schema_diag(const struct schema_load *load, enum diag_level level, const void *const slots[2],
        const char *code, const char *fmt, ...)
{
    char text[DIAG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const struct yaml_node *node = schema_where(load, slots[0]);
    if (!node)
        node = schema_where(load, slots[1]);
    if (node)
        yaml_diag(load->diag, level, node, code, "%s", text);
    else
        diag_file(load->diag, level, NULL, code, "%s", text);
}

static void free_slot(const struct schema_key *key, void *slot)
{
    if (key->type == S_MAP) {
        schema_free_in(key->of, slot);
        return;
    }
    if (!schema_slot_owns(key->type))
        return;
    void *owned;
    memcpy(&owned, slot, sizeof owned);
    free(owned);
    memset(slot, 0, sizeof owned); // two rows may share a slot
}

static void free_key(const struct schema_key *key, char *base)
{
    if (key->offset == NOWHERE)
        return;
    char *slot = base + key->offset;
    if (key->shape == ONE) {
        free_slot(key, slot);
        return;
    }
    char *items;
    memcpy(&items, slot, sizeof items);
    size_t n = items != NULL;
    if (key->shape != BOXED)
        memcpy(&n, base + key->count_offset, sizeof n);
    for (size_t i = 0; items && i < n; i++) {
        char *item = items + i * schema_slot_size(key);
        free_slot(key, item);
        if (key->shape == MAP_OF)
            free_slot(
                    &(struct schema_key){.type = key->of->name_words ? S_TEXT : key->of->name_type},
                    item + key->of->name_offset);
    }
    free(items);
    memcpy(slot, &(void *){NULL}, sizeof(void *));
    if (key->shape != BOXED)
        memset(base + key->count_offset, 0, sizeof n);
}

void schema_free_in(const struct schema *schema, void *base)
{
    for (size_t i = 0; i < schema->n_keys; i++)
        free_key(&schema->keys[i], base);
    if (schema->shorthand)
        free_key(schema->shorthand, base);
    for (size_t i = 0; i < schema->n_variants; i++)
        schema_free_in(schema->variants[i].schema, base);
}

struct walk {
    void (*seen)(void *ctx, const char *section, const struct schema_key *key);
    void *ctx;
};

static void walk_schema(
        const struct walk *walk, const struct schema *schema, const char *section, int depth)
{
    assert(depth < 16);
    for (size_t i = 0; i < schema->n_keys; i++) {
        const struct schema_key *key = &schema->keys[i];
        walk->seen(walk->ctx, section, key);
        if (key->type != S_MAP)
            continue;
        char below[256];
        snprintf(below, sizeof below, "%s%s%s%s", section, *section ? "." : "", key->name,
                key->shape == MAP_OF ? ".*" : "");
        walk_schema(walk, key->of, below, depth + 1);
    }
    for (size_t i = 0; i < schema->n_variants; i++)
        walk_schema(walk, schema->variants[i].schema, section, depth + 1);
}

void schema_walk(const struct schema *schema,
        void (*seen)(void *ctx, const char *section, const struct schema_key *key), void *ctx)
{
    walk_schema(&(struct walk){seen, ctx}, schema, "", 0);
}
