// Finds values and writes them, escaped by what is filled.
#include "common/json/scan.h"
#include "common/template/run.h"

#include <stdio.h>

enum { NUMBER_MAX = 63 }; // bytes of a fraction that is written anew

bool run_write(
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
        if (!run_write(run, scope, node, (struct slice){s.ptr + done, i - done}) ||
                !run_write(run, scope, node, slice_of(str)))
            return false;
        done = i + 1;
    }
    return run_write(run, scope, node, (struct slice){s.ptr + done, s.len - done});
}

static bool write_value(
        struct run *run, const struct scope *scope, const struct node *node, struct slice s)
{
    if (run->how->part == TEMPLATE_PATH && s.len && memchr(s.ptr, '/', s.len))
        return template_err(scope->t, node->at, run->err,
                "a '/' can't stand in a value of a path, only in the path itself");
    if (node->kind == NODE_RAW)
        return run_write(run, scope, node, s);
    if (run->how->part == TEMPLATE_HTML)
        return write_html(run, scope, node, s);
    if (run->how->part == TEMPLATE_JSON)
        return json_escape(run->out, s) ||
               template_err(scope->t, node->at, run->err, "the message is longer than %zu bytes",
                       run->out->max);
    return run_write(run, scope, node, s);
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
const struct json_node *run_lookup(const struct run *run, struct slice name)
{
    unsigned depth = run->depth;
    if (slice_eq(name, SLICE(".")))
        return run->contexts[depth - 1];
    struct slice first = next_part(&name);
    const struct json_node *value = NULL;
    while (!value && depth > 0)
        value = json_tree_member(run->contexts[--depth], first);
    while (value && name.len)
        value = json_tree_member(value, next_part(&name));
    return value;
}

static bool is_whole(struct slice literal)
{
    for (size_t i = 0; i < literal.len; i++)
        if (literal.ptr[i] == '.' || literal.ptr[i] == 'e' || literal.ptr[i] == 'E')
            return false;
    return true;
}

// Whole numbers as they stand, however long; others in the shortest digits that read back as the
// same number: 1.21, not 1.20999999999999996 or 1.210.
static struct slice number_text(struct slice literal, char *buf, size_t size)
{
    char copy[NUMBER_MAX + 1];
    if (literal.len > NUMBER_MAX || is_whole(literal))
        return literal;
    memcpy(copy, literal.ptr, literal.len);
    copy[literal.len] = '\0';
    double value = strtod(copy, NULL);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, value);
        if (strtod(buf, NULL) == value)
            break;
    }
    return slice_of(buf);
}

bool run_scalar(struct run *run, const struct scope *scope, const struct node *node,
        const struct json_node *value)
{
    char buf[NUMBER_MAX];
    switch (value->kind) {
    case JSON_KIND_STRING:
        return write_value(run, scope, node, value->text);
    case JSON_KIND_NUMBER:
        return run_write(run, scope, node, number_text(value->text, buf, sizeof buf));
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE:
        return run_write(run, scope, node, value->text);
    case JSON_KIND_NONE:
    case JSON_KIND_NULL:
    case JSON_KIND_OBJECT:
    case JSON_KIND_ARRAY:
        break;
    }
    return true;
}
