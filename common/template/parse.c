// Turns the source of a template into its tree.
#include "common/template/parser.h"
#include "common/utf8.h"

#include <assert.h>

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

static void add_text(struct template *t, size_t from, size_t to)
{
    add_node(t, NODE_TEXT, from, slice_part(t->source, from, to))->line_start =
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

static bool add_named(struct parser *p, const struct tag *tag, enum node_kind kind)
{
    bool dotted = kind != NODE_PARTIAL && kind != NODE_PARENT && kind != NODE_BLOCK;
    if (!tag_check_name(p, tag, dotted))
        return false;
    add_node(p->t, kind, tag->start, tag->inside);
    return true;
}

// --- What has an end: sections, blocks, parents

static struct node *innermost(const struct parser *p, unsigned above)
{
    return p->depth > above ? &p->t->nodes[p->opened[p->depth - 1 - above].node] : NULL;
}

static bool in_parent(const struct parser *p)
{
    const struct node *node = innermost(p, 0);
    return node && node->kind == NODE_PARENT;
}

// In a block that stands in a parent, and so says what goes into the parent's block.
static bool in_argument(const struct parser *p)
{
    const struct node *around = innermost(p, 1);
    return around && around->kind == NODE_PARENT && innermost(p, 0)->kind == NODE_BLOCK;
}

static bool open_node(struct parser *p, const struct tag *tag, enum node_kind kind, size_t body)
{
    if (p->depth == TEMPLATE_SECTIONS_MAX)
        return template_err(p->t, tag->start, p->err, "sections are nested deeper than %d",
                TEMPLATE_SECTIONS_MAX);
    if (!add_named(p, tag, kind))
        return false;
    p->opened[p->depth++] = (struct opened){(uint32_t)(p->t->n - 1), (uint32_t)body};
    return true;
}

// The space before a tag that is the first on its line, or nothing.
static struct slice space_before(
        const struct parser *p, const struct tag *tag, const struct tag_line *line)
{
    return slice_part(p->t->source, line->from, tag->start);
}

static bool open_block(
        struct parser *p, const struct tag *tag, const struct tag_line *line, bool alone)
{
    if (!open_node(p, tag, NODE_BLOCK, alone ? line->to : tag->end))
        return false;
    struct node *block = innermost(p, 0);
    assert(block); // just opened
    block->alone = alone;
    block->leads = line->leads;
    block->indent = space_before(p, tag, line);
    return true;
}

// Only its end tells whether a parent is alone on its lines. The space before it is a text of its
// own until then.
static bool open_parent(struct parser *p, const struct tag *tag, const struct tag_line *line)
{
    if (p->at < line->from)
        add_text(p->t, p->at, line->from);
    if (line->leads)
        add_text(p->t, line->from, tag->start);
    if (!open_node(p, tag, NODE_PARENT, tag->end))
        return false;
    struct node *parent = innermost(p, 0);
    assert(parent); // just opened
    parent->leads = line->leads;
    parent->indent = space_before(p, tag, line);
    p->at = tag->end;
    return true;
}

static void end_parent(struct template *t, struct node *parent, const struct tag_line *line)
{
    parent->alone = parent->leads && line->ends;
    if (!parent->alone)
        return;
    struct node *space = parent - 1;
    space->text.len = 0;
    space->line_start = false;
    assert(parent > t->nodes && space->kind == NODE_TEXT);
}

// A block whose tag takes its line with it is indented as its content is (the suite's "Intrinsic
// indentation"); one without content, as its tag is.
static void end_block(
        const struct parser *p, struct node *block, size_t body, const struct tag *tag)
{
    struct slice s = p->t->source;
    for (size_t line = body, at = body; block->alone && at < tag->start; at++) {
        if (s.ptr[at] == '\n') {
            line = at + 1;
        } else if (!is_blank(s.ptr[at]) && s.ptr[at] != '\r') {
            block->indent = slice_part(s, line, at);
            return;
        }
    }
}

static const char *kind_word(const struct node *node)
{
    return node->kind == NODE_BLOCK ? "block" : node->kind == NODE_PARENT ? "parent" : "section";
}

static bool wrong_end(const struct parser *p, const struct node *section, const struct tag *tag)
{
    struct place opened = template_place(p->t, section->at);
    return template_err(p->t, tag->start, p->err,
            "%s '%.*s' opened at %u:%u ends first; write {{/%.*s}} before this", kind_word(section),
            NAME_ARG(section->text), opened.line, opened.col, NAME_ARG(section->text));
}

static bool close_node(struct parser *p, const struct tag *tag, const struct tag_line *line)
{
    struct node *node = innermost(p, 0);
    if (!node)
        return template_err(
                p->t, tag->start, p->err, "no section '%.*s' is open here", NAME_ARG(tag->inside));
    if (!slice_eq(node->text, tag->inside))
        return wrong_end(p, node, tag);
    node->end = (uint32_t)p->t->n;
    if (node->kind == NODE_PARENT)
        end_parent(p->t, node, line);
    else if (node->kind == NODE_BLOCK)
        end_block(p, node, p->opened[p->depth - 1].body, tag);
    p->depth--;
    return true;
}

// --- Tags in their places

static bool add_partial(
        struct parser *p, const struct tag *tag, const struct tag_line *line, bool alone)
{
    if (!add_named(p, tag, NODE_PARTIAL))
        return false;
    struct node *partial = &p->t->nodes[p->t->n - 1];
    partial->alone = alone;
    partial->indent = space_before(p, tag, line);
    return true;
}

static bool apply_tag(
        struct parser *p, const struct tag *tag, const struct tag_line *line, bool alone)
{
    switch (tag->sigil) {
    case '!':
        return true;
    case '=':
        return tag_set_delimiters(p, tag);
    case '#':
        return open_node(p, tag, NODE_SECTION, tag->end);
    case '^':
        return open_node(p, tag, NODE_INVERTED, tag->end);
    case '$':
        return open_block(p, tag, line, alone);
    case '/':
        return close_node(p, tag, line);
    case '>':
        return add_partial(p, tag, line, alone);
    default:
        return add_named(p, tag, tag->sigil ? NODE_RAW : NODE_VALUE);
    }
}

// Text between the blocks of a parent goes nowhere, so it is not kept; a value or a section there
// would go nowhere too, and that is hardly meant.
static bool parse_in_parent(struct parser *p, const struct tag *tag, const struct tag_line *line)
{
    if (!tag->sigil || !strchr("$/!=", tag->sigil))
        return template_err(p->t, tag->start, p->err,
                "only blocks stand in parent '%.*s'; write this tag inside of one",
                NAME_ARG(innermost(p, 0)->text));
    const struct node *parent = innermost(p, 0);
    bool alone = line->ends && (tag->sigil == '$' || (tag->sigil == '/' && parent->leads));
    if (!apply_tag(p, tag, line, alone))
        return false;
    p->at = alone ? line->to : tag->end;
    return true;
}

// A tag that writes nothing itself and is alone on its line takes the whole line with it.
static bool parse_tag(struct parser *p, size_t start)
{
    struct tag tag;
    if (!tag_read(p, start, &tag))
        return false;
    struct tag_line line;
    tag_line(p, &tag, &line);
    if (in_parent(p))
        return parse_in_parent(p, &tag, &line);
    if (tag.sigil == '<')
        return open_parent(p, &tag, &line);
    bool silent = tag.sigil && tag.sigil != '{' && tag.sigil != '&';
    bool alone = silent && line.leads && line.ends;
    if (!alone && !(tag.sigil == '/' && in_argument(p) && line.leads))
        add_text_before_tag(p, start);
    else if (p->at < line.from)
        add_text(p->t, p->at, line.from);
    if (!apply_tag(p, &tag, &line, alone))
        return false;
    p->at = alone ? line.to : tag.end;
    return true;
}

static bool parse(struct parser *p)
{
    struct slice source = p->t->source;
    for (size_t start; (start = tag_find(p)) < source.len;)
        if (!parse_tag(p, start))
            return false;
    if (p->at < source.len)
        add_text(p->t, p->at, source.len);
    const struct node *node = innermost(p, 0);
    return !node ||
           template_err(p->t, node->at, p->err, "%s '%.*s' does not end; close it with {{/%.*s}}",
                   kind_word(node), NAME_ARG(node->text), NAME_ARG(node->text));
}

static bool check_source(const struct template *t, struct err *err)
{
    struct slice s = t->source;
    if (s.len > TEMPLATE_SOURCE_MAX)
        return template_err(t, 0, err, "template is longer than %d bytes", TEMPLATE_SOURCE_MAX);
    if (s.len >= 3 && memcmp(s.ptr, "\xEF\xBB\xBF", 3) == 0)
        return template_err(t, 0, err, "template starts with a byte order mark; save it without");
    for (size_t i = 0, n; i < s.len; i += n) {
        n = utf8_len(slice_part(s, i, s.len));
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
