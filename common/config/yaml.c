// The tree is built from libyaml's events by recursion that YAML_DEPTH_MAX bounds.
#include "common/config/yaml.h"
#include "common/config/yaml_source.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    struct yaml_doc *doc;
    struct diag *diag;
    bool ended; // a refusal after which reading makes no sense
};

static void add_at(struct diag *diag, const struct yaml_node *node, const struct diag_row *said)
{
    struct diag_row row = *said;
    row.file = node->doc->file;
    row.line = node->line;
    row.column = node->column;
    row.span = node->span;
    diag_add(diag, &row);
}

void yaml_diag(struct diag *diag, enum diag_level level, const struct yaml_node *node,
        const char *code, const char *fmt, ...)
{
    char text[DIAG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    AUTO_FREE char *line = yaml_source_line(node->doc, node->line);
    AUTO_FREE char *held_code = xstrdup(code);
    add_at(diag, node,
            &(struct diag_row){
                    .level = level, .text = text, .code = held_code, .source_line = line});
}

void yaml_diag_secret(
        struct diag *diag, const struct yaml_node *node, const char *code, const char *text)
{
    AUTO_FREE char *held_text = xstrdup(text);
    AUTO_FREE char *held_code = xstrdup(code);
    add_at(diag, node,
            &(struct diag_row){.level = DIAG_ERROR, .text = held_text, .code = held_code});
}

static bool refuse(
        struct reader *r, const struct yaml_node *node, const char *code, const char *why)
{
    yaml_diag(r->diag, DIAG_ERROR, node, code, "%s", why);
    return false;
}

static void node_fini(struct yaml_node *node)
{
    for (size_t i = 0; i < node->n; i++) {
        if (node->keys)
            node_fini(&node->keys[i]);
        node_fini(&node->items[i]);
    }
    free(node->keys);
    free(node->items);
    free(node->text);
}

static struct yaml_node node_at(struct reader *r, const yaml_event_t *event)
{
    const yaml_mark_t *start = &event->start_mark, *end = &event->end_mark;
    bool one_line = start->line == end->line && end->column > start->column;
    return (struct yaml_node){.kind = YAML_BAD,
            .doc = r->doc,
            .line = (int)start->line + 1,
            .column = (int)start->column + 1,
            .span = one_line ? (int)(end->column - start->column) : 1};
}

// libyaml often notices an error far behind its cause: the mark of what was being read is told too.
static void syntax_error(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    char text[DIAG_TEXT_MAX];
    snprintf(text, sizeof text, "%s%s%s", p->problem ? p->problem : "can't be read",
            p->context ? " " : "", p->context ? p->context : "");
    int line = (int)p->problem_mark.line + 1, opened = (int)p->context_mark.line + 1;
    bool elsewhere = p->context && (opened != line);
    AUTO_FREE char *source = yaml_source_line(r->doc, line);
    AUTO_FREE char *opened_source = elsewhere ? yaml_source_line(r->doc, opened) : NULL;
    AUTO_FREE char *code = xstrdup("syntax");
    diag_add(r->diag, &(struct diag_row){.level = DIAG_ERROR,
                              .file = r->doc->file,
                              .line = line,
                              .column = (int)p->problem_mark.column + 1,
                              .span = 1,
                              .text = text,
                              .code = code,
                              .source_line = source,
                              .opened_line = elsewhere ? opened : 0,
                              .opened_column = (int)p->context_mark.column + 1,
                              .opened_source_line = opened_source});
    r->ended = true;
}

static bool next_event(struct reader *r, yaml_event_t *event)
{
    if (r->ended)
        return false;
    if (yaml_parser_parse(&r->parser, event))
        return true;
    syntax_error(r);
    return false;
}

static bool read_node(
        struct reader *r, const yaml_event_t *event, int depth, struct yaml_node *ret_node);

// Room for one more entry, in powers of two.
static bool grow(struct reader *r, struct yaml_node *node)
{
    if (node->n == YAML_ITEMS_MAX || ++r->doc->n_nodes > YAML_NODES_MAX) {
        r->ended = true;
        return refuse(r, node, "too-large", "has too many entries");
    }
    if (node->n & (node->n - 1))
        return true;
    size_t room = node->n ? node->n * 2 : 1;
    node->items = xrealloc(node->items, room * sizeof *node->items);
    if (node->kind == YAML_MAP)
        node->keys = xrealloc(node->keys, room * sizeof *node->keys);
    return true;
}

static void check_key(struct reader *r, const struct yaml_node *map, struct yaml_node *key)
{
    if (key->kind == YAML_BAD)
        return;
    if (key->kind != YAML_TEXT || (key->len == 0 && !key->quoted)) {
        refuse(r, key, "key-type", "a key must be a text");
        key->kind = YAML_BAD;
        return;
    }
    if (strcmp(key->text, "<<") == 0) {
        refuse(r, key, "merge-key", "merge keys are not used here: write the keys out");
        key->kind = YAML_BAD;
        return;
    }
    const struct yaml_node *first = NULL;
    if (!yaml_get(map, key->text, &first))
        return;
    yaml_diag(r->diag, DIAG_ERROR, key, "duplicate-key",
            "'%s' is defined again (first at %s:%d:%d)", yaml_show(slice_of(key->text)).text,
            r->doc->file, first->line, first->column);
    key->kind = YAML_BAD;
}

// One entry of a list, or key and value of a map, whose first event is given.
static bool read_entry(
        struct reader *r, const yaml_event_t *event, int depth, struct yaml_node *node)
{
    if (!grow(r, node))
        return false;
    struct yaml_node first = {0}, value = {0};
    bool ok = read_node(r, event, depth, &first);
    if (node->kind == YAML_LIST) {
        node->items[node->n++] = first;
        return ok;
    }
    if (ok)
        check_key(r, node, &first);
    yaml_event_t next;
    if (ok && (ok = next_event(r, &next))) {
        ok = read_node(r, &next, depth, &value);
        yaml_event_delete(&next);
    }
    node->keys[node->n] = first;
    node->items[node->n++] = value;
    return ok;
}

static bool read_entries(struct reader *r, int depth, yaml_event_type_t end, struct yaml_node *node)
{
    if (depth > YAML_DEPTH_MAX) {
        r->ended = true;
        return refuse(r, node, "too-deep", "is nested more than 8 levels deep");
    }
    for (;;) { // every turn takes an event, and the file is bounded
        yaml_event_t event;
        if (!next_event(r, &event))
            return false;
        bool done = event.type == end;
        bool ok = done || read_entry(r, &event, depth, node);
        yaml_event_delete(&event);
        if (done || !ok)
            return ok;
    }
}

static bool read_scalar(struct reader *r, const yaml_event_t *event, struct yaml_node *node)
{
    const unsigned char *bytes = event->data.scalar.value;
    size_t len = event->data.scalar.length;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (len && memchr(bytes, 0, len)) { // "\0" in double quotes
        refuse(r, node, "control", "holds a NUL character");
        node->kind = YAML_BAD;
        return true;
    }
    node->text = slice_dup((struct slice){bytes, len});
    node->len = len;
    return true;
}

// What an event carries besides its value and may not: anchors and tags.
static void check_marks(struct reader *r, const yaml_event_t *event, struct yaml_node *node)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        refuse(r, node, "anchor", "anchors are not used here: write the value out");
    if (tag)
        refuse(r, node, "tag", "tags are not used here: every value is a text");
    if (anchor || tag)
        node->kind = YAML_BAD;
}

// Fills *ret_node, which the caller frees in any case; false when reading ended.
static bool read_node(
        struct reader *r, const yaml_event_t *event, int depth, struct yaml_node *ret_node)
{
    *ret_node = node_at(r, event);
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(r, ret_node, "alias", "aliases are not used here: write the value out") ||
               !r->ended;
    bool ok = false;
    if (event->type == YAML_SCALAR_EVENT) {
        ret_node->kind = YAML_TEXT;
        ok = read_scalar(r, event, ret_node);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        ret_node->kind = YAML_LIST;
        ok = read_entries(r, depth + 1, YAML_SEQUENCE_END_EVENT, ret_node);
    } else {
        assert(event->type == YAML_MAPPING_START_EVENT);
        ret_node->kind = YAML_MAP;
        ok = read_entries(r, depth + 1, YAML_MAPPING_END_EVENT, ret_node);
    }
    check_marks(r, event, ret_node);
    return ok;
}

static void check_document(struct reader *r, const yaml_event_t *event)
{
    bool again = r->doc->n_nodes > 0;
    bool directive = event->data.document_start.version_directive ||
                     event->data.document_start.tag_directives.start !=
                             event->data.document_start.tag_directives.end;
    struct yaml_node at = node_at(r, event);
    if (again)
        refuse(r, &at, "documents", "a second document begins: one file holds one document");
    if (directive)
        refuse(r, &at, "directive", "directives (%YAML, %TAG) are not used here");
    r->ended |= again;
    r->doc->n_nodes++;
}

static void read_stream(struct reader *r)
{
    bool done = false;
    while (!done) {
        yaml_event_t event;
        if (!next_event(r, &event))
            return;
        done = event.type == YAML_STREAM_END_EVENT;
        bool inside = event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT ||
                      event.type == YAML_SEQUENCE_START_EVENT ||
                      event.type == YAML_MAPPING_START_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT)
            check_document(r, &event);
        else if (inside)
            done = !read_node(r, &event, 0, &r->doc->root);
        yaml_event_delete(&event);
    }
    if (r->doc->n_nodes == 0) {
        diag_file(r->diag, DIAG_ERROR, r->doc->file, "empty", "the file is empty");
        r->ended = true;
    }
}

struct yaml_doc *yaml_doc_read(const char *file, struct slice bytes, struct diag *diag)
{
    struct yaml_doc *doc = xcalloc(1, sizeof *doc);
    doc->file = xstrdup(file);
    doc->source = slice_dup(bytes);
    doc->len = bytes.len;
    struct reader r = {.doc = doc, .diag = diag};
    r.ended = !yaml_source_ok(doc, diag);
    if (!r.ended && !yaml_parser_initialize(&r.parser)) {
        diag_file(diag, DIAG_ERROR, file, "memory", "the YAML parser can't be set up");
        r.ended = true;
    } else if (!r.ended) {
        yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&r.parser, (const unsigned char *)doc->source, doc->len);
        read_stream(&r);
        yaml_parser_delete(&r.parser);
    }
    if (!r.ended)
        return doc;
    yaml_doc_free(doc);
    return NULL;
}

void yaml_doc_free(struct yaml_doc *doc)
{
    if (!doc)
        return;
    node_fini(&doc->root);
    free(doc->file);
    free(doc->source);
    free(doc);
}

const struct yaml_node *yaml_get(
        const struct yaml_node *map, const char *key, const struct yaml_node **ret_key)
{
    for (size_t i = 0; map->kind == YAML_MAP && i < map->n; i++) {
        if (map->keys[i].kind != YAML_TEXT || strcmp(map->keys[i].text, key) != 0)
            continue;
        if (ret_key)
            *ret_key = &map->keys[i];
        return &map->items[i];
    }
    return NULL;
}

struct yaml_shown yaml_show(struct slice text)
{
    struct yaml_shown shown = {{0}};
    size_t n = text.len < 60 ? text.len : 60;
    while (n < text.len && n > 0 && (text.ptr[n] & 0xc0) == 0x80)
        n--; // not inside a character
    for (size_t i = 0; i < n; i++)
        shown.text[i] = text.ptr[i] < 0x20 || text.ptr[i] == 0x7f ? '?' : (char)text.ptr[i];
    if (n < text.len)
        memcpy(shown.text + n, "...", 4);
    return shown;
}
