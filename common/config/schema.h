// schema.h: one table mechanism for every configuration file: rows of data say which keys exist,
// what they mean and where their values go.
//
// A schema describes one map. schema_load() walks a YAML map beside it, fills the struct, sets the
// defaults of what is absent, and reports everything that does not fit. schema_free_in() frees by
// the same table what schema_load() allocated.
#pragma once
#include "common/config/yaml.h"

// How a scalar is written, and what its slot is.
enum schema_type {
    S_NONE,
    S_TEXT,       // char *: one line
    S_SOURCE,     // char *: [a-z0-9-]
    S_IDENT,      // char *: [a-z0-9_-]
    S_FIELD,      // char *: [A-Za-z_][A-Za-z0-9_]*
    S_HEADER,     // char *: an HTTP header's name
    S_WORD,       // char *: one of words
    S_ENUM,       // int: one of words
    S_FLAG,       // bool: one of words
    S_BOOL,       // bool: true | false
    S_SECONDS,    // int64_t, whole seconds
    S_MS,         // int64_t
    S_SIZE,       // size_t, bytes
    S_INT,        // int
    S_INT_AUTO,   // int, "auto" = 0
    S_PERCENT,    // int
    S_RATE,       // double, a second
    S_POINTER,    // char *: JSON pointer
    S_CREDENTIAL, // char *: NAME of credential:NAME
    S_DATE,       // int64_t, begin of that UTC day
    S_DATE_END,   // int64_t, end of that UTC day (the next one's begin)
    S_WALL,       // char *: "21:00"
    S_ZONE,       // char *
    S_LOCALE,     // char *
    S_LISTEN,     // char *: address:port
    S_NETWORK,    // char *: address or address/bits
    S_WEB_URL,    // char *
    S_HTTPS_URL,  // char *
    S_TOPIC,      // char *: an SNS topic's ARN, "..:*" = all of an account
    S_DETOUR,     // char *: host=address:port
    S_MAILBOX,    // char *
    S_SENDER,     // char *: a phone number or name that messages come from
    S_FORMAT,     // int: the version of the file format, 1
    S_REF,        // int: index of something named elsewhere, resolved by the owner (schema_refs)
    S_MAP,        // the struct (or NOWHERE) that `of` describes
};

enum schema_shape {
    ONE,
    LIST,   // T *slot, size_t count
    MAP_OF, // T *slot, size_t count; the key goes into the struct at of->name_offset
    BOXED,  // T *slot, NULL when absent; only with S_MAP
};

#define NOWHERE SIZE_MAX // offset: checked, not stored

// A word and what it means; lists end with a NULL name.
struct schema_word {
    const char *name;
    int value;
};

struct schema_key {
    const char *name;
    enum schema_type type;
    enum schema_shape shape;
    bool required;
    size_t offset, count_offset;
    const struct schema *of;         // S_MAP
    const struct schema_word *words; // S_WORD, S_ENUM, S_FLAG
    int64_t min, max;                // of numbers, in the slot's unit; 0, 0 = any
    size_t least;                    // entries a list or map must have
    int ref;                         // S_REF: which kind
    const char *fallback;            // default, as it would be written; NULL = zero (-1 for S_REF)
    const char *later;               // not active yet: what does not happen; NULL = active
    const char *about;               // one line for people
};

struct schema_variant {
    const char *word;
    const struct schema *schema;
};

struct schema {
    const char *name; // what one of it is called in messages: "source"
    size_t size;      // of the struct
    const struct schema_key *keys;
    size_t n_keys;
    const struct schema_key *shorthand;   // how a value that is no map is read, or NULL
    enum schema_type name_type;           // entries of MAP_OF: the form of their keys ..
    const struct schema_word *name_words; // .. or the only ones that exist
    size_t name_offset;
    const char *variant_key; // the key that decides which variant's schema is used instead
    const struct schema_variant *variants;
    size_t n_variants;
};

// A reference that was read and must be resolved: *slot is -1 until then.
struct schema_ref {
    int *slot;
    const struct yaml_node *node;
    int kind;
};

// Remembers where every value came from, so that checks made later can point at it.
struct schema_load;
struct schema_load *schema_load_new(struct diag *diag);
void schema_load_free(struct schema_load *load); // NULL is fine

// Fills base (zeroed) from node; `at` is where a missing key is reported. Findings go to the diag.
void schema_load(struct schema_load *load, const struct schema *schema, void *base,
        const struct yaml_node *node, const struct yaml_node *at);
// The node a slot was filled from, or NULL (a default). The slot is the address of a struct's
// member or of a list's element.
const struct yaml_node *schema_where(const struct schema_load *load, const void *slot);
const struct schema_ref *schema_refs(const struct schema_load *load, size_t *ret_n);
// Adds a finding at slot, or at fallback_slot when slot holds a default.
void schema_diag(const struct schema_load *load, enum diag_level level, const void *const slots[2],
        const char *code, const char *fmt, ...) PRINTF_LIKE(5, 6);

// Frees and clears everything base holds by the table, not base itself.
void schema_free_in(const struct schema *schema, void *base);

// Calls seen for every key of schema and below, once a schema, with the dotted name of its section.
void schema_walk(const struct schema *schema,
        void (*seen)(void *ctx, const char *section, const struct schema_key *key), void *ctx);
