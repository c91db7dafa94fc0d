// schema_load.h: what one load remembers: findings, references, and where each slot came from.
#pragma once
#include "common/config/schema.h"

struct schema_place {
    const void *slot;
    const struct yaml_node *node;
};

struct schema_load {
    struct diag *diag;
    struct schema_ref *refs;
    size_t n_refs;
    struct schema_place *places; // open addressing, a power of two
    size_t n_places, room;
};

void schema_load_note(struct schema_load *load, const void *slot, const struct yaml_node *node);
void schema_load_ref(struct schema_load *load, const struct schema_ref *ref);
