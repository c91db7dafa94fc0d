// parser.h: what the files of the template parser share: the state of a parse, and tags.
#pragma once
#include "common/template/tree.h"

enum { DELIMITER_MAX = 8, TEMPLATE_NAME_MAX = 255 };

// A section, block or parent that is not closed yet.
struct opened {
    uint32_t node;
    uint32_t body; // where its content begins in the source
};

struct parser {
    struct template *t;
    size_t at;                // the source up to here is parsed
    struct slice open, close; // the delimiters in force
    struct opened opened[TEMPLATE_SECTIONS_MAX];
    unsigned depth;
    struct err *err;
};

struct tag {
    size_t start, end;   // with its delimiters
    char sigil;          // one of "#^/>!={&$<", or 0
    struct slice inside; // without sigil, delimiters and the space around
};

// A tag's line, as far as it is blank: before the tag (leads) or from its end on (ends).
struct tag_line {
    size_t from; // the line's first byte if it leads, else the tag's
    size_t to;   // the next line's first byte if it ends, else the byte after the tag
    bool leads, ends;
};

static inline struct slice slice_part(struct slice s, size_t from, size_t to)
{
    return (struct slice){s.ptr + from, to - from};
}

static inline bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

static inline bool at_line_start(struct slice source, size_t at)
{
    return at == 0 || source.ptr[at - 1] == '\n';
}

// Where the next tag starts, from p->at on; the source's length if there is none.
size_t tag_find(const struct parser *p);
bool tag_read(const struct parser *p, size_t start, struct tag *tag);
void tag_line(const struct parser *p, const struct tag *tag, struct tag_line *line);
// Is the name one that can stand here? Those of values are dotted: no part is empty.
bool tag_check_name(const struct parser *p, const struct tag *tag, bool dotted);
bool tag_set_delimiters(struct parser *p, const struct tag *tag);
