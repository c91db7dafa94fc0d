// yaml.h: reads a strict subset of YAML into a small tree of nodes that know where they stand.
//
// Refused, each with its place: anchors, aliases, tags, merge keys, duplicate keys, keys that are
// no text, more than one document, directives, tabs, control characters, anything but UTF-8.
// Scalars stay texts: what `no`, `22:00` or `0049` mean is decided by the schema, never by YAML.
#pragma once
#include "common/config/diag.h"

enum {
    YAML_FILE_MAX = 1024 * 1024, // bytes of one file
    YAML_DEPTH_MAX = 8,          // maps and lists inside one another
    YAML_ITEMS_MAX = 4096,       // entries of one map or list
    YAML_NODES_MAX = 100000,     // of one file
};

enum yaml_kind {
    YAML_TEXT, // text, len; quoted
    YAML_LIST, // items, n
    YAML_MAP,  // keys[i] -> items[i], n
    YAML_BAD,  // was refused and reported; says nothing further
};

struct yaml_doc;

struct yaml_node {
    enum yaml_kind kind;
    const struct yaml_doc *doc;
    int line, column, span; // 1-based, in characters
    bool quoted;
    char *text;
    size_t len;
    struct yaml_node *keys, *items;
    size_t n;
};

struct yaml_doc {
    char *file;
    char *source;
    size_t len;
    size_t n_nodes;
    struct yaml_node root;
};

// Reads bytes (copied); file is for messages. Every refusal goes to diag; NULL when there was one
// that ends reading (syntax, encoding, size), else a tree in which what was refused is YAML_BAD. An
// empty document is an error. Free with yaml_doc_free() (libyaml exports
// a yaml_free of its own).
MUST_CHECK struct yaml_doc *yaml_doc_read(const char *file, struct slice bytes, struct diag *diag);
void yaml_doc_free(struct yaml_doc *doc); // NULL is fine

// The value of a map's key, or NULL; *ret_key (may be NULL) is the key's own node.
const struct yaml_node *yaml_get(
        const struct yaml_node *map, const char *key, const struct yaml_node **ret_key);

// Adds a finding at a node.
void yaml_diag(struct diag *diag, enum diag_level level, const struct yaml_node *node,
        const char *code, const char *fmt, ...) PRINTF_LIKE(5, 6);

// An error at a node whose line may hold a secret: the line is not shown.
void yaml_diag_secret(
        struct diag *diag, const struct yaml_node *node, const char *code, const char *text);

// A scalar's text for messages: one line, cut after 60 bytes.
struct yaml_shown {
    char text[68];
};
struct yaml_shown yaml_show(struct slice text);
