#include "common/json/scan.h"
#include "common/template/tree.h"

#include <stdio.h>

enum { INDENT_MAX = 1024 };

struct run {
    const struct template_how *how;
    struct text *out;
    struct err *err;
    const json_t
            *contexts[TEMPLATE_CONTEXTS_MAX]; // innermost last; NULL = a value that is not there
    unsigned depth;
    unsigned partials;
    unsigned steps;
};

// A template being expanded, and the indent that its lines get.
struct scope {
    const struct template *t;
    struct slice indent;
};

static bool expand_nodes(struct run *run, const struct scope *scope, size_t from, size_t to);

static bool step(struct run *run, const struct scope *scope, const struct node *node)
{
    return ++run->steps <= TEMPLATE_STEPS_MAX ||
           template_err(scope->t, node->at, run->err, "expansion takes more than %d steps",
                   TEMPLATE_STEPS_MAX);
}

// Everything that reaches out comes through here.
static bool write(
        struct run *run, const struct scope *scope, const struct node *node, struct slice bytes)
{
    if (bytes.len && memchr(bytes.ptr, '\0', bytes.len))
        return template_err(scope->t, node->at, run->err, "a NUL can't stand in a message");
    bool in_header = run->how->part == TEMPLATE_HEADER;
    for (size_t i = 0; in_header && i < bytes.len; i++)
        if (bytes.ptr[i] == '\r' || bytes.ptr[i] == '\n')
            return template_err(
                    scope->t, node->at, run->err, "a line break can't stand in a header");
    return text_add(run->out, bytes) ||
           template_err(scope->t, node->at, run->err, "the message is longer than %zu bytes",
                   run->out->max);
}

static bool write_html(
        struct run *run, const struct scope *scope, const struct node *node, struct slice s)
{
    static const char *const entity[256] = {
            ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    size_t done = 0;
    for (size_t i = 0; i < s.len; i++) {
        const char *str = entity[s.ptr[i]];
        if (!str)
            continue;
        if (!write(run, scope, node, (struct slice){s.ptr + done, i - done}) ||
                !write(run, scope, node, slice_of(str)))
            return false;
        done = i + 1;
    }
    return write(run, scope, node, (struct slice){s.ptr + done, s.len - done});
}

static bool write_value(
        struct run *run, const struct scope *scope, const struct node *node, struct slice s)
{
    if (node->kind == NODE_RAW)
        return write(run, scope, node, s);
    if (run->how->part == TEMPLATE_HTML)
        return write_html(run, scope, node, s);
    if (run->how->part == TEMPLATE_JSON)
        return json_escape(run->out, s) ||
               template_err(scope->t, node->at, run->err, "the message is longer than %zu bytes",
                       run->out->max);
    return write(run, scope, node, s);
}

static const json_t *member(const json_t *object, struct slice name)
{
    return json_is_object(object) ? json_object_getn(object, (const char *)name.ptr, name.len)
                                  : NULL;
}

// Splits the first part off a dotted name.
static struct slice next_part(struct slice *rest)
{
    const unsigned char *dot = memchr(rest->ptr, '.', rest->len);
    struct slice first = {rest->ptr, dot ? (size_t)(dot - rest->ptr) : rest->len};
    size_t used = first.len + (dot != NULL);
    *rest = (struct slice){rest->ptr + used, rest->len - used};
    return first;
}

// The first part is looked for from the innermost context outwards, the others only inside it, so a
// broken chain finds nothing (spec: interpolation, "Broken Chain Resolution"). NULL if missing.
static const json_t *lookup(const struct run *run, struct slice name)
{
    unsigned depth = run->depth;
    if (slice_eq(name, SLICE(".")))
        return run->contexts[depth - 1];
    struct slice first = next_part(&name);
    const json_t *value = NULL;
    while (!value && depth > 0)
        value = member(run->contexts[--depth], first);
    while (value && name.len)
        value = member(value, next_part(&name));
    return value;
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
}

// The shortest digits that read back as the same number: 1.21, not 1.20999999999999996.
static void print_real(double value, char *buf, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, value);
        if (strtod(buf, NULL) == value)
            return;
    }
}

static bool write_scalar(
        struct run *run, const struct scope *scope, const struct node *node, const json_t *value)
{
    char buf[40];
    switch (json_typeof(value)) {
    case JSON_STRING:
        return write_value(run, scope, node,
                (struct slice){(const unsigned char *)json_string_value(value),
                        json_string_length(value)});
    case JSON_INTEGER:
        snprintf(buf, sizeof buf, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return write(run, scope, node, slice_of(buf));
    case JSON_REAL:
        print_real(json_real_value(value), buf, sizeof buf);
        return write(run, scope, node, slice_of(buf));
    case JSON_TRUE:
        return write(run, scope, node, SLICE("true"));
    case JSON_FALSE:
        return write(run, scope, node, SLICE("false"));
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_ARRAY:
    default:
        return true;
    }
}

static bool expand_value(struct run *run, const struct scope *scope, const struct node *node)
{
    const json_t *value = lookup(run, node->text);
    bool missing = !value || json_is_null(value);
    bool strict = !run->how->lenient;
    if (strict && missing)
        return template_err(
                scope->t, node->at, run->err, "'%.*s' has no value", NAME_ARG(node->text));
    if (strict && (json_is_object(value) || json_is_array(value)))
        return template_err(scope->t, node->at, run->err, "'%.*s' is not one value but %s",
                NAME_ARG(node->text),
                json_is_array(value) ? "a list; write a section around it"
                                     : "a group; name a field of it");
    return missing || write_scalar(run, scope, node, value);
}

// Text with the scope's indent before each line that starts in it.
static bool expand_text(struct run *run, const struct scope *scope, const struct node *node)
{
    struct slice text = node->text;
    bool is_last = node == &scope->t->nodes[scope->t->n - 1];
    if (is_last && run->how->part == TEMPLATE_HEADER) {
        text.len -= text.len && text.ptr[text.len - 1] == '\n';
        text.len -= text.len && text.ptr[text.len - 1] == '\r';
    }
    if (!scope->indent.len)
        return write(run, scope, node, text);
    bool line_start = node->line_start;
    do {
        const unsigned char *newline = memchr(text.ptr, '\n', text.len);
        size_t len = newline ? (size_t)(newline - text.ptr) + 1 : text.len;
        if ((line_start && !write(run, scope, node, scope->indent)) ||
                !write(run, scope, node, (struct slice){text.ptr, len}))
            return false;
        text = (struct slice){text.ptr + len, text.len - len};
        line_start = true;
    } while (text.len);
    return true;
}

static bool expand_in(struct run *run, const struct scope *scope, const struct node *section,
        const json_t *context)
{
    if (run->depth == TEMPLATE_CONTEXTS_MAX)
        return template_err(scope->t, section->at, run->err, "values are nested deeper than %d",
                TEMPLATE_CONTEXTS_MAX);
    run->contexts[run->depth++] = context;
    size_t first = (size_t)(section - scope->t->nodes) + 1;
    bool ok = step(run, scope, section) && expand_nodes(run, scope, first, section->end);
    run->depth--;
    return ok;
}

static bool expand_section(struct run *run, const struct scope *scope, const struct node *node)
{
    const json_t *value = lookup(run, node->text);
    if (is_empty(value))
        return true;
    if (!json_is_array(value))
        return expand_in(run, scope, node, value);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!expand_in(run, scope, node, json_array_get(value, i)))
            return false;
    return true;
}

static bool expand_inverted(struct run *run, const struct scope *scope, const struct node *node)
{
    size_t first = (size_t)(node - scope->t->nodes) + 1;
    return !is_empty(lookup(run, node->text)) || expand_nodes(run, scope, first, node->end);
}

static bool expand_partial(struct run *run, const struct scope *scope, const struct node *node)
{
    const struct template *t =
            run->how->partial ? run->how->partial(run->how->ctx, node->text) : NULL;
    if (!t && run->how->lenient)
        return true;
    if (!t)
        return template_err(
                scope->t, node->at, run->err, "there is no partial '%.*s'", NAME_ARG(node->text));
    if (run->partials == TEMPLATE_PARTIALS_MAX)
        return template_err(scope->t, node->at, run->err,
                "partials are nested deeper than %d; does '%.*s' contain itself?",
                TEMPLATE_PARTIALS_MAX, NAME_ARG(node->text));
    AUTO_TEXT struct text indent = {.max = INDENT_MAX};
    if (node->indent.len && !(text_add(&indent, scope->indent) && text_add(&indent, node->indent)))
        return template_err(
                scope->t, node->at, run->err, "the indent is longer than %d bytes", INDENT_MAX);
    struct scope inner = {t, text_slice(&indent)};
    run->partials++;
    bool ok = expand_nodes(run, &inner, 0, t->n);
    run->partials--;
    return ok;
}

static bool expand_nodes(struct run *run, const struct scope *scope, size_t from, size_t to)
{
    static bool (*const expand[])(struct run *, const struct scope *, const struct node *) = {
            [NODE_TEXT] = expand_text,
            [NODE_VALUE] = expand_value,
            [NODE_RAW] = expand_value,
            [NODE_SECTION] = expand_section,
            [NODE_INVERTED] = expand_inverted,
            [NODE_PARTIAL] = expand_partial};
    for (size_t i = from; i < to; i = scope->t->nodes[i].end) {
        const struct node *node = &scope->t->nodes[i];
        if (!step(run, scope, node) || !expand[node->kind](run, scope, node))
            return false;
    }
    return true;
}

bool template_expand(const struct template *t, const struct template_how *how, const json_t *values,
        struct text *out, struct err *err)
{
    struct run run = {.how = how, .out = out, .err = err, .contexts = {values}, .depth = 1};
    struct scope scope = {.t = t};
    struct text before = *out;
    if (expand_nodes(&run, &scope, 0, t->n))
        return true;
    out->len = before.len;
    out->overflow = before.overflow;
    if (out->ptr)
        out->ptr[out->len] = '\0';
    return false;
}
