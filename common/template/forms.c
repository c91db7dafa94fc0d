// What is known of a template's result before there are values.
#include "common/template/tree.h"

bool template_one_line(const struct template *t, struct err *err)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct node *node = &t->nodes[i];
        if (node->kind != NODE_TEXT)
            continue;
        struct slice text = node_header_text(t, node);
        const unsigned char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
        if (end)
            return template_err(t, (size_t)(end - t->source.ptr), err,
                    "a line break can't stand in a header: write it on one line");
    }
    return true;
}

bool template_outline(const struct template *t, struct text *out)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct node *node = &t->nodes[i];
        if (node->kind != NODE_TEXT && node->kind != NODE_VALUE)
            return false;
        if (!text_add(out, node->kind == NODE_TEXT ? node->text : SLICE("1")))
            return false;
    }
    return true;
}
