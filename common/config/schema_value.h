// schema_value.h: one scalar of a schema row: text -> slot.
#pragma once
#include "common/config/schema.h"

// Bytes of a slot of this type; of->size for S_MAP.
size_t schema_slot_size(const struct schema_key *key);
// Does the slot own a string?
bool schema_slot_owns(enum schema_type type);

// Writes text into slot (freeing what it owned); slot may be NULL: only checked. On failure
// *ret_code is the finding's code and why (at most why_max bytes) its text.
MUST_CHECK bool schema_value(const struct schema_key *key, struct slice text, void *slot,
        const char **ret_code, struct text *why);
// The form of a scalar for messages and pages: "a duration such as 10s, 5m, 2h, 7d".
const char *schema_form(enum schema_type type);
// Its short name for tables: "duration".
const char *schema_type_name(enum schema_type type);
