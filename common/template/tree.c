// The parsed form of a template: places in its source, and the names in it.
#include "common/template/tree.h"

#include <stdarg.h>
#include <stdio.h>

static void advance(const struct template *t, struct place *place, size_t at)
{
    for (; place->at < at; place->at++) {
        unsigned char c = t->source.ptr[place->at];
        place->line += c == '\n';
        place->col = c == '\n' ? 1 : place->col + ((c & 0xC0) != 0x80);
    }
}

struct place template_place(const struct template *t, size_t at)
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
    struct place place = template_place(t, at);
    return err_set(err, ERR_INPUT, "%.100s:%u:%u: %s", t->name, place.line, place.col, msg);
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
            [NODE_PARTIAL] = TEMPLATE_PARTIAL,
            [NODE_PARENT] = TEMPLATE_PARENT,
            [NODE_BLOCK] = TEMPLATE_BLOCK};
    const struct node *sections[TEMPLATE_SECTIONS_MAX];
    unsigned depth = 0;
    size_t parent_end = 0;
    struct place place = {0, 1, 1};
    for (size_t i = 0; i < t->n; i++) {
        const struct node *node = &t->nodes[i];
        while (depth && sections[depth - 1]->end <= i)
            depth--;
        if (node->kind == NODE_TEXT)
            continue;
        advance(t, &place, node->at);
        struct template_name name = {.use = use[node->kind],
                .name = node->text,
                .passed = i < parent_end,
                .line = place.line,
                .col = place.col};
        if (depth)
            name.section = sections[depth - 1]->text;
        seen(ctx, &name);
        if (node->kind == NODE_PARENT && node->end > parent_end)
            parent_end = node->end;
        if (node->kind == NODE_SECTION || node->kind == NODE_INVERTED)
            sections[depth++] = node;
    }
}
