// tree.h: the parsed form of a template, shared by the parser and the expander.
#pragma once
#include "common/template/template.h"

enum node_kind { NODE_TEXT, NODE_VALUE, NODE_RAW, NODE_SECTION, NODE_INVERTED, NODE_PARTIAL };

// The nodes of a section follow it, up to its end: a tree in one array.
struct node {
    enum node_kind kind;
    bool line_start;     // NODE_TEXT: it is the first thing on its line, so a partial's indent goes
                         // before it
    uint32_t at;         // where it stands in the source
    uint32_t end;        // index of the node that follows it and all that is in it
    struct slice text;   // the text, or the name
    struct slice indent; // NODE_PARTIAL: the space before it, if it stands alone on its line
};

struct template
{
    char *name;
    struct slice source; // own copy; every slice of a node points into it
    struct node *nodes;
    size_t n, room;
};

// Fills err as ERR_INPUT with "name:line:col: message" for a place in the source; returns false.
bool template_err(const struct template *t, size_t at, struct err *err, const char *fmt, ...)
        PRINTF_LIKE(4, 5);

// Names in messages are cut at this many bytes: NAME_ARG(slice) for "%.*s".
enum { NAME_SHOWN = 80 };
#define NAME_ARG(s) (int)((s).len < NAME_SHOWN ? (s).len : NAME_SHOWN), (const char *)(s).ptr
