// Partials, parents, and the blocks that a parent's user replaces.
#include "common/template/run.h"

enum { INDENT_MAX = 1024 };

static bool go_deeper(struct run *run, const struct scope *scope, const struct node *node)
{
    if (run->partials == TEMPLATE_PARTIALS_MAX)
        return template_err(scope->t, node->at, run->err,
                "partials are nested deeper than %d; does '%.*s' contain itself?",
                TEMPLATE_PARTIALS_MAX, NAME_ARG(node->text));
    run->partials++;
    return true;
}

// The indent of what goes in the place of node.
static bool add_indent(
        struct run *run, const struct scope *scope, const struct node *node, struct text *indent)
{
    return (text_add(indent, scope->indent) && text_add(indent, run_dedent(scope, node->indent))) ||
           template_err(
                   scope->t, node->at, run->err, "the indent is longer than %d bytes", INDENT_MAX);
}

static bool expand_other(struct run *run, const struct scope *scope, const struct node *node)
{
    const char *kind = node->kind == NODE_PARENT ? "parent" : "partial";
    const struct template *t =
            run->how->partial ? run->how->partial(run->how->ctx, node->text) : NULL;
    if (!t && run->how->lenient)
        return true;
    if (!t)
        return template_err(
                scope->t, node->at, run->err, "there is no %s '%.*s'", kind, NAME_ARG(node->text));
    AUTO_TEXT struct text indent = {.max = INDENT_MAX};
    if ((node->alone && !add_indent(run, scope, node, &indent)) || !go_deeper(run, scope, node))
        return false;
    struct scope inner = {.t = t, .indent = text_slice(&indent)};
    bool ok = run_nodes(run, &inner, 0, t->n);
    run->partials--;
    return ok;
}

bool expand_partial(struct run *run, const struct scope *scope, const struct node *node)
{
    return expand_other(run, scope, node);
}

bool expand_parent(struct run *run, const struct scope *scope, const struct node *node)
{
    const struct frame frame = {scope->t, node, run->frames};
    run->frames = &frame;
    bool ok = expand_other(run, scope, node);
    run->frames = frame.outer;
    return ok;
}

static const struct node *find_in(struct run *run, const struct frame *frame, struct slice name)
{
    const struct node *nodes = frame->t->nodes, *parent = frame->parent;
    for (size_t i = (size_t)(parent - nodes) + 1; i < parent->end; i = nodes[i].end) {
        run->steps++;
        if (nodes[i].kind == NODE_BLOCK && slice_eq(nodes[i].text, name))
            return &nodes[i];
    }
    return NULL;
}

// What goes in the place of a block: the outermost wins (the suite's "Multi-level inheritance").
static const struct node *find_argument(
        struct run *run, struct slice name, const struct frame **ret_frame)
{
    const struct node *found = NULL;
    for (const struct frame *frame = run->frames; frame; frame = frame->outer) {
        const struct node *here = find_in(run, frame, name);
        if (!here)
            continue;
        found = here;
        *ret_frame = frame;
    }
    return found;
}

// A block in a line of its own starts with an indent; one that starts in a line has it already.
static bool expand_argument(struct run *run, const struct scope *inner, const struct node *site,
        const struct node *argument)
{
    size_t first = (size_t)(argument - inner->t->nodes) + 1;
    if (site->alone && !argument->alone && first < argument->end &&
            !run_indent(run, inner, argument))
        return false;
    bool indented = argument->alone && !site->alone;
    if (indented)
        run->indented = true;
    bool ok = run_nodes(run, inner, first, argument->end);
    if (indented)
        run->indented = false;
    return ok;
}

static bool replace(struct run *run, const struct scope *scope, const struct node *site,
        const struct node *argument, const struct frame *frame)
{
    AUTO_TEXT struct text indent = {.max = INDENT_MAX};
    bool lines = site->alone || site->leads;
    if ((lines && !add_indent(run, scope, site, &indent)) || !go_deeper(run, scope, site))
        return false;
    struct scope inner = {.t = frame->t, .indent = text_slice(&indent), .dedent = argument->indent};
    // Its text belongs to the template that names the parent, so that blocks in it are replaced by
    // what is around that template; a block in a block of the same name ends there too.
    const struct frame *frames = run->frames;
    run->frames = frame->outer;
    bool ok = expand_argument(run, &inner, site, argument);
    run->frames = frames;
    run->partials--;
    return ok;
}

bool expand_block(struct run *run, const struct scope *scope, const struct node *node)
{
    const struct frame *frame = NULL;
    const struct node *argument = find_argument(run, node->text, &frame);
    if (argument)
        return run_step(run, scope, node) && replace(run, scope, node, argument, frame);
    return run_nodes(run, scope, (size_t)(node - scope->t->nodes) + 1, node->end);
}
