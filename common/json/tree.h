// tree.h: a JSON document as a flat array of values, for templates: read once, looked into often.
//
// It borrows from the document: a text without escapes is a slice of it, a number its own digits.
// One tree can be read into again and again and keeps its memory.
#pragma once
#include "common/json/scan.h"

// What is made of a document, such as values for a template, stands deeper than it did there.
enum { JSON_TREE_DEPTH_MAX = 2 * JSON_DEPTH_MAX };

// A value. What is in it follows it directly, each with what is in that.
struct json_node {
    enum json_kind kind;
    uint32_t size;     // values from this one to the last in it, itself included
    uint32_t n;        // members or elements
    struct slice name; // of a member, decoded; empty in an array and of the document
    struct slice text; // a string's, decoded (NUL may be in it); else its literal
};

struct json_tree { // zeroed is empty
    struct json_node *nodes;
    size_t n, room;
    unsigned char *texts; // what had escapes
    size_t texts_len, texts_room;
};
void json_tree_fini(struct json_tree *tree);
#define AUTO_JSON_TREE __attribute__((cleanup(json_tree_fini)))

// Reads the whole document, in place of what was in the tree: strict as json_check, but for its
// depth; a lone surrogate is an error too. nodes[0] is the document. On failure the tree is empty.
// The document must stay.
MUST_CHECK bool json_tree_read(struct json_tree *tree, struct slice document, struct err *err);

// The first member of that name; NULL when there is none or it is no object.
const struct json_node *json_tree_member(const struct json_node *object, struct slice name);

// The elements or members, one after the other: NULL gives the first, past the last it is NULL.
const struct json_node *json_tree_next(
        const struct json_node *container, const struct json_node *before);
