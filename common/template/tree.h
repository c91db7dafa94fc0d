// tree.h: the parsed form of a template, shared by the parser and the expander.
#pragma once
#include "common/template/template.h"

enum node_kind {
    NODE_TEXT,
    NODE_VALUE,
    NODE_RAW,
    NODE_SECTION,
    NODE_INVERTED,
    NODE_PARTIAL,
    NODE_PARENT, // in it are only blocks: what goes into the parent's
    NODE_BLOCK,
};

// The nodes of a section, block or parent follow it, up to its end: a tree in one array.
struct node {
    enum node_kind kind;
    bool line_start;   // NODE_TEXT: it is the first thing on its line, so an indent goes before it
    bool alone;        // partial, parent: alone on its line (or lines), whose end is not written;
                       // block: its tag is, so that its content starts with a line
    bool leads;        // parent, block: only space before it on its line
    uint32_t at;       // where it stands in the source
    uint32_t end;      // index of the node that follows it and all that is in it
    struct slice text; // the text, or the name
    struct slice indent; // partial, parent: the space before it, if it leads. Block: the space that
                         // its lines begin with
};

struct template
{
    char *name;
    struct slice source; // own copy; every slice of a node points into it
    struct node *nodes;
    size_t n, room;
};

// A node's text where it fills a header, to which the line end of the file does not belong.
static inline struct slice node_header_text(const struct template *t, const struct node *node)
{
    struct slice text = node->text;
    if (node != &t->nodes[t->n - 1])
        return text;
    text.len -= text.len && text.ptr[text.len - 1] == '\n';
    text.len -= text.len && text.ptr[text.len - 1] == '\r';
    return text;
}

// A place in the source, as people count: from 1, columns in characters.
struct place {
    size_t at;
    unsigned line, col;
};
struct place template_place(const struct template *t, size_t at);

// Fills err as ERR_INPUT with "name:line:col: message" for a place in the source; returns false.
bool template_err(const struct template *t, size_t at, struct err *err, const char *fmt, ...)
        PRINTF_LIKE(4, 5);

// Names in messages are cut at this many bytes: NAME_ARG(slice) for "%.*s".
enum { NAME_SHOWN = 80 };
#define NAME_ARG(s) (int)((s).len < NAME_SHOWN ? (s).len : NAME_SHOWN), (const char *)(s).ptr
