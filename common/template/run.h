// run.h: the state of one expansion, shared by the files of the expander.
#pragma once
#include "common/template/tree.h"

// A parent that is being expanded: its blocks go before the defaults of what is in it.
struct frame {
    const struct template *t;
    const struct node *parent;
    const struct frame *outer; // NULL = none
};

struct run {
    const struct template_how *how;
    struct text *out;
    struct err *err;
    const struct json_node
            *contexts[TEMPLATE_CONTEXTS_MAX]; // innermost last; NULL = a value that is not there
    unsigned depth;
    unsigned partials;
    unsigned steps;
    const struct frame *frames; // innermost first
    bool indented;              // the indent of the next line is written already
};

// A template being expanded.
struct scope {
    const struct template *t;
    struct slice indent; // goes before its lines
    struct slice dedent; // is taken off them first, as far as it is there
};

// ERR_INPUT once an expansion takes too many steps.
bool run_step(struct run *run, const struct scope *scope, const struct node *node);
bool run_nodes(struct run *run, const struct scope *scope, size_t from, size_t to);

// Everything that reaches out comes through here.
bool run_write(
        struct run *run, const struct scope *scope, const struct node *node, struct slice bytes);
// Writes the scope's indent, where it is not there yet.
bool run_indent(struct run *run, const struct scope *scope, const struct node *node);
// s without what it has in common with the scope's dedent.
struct slice run_dedent(const struct scope *scope, struct slice s);

// The value of a name here, borrowed; NULL if it is missing.
const struct json_node *run_lookup(const struct run *run, struct slice name);
// Writes a text, number or truth value, escaped by the part; the rest writes nothing.
bool run_scalar(struct run *run, const struct scope *scope, const struct node *node,
        const struct json_node *value);

bool expand_partial(struct run *run, const struct scope *scope, const struct node *node);
bool expand_parent(struct run *run, const struct scope *scope, const struct node *node);
bool expand_block(struct run *run, const struct scope *scope, const struct node *node);
