#include "common/template/run.h"

bool run_step(struct run *run, const struct scope *scope, const struct node *node)
{
    return ++run->steps <= TEMPLATE_STEPS_MAX ||
           template_err(scope->t, node->at, run->err, "expansion takes more than %d steps",
                   TEMPLATE_STEPS_MAX);
}

static bool is_empty(const struct json_node *value)
{
    return !value || value->kind == JSON_KIND_NULL || value->kind == JSON_KIND_FALSE ||
           (value->kind == JSON_KIND_ARRAY && value->n == 0) ||
           (value->kind == JSON_KIND_STRING && value->text.len == 0);
}

static bool expand_value(struct run *run, const struct scope *scope, const struct node *node)
{
    const struct json_node *value = run_lookup(run, node->text);
    bool missing = !value || value->kind == JSON_KIND_NULL;
    bool strict = !run->how->lenient;
    if (strict && missing)
        return template_err(
                scope->t, node->at, run->err, "'%.*s' has no value", NAME_ARG(node->text));
    if (strict && (value->kind == JSON_KIND_OBJECT || value->kind == JSON_KIND_ARRAY))
        return template_err(scope->t, node->at, run->err, "'%.*s' is not one value but %s",
                NAME_ARG(node->text),
                value->kind == JSON_KIND_ARRAY ? "a list; write a section around it"
                                               : "a group; name a field of it");
    return missing || run_scalar(run, scope, node, value);
}

bool run_indent(struct run *run, const struct scope *scope, const struct node *node)
{
    bool indented = run->indented;
    run->indented = false;
    return indented || run_write(run, scope, node, scope->indent);
}

struct slice run_dedent(const struct scope *scope, struct slice s)
{
    size_t n = 0;
    while (n < s.len && n < scope->dedent.len && s.ptr[n] == scope->dedent.ptr[n])
        n++;
    return (struct slice){s.ptr + n, s.len - n};
}

// Text with the scope's indent before each line that starts in it.
static bool expand_text(struct run *run, const struct scope *scope, const struct node *node)
{
    bool header = run->how->part == TEMPLATE_HEADER;
    struct slice text = header ? node_header_text(scope->t, node) : node->text;
    bool line_start = node->line_start;
    do {
        if (line_start && !run_indent(run, scope, node))
            return false;
        if (line_start)
            text = run_dedent(scope, text);
        const unsigned char *newline = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
        size_t len = newline ? (size_t)(newline - text.ptr) + 1 : text.len;
        if (!run_write(run, scope, node, (struct slice){text.ptr, len}))
            return false;
        text = (struct slice){text.ptr + len, text.len - len};
        line_start = true;
    } while (text.len);
    return true;
}

static bool expand_in(struct run *run, const struct scope *scope, const struct node *section,
        const struct json_node *context)
{
    if (run->depth == TEMPLATE_CONTEXTS_MAX)
        return template_err(scope->t, section->at, run->err, "values are nested deeper than %d",
                TEMPLATE_CONTEXTS_MAX);
    run->contexts[run->depth++] = context;
    size_t first = (size_t)(section - scope->t->nodes) + 1;
    bool ok = run_step(run, scope, section) && run_nodes(run, scope, first, section->end);
    run->depth--;
    return ok;
}

static bool expand_section(struct run *run, const struct scope *scope, const struct node *node)
{
    const struct json_node *value = run_lookup(run, node->text);
    if (is_empty(value))
        return true;
    if (value->kind != JSON_KIND_ARRAY)
        return expand_in(run, scope, node, value);
    for (const struct json_node *at = NULL; (at = json_tree_next(value, at)) != NULL;)
        if (!expand_in(run, scope, node, at))
            return false;
    return true;
}

static bool expand_inverted(struct run *run, const struct scope *scope, const struct node *node)
{
    size_t first = (size_t)(node - scope->t->nodes) + 1;
    return !is_empty(run_lookup(run, node->text)) || run_nodes(run, scope, first, node->end);
}

bool run_nodes(struct run *run, const struct scope *scope, size_t from, size_t to)
{
    static bool (*const expand[])(struct run *, const struct scope *, const struct node *) = {
            [NODE_TEXT] = expand_text,
            [NODE_VALUE] = expand_value,
            [NODE_RAW] = expand_value,
            [NODE_SECTION] = expand_section,
            [NODE_INVERTED] = expand_inverted,
            [NODE_PARTIAL] = expand_partial,
            [NODE_PARENT] = expand_parent,
            [NODE_BLOCK] = expand_block};
    for (size_t i = from; i < to; i = scope->t->nodes[i].end) {
        const struct node *node = &scope->t->nodes[i];
        if (!run_step(run, scope, node) || !expand[node->kind](run, scope, node))
            return false;
    }
    return true;
}

bool template_expand(const struct template *t, const struct template_how *how,
        const struct json_node *values, struct text *out, struct err *err)
{
    struct run run = {.how = how, .out = out, .err = err, .contexts = {values}, .depth = 1};
    struct scope scope = {.t = t};
    struct text before = *out;
    if (run_nodes(&run, &scope, 0, t->n))
        return true;
    out->len = before.len;
    out->overflow = before.overflow;
    if (out->ptr)
        out->ptr[out->len] = '\0';
    return false;
}
