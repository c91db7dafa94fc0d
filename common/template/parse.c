#include "common/template/tree.h"
#include "common/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum { DELIMITER_MAX = 8, TEMPLATE_NAME_MAX = 255 };

struct parser {
    struct template *t;
    size_t at;                                // the source up to here is parsed
    struct slice open, close;                 // the delimiters in force
    uint32_t sections[TEMPLATE_SECTIONS_MAX]; // the nodes of the open sections
    unsigned depth;
    struct err *err;
};

struct tag {
    size_t start, end;   // with its delimiters
    char sigil;          // one of "#^/>!={&", or 0
    struct slice inside; // without sigil, delimiters and the space around
};

static struct slice part(struct slice s, size_t from, size_t to)
{
    return (struct slice){s.ptr + from, to - from};
}

// Offset of needle in s from at on; s.len if there is none.
static size_t find(struct slice s, size_t at, struct slice needle)
{
    const unsigned char *hit = memmem(s.ptr + at, s.len - at, needle.ptr, needle.len);
    return hit ? (size_t)(hit - s.ptr) : s.len;
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(unsigned char c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static struct slice trim(struct slice s)
{
    while (s.len && is_space(s.ptr[0]))
        s = part(s, 1, s.len);
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

struct place {
    size_t at;
    unsigned line, col;
};

static void advance(const struct template *t, struct place *place, size_t at)
{
    for (; place->at < at; place->at++) {
        unsigned char c = t->source.ptr[place->at];
        place->line += c == '\n';
        place->col = c == '\n' ? 1 : place->col + ((c & 0xC0) != 0x80);
    }
}

static struct place where(const struct template *t, size_t at)
{
    struct place place = {0, 1, 1};
    advance(t, &place, at);
    return place;
}

bool template_err(const struct template *t, size_t at, struct err *err, const char *fmt, ...)
{
    char msg[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(msg, sizeof msg, fmt, args);
    va_end(args);
    struct place place = where(t, at);
    return err_set(err, ERR_INPUT, "%.100s:%u:%u: %s", t->name, place.line, place.col, msg);
}

static struct node *add_node(struct template *t, enum node_kind kind, size_t at, struct slice text)
{
    if (t->n == t->room) {
        t->room = t->room ? t->room * 2 : 8;
        t->nodes = xrealloc(t->nodes, t->room * sizeof *t->nodes);
    }
    struct node *node = &t->nodes[t->n++];
    *node = (struct node){.kind = kind, .at = (uint32_t)at, .end = (uint32_t)t->n, .text = text};
    return node;
}

static bool at_line_start(struct slice source, size_t at)
{
    return at == 0 || source.ptr[at - 1] == '\n';
}

static void add_text(struct template *t, size_t from, size_t to)
{
    add_node(t, NODE_TEXT, from, part(t->source, from, to))->line_start =
            at_line_start(t->source, from);
}

// An empty text still says that its line starts there, where an indent has to go.
static void add_text_before_tag(struct parser *p, size_t to)
{
    if (p->at < to)
        add_text(p->t, p->at, to);
    if (at_line_start(p->t->source, to))
        add_text(p->t, to, to);
}

// {{{x}}} ends in one '}' more, {{=x=}} in one '='.
static struct slice closing(const struct parser *p, char sigil, char buf[DELIMITER_MAX + 1])
{
    if (sigil != '{' && sigil != '=')
        return p->close;
    buf[0] = sigil == '{' ? '}' : '=';
    memcpy(buf + 1, p->close.ptr, p->close.len);
    return (struct slice){(const unsigned char *)buf, p->close.len + 1};
}

static bool read_tag(const struct parser *p, size_t start, struct tag *tag)
{
    struct slice source = p->t->source;
    char buf[DELIMITER_MAX + 1];
    size_t at = start + p->open.len;
    while (at < source.len && is_space(source.ptr[at]))
        at++;
    *tag = (struct tag){.start = start};
    if (at < source.len && source.ptr[at] && strchr("#^/>!={&", source.ptr[at]))
        tag->sigil = (char)source.ptr[at++];
    struct slice close = closing(p, tag->sigil, buf);
    size_t end = find(source, at, close);
    if (end == source.len)
        return template_err(p->t, start, p->err, "this tag does not end; close it with '%.*s'",
                NAME_ARG(close));
    tag->inside = trim(part(source, at, end));
    tag->end = end + close.len;
    return true;
}

static bool check_name(const struct parser *p, const struct tag *tag)
{
    struct slice name = tag->inside;
    if (name.len == 0)
        return template_err(p->t, tag->start, p->err, "this tag names nothing");
    if (name.len > TEMPLATE_NAME_MAX)
        return template_err(
                p->t, tag->start, p->err, "a name is longer than %d bytes", TEMPLATE_NAME_MAX);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] == 0x7F)
            return template_err(p->t, tag->start, p->err,
                    "a name has no space in it: '%.*s'; is the tag before it not closed?",
                    NAME_ARG(name));
    if (strchr("$<*", name.ptr[0]))
        return template_err(p->t, tag->start, p->err,
                "blocks, parents and dynamic names are not part of this language: '%.*s'; use "
                "{{>partial}}",
                NAME_ARG(name));
    return true;
}

static bool check_dots(const struct parser *p, const struct tag *tag)
{
    struct slice name = tag->inside;
    if (slice_eq(name, SLICE(".")))
        return true;
    bool bad = name.ptr[0] == '.' || name.ptr[name.len - 1] == '.' ||
               memmem(name.ptr, name.len, "..", 2);
    return !bad || template_err(p->t, tag->start, p->err, "a part of the name '%.*s' is empty",
                           NAME_ARG(name));
}

static bool add_named(struct parser *p, const struct tag *tag, enum node_kind kind)
{
    if (!check_name(p, tag) || (kind != NODE_PARTIAL && !check_dots(p, tag)))
        return false;
    add_node(p->t, kind, tag->start, tag->inside);
    return true;
}

static bool open_section(struct parser *p, const struct tag *tag)
{
    if (p->depth == TEMPLATE_SECTIONS_MAX)
        return template_err(p->t, tag->start, p->err, "sections are nested deeper than %d",
                TEMPLATE_SECTIONS_MAX);
    if (!add_named(p, tag, tag->sigil == '#' ? NODE_SECTION : NODE_INVERTED))
        return false;
    p->sections[p->depth++] = (uint32_t)(p->t->n - 1);
    return true;
}

static bool wrong_end(const struct parser *p, const struct node *section, const struct tag *tag)
{
    struct place opened = where(p->t, section->at);
    return template_err(p->t, tag->start, p->err,
            "section '%.*s' opened at %u:%u ends first; write {{/%.*s}} before this",
            NAME_ARG(section->text), opened.line, opened.col, NAME_ARG(section->text));
}

static bool close_section(struct parser *p, const struct tag *tag)
{
    if (p->depth == 0)
        return template_err(
                p->t, tag->start, p->err, "no section '%.*s' is open here", NAME_ARG(tag->inside));
    struct node *section = &p->t->nodes[p->sections[p->depth - 1]];
    if (!slice_eq(section->text, tag->inside))
        return wrong_end(p, section, tag);
    section->end = (uint32_t)p->t->n;
    p->depth--;
    return true;
}

static bool set_delimiters(struct parser *p, const struct tag *tag)
{
    struct slice s = tag->inside;
    size_t i = 0;
    while (i < s.len && !is_space(s.ptr[i]))
        i++;
    struct slice open = part(s, 0, i), close = trim(part(s, i, s.len));
    bool ok = open.len && close.len && open.len <= DELIMITER_MAX && close.len <= DELIMITER_MAX &&
              !memchr(s.ptr, '=', s.len);
    for (i = 0; ok && i < close.len; i++)
        ok = !is_space(close.ptr[i]);
    if (!ok)
        return template_err(p->t, tag->start, p->err,
                "delimiters are two words of at most %d bytes without '=', as in {{=<%% %%>=}}",
                DELIMITER_MAX);
    p->open = open;
    p->close = close;
    return true;
}

static bool apply_tag(struct parser *p, const struct tag *tag)
{
    switch (tag->sigil) {
    case '!':
        return true;
    case '=':
        return set_delimiters(p, tag);
    case '#':
    case '^':
        return open_section(p, tag);
    case '/':
        return close_section(p, tag);
    case '>':
        return add_named(p, tag, NODE_PARTIAL);
    default:
        return add_named(p, tag, tag->sigil ? NODE_RAW : NODE_VALUE);
    }
}

// A tag that writes nothing itself and is alone on its line takes the whole line with it. Gives
// the line's first byte and the next line's.
static bool stands_alone(
        const struct parser *p, const struct tag *tag, size_t *ret_from, size_t *ret_to)
{
    struct slice s = p->t->source;
    size_t from = tag->start, to = tag->end;
    if (!tag->sigil || tag->sigil == '{' || tag->sigil == '&')
        return false;
    while (from > p->at && is_blank(s.ptr[from - 1]))
        from--;
    while (to < s.len && is_blank(s.ptr[to]))
        to++;
    if (to + 1 < s.len && s.ptr[to] == '\r' && s.ptr[to + 1] == '\n')
        to++;
    if (!at_line_start(s, from) || (to < s.len && s.ptr[to] != '\n'))
        return false;
    *ret_from = from;
    *ret_to = to < s.len ? to + 1 : to;
    return true;
}

static bool parse_tag(struct parser *p, size_t start)
{
    struct tag tag;
    if (!read_tag(p, start, &tag))
        return false;
    size_t from = start, to = tag.end;
    bool alone = stands_alone(p, &tag, &from, &to);
    if (!alone)
        add_text_before_tag(p, start);
    else if (p->at < from)
        add_text(p->t, p->at, from);
    if (!apply_tag(p, &tag))
        return false;
    if (alone && tag.sigil == '>')
        p->t->nodes[p->t->n - 1].indent = part(p->t->source, from, start);
    p->at = to;
    return true;
}

static bool parse(struct parser *p)
{
    struct slice source = p->t->source;
    for (size_t start; (start = find(source, p->at, p->open)) < source.len;)
        if (!parse_tag(p, start))
            return false;
    if (p->at < source.len)
        add_text(p->t, p->at, source.len);
    if (p->depth == 0)
        return true;
    const struct node *section = &p->t->nodes[p->sections[p->depth - 1]];
    return template_err(p->t, section->at, p->err,
            "section '%.*s' does not end; close it with {{/%.*s}}", NAME_ARG(section->text),
            NAME_ARG(section->text));
}

static bool check_source(const struct template *t, struct err *err)
{
    struct slice s = t->source;
    if (s.len > TEMPLATE_SOURCE_MAX)
        return template_err(t, 0, err, "template is longer than %d bytes", TEMPLATE_SOURCE_MAX);
    if (s.len >= 3 && memcmp(s.ptr, "\xEF\xBB\xBF", 3) == 0)
        return template_err(t, 0, err, "template starts with a byte order mark; save it without");
    for (size_t i = 0, n; i < s.len; i += n) {
        n = utf8_len(part(s, i, s.len));
        if (n == 0 || s.ptr[i] == 0)
            return template_err(t, i, err, "template is not UTF-8 text; save it as UTF-8");
    }
    return true;
}

static void auto_template(struct template **t)
{
    template_free(*t);
}

struct template *template_new(const char *name, struct slice source, struct err *err)
{
    __attribute__((cleanup(auto_template))) struct template *t = xcalloc(1, sizeof *t);
    t->name = xstrdup(name);
    t->source = (struct slice){(const unsigned char *)slice_dup(source), source.len};
    struct parser p = {.t = t, .open = SLICE("{{"), .close = SLICE("}}"), .err = err};
    if (!check_source(t, err) || !parse(&p))
        return NULL;
    return steal(&t);
}

void template_free(struct template *t)
{
    if (!t)
        return;
    free(t->name);
    free((void *)(uintptr_t)t->source.ptr);
    free(t->nodes);
    free(t);
}

void template_names(const struct template *t,
        void (*seen)(void *ctx, const struct template_name *name), void *ctx)
{
    static const enum template_use use[] = {[NODE_VALUE] = TEMPLATE_VALUE,
            [NODE_RAW] = TEMPLATE_RAW,
            [NODE_SECTION] = TEMPLATE_SECTION,
            [NODE_INVERTED] = TEMPLATE_INVERTED,
            [NODE_PARTIAL] = TEMPLATE_PARTIAL};
    const struct node *sections[TEMPLATE_SECTIONS_MAX];
    unsigned depth = 0;
    struct place place = {0, 1, 1};
    for (size_t i = 0; i < t->n; i++) {
        const struct node *node = &t->nodes[i];
        while (depth && sections[depth - 1]->end <= i)
            depth--;
        if (node->kind == NODE_TEXT)
            continue;
        advance(t, &place, node->at);
        struct template_name name = {
                .use = use[node->kind], .name = node->text, .line = place.line, .col = place.col};
        if (depth)
            name.section = sections[depth - 1]->text;
        seen(ctx, &name);
        if (node->kind == NODE_SECTION || node->kind == NODE_INVERTED)
            sections[depth++] = node;
    }
}
