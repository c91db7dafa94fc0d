// kit.h: what the tests of templates share: the partials, and expansions that are compared.
#pragma once
#include "common/template/template.h"

#include "tests/test.h"

#include <assert.h>
#include <stdio.h>

enum { OUT_MAX = 4000, PARTIALS_ROOM = 16 };

static inline struct template *parse(const char *name, struct slice source)
{
    struct err err = {0};
    struct template *t = template_new(name, source, &err);
    if (!t)
        fail_msg("%s", err.msg);
    return t;
}

// Borrows the text.
static inline struct json_tree load(const char *values)
{
    struct json_tree tree = {0};
    struct err err;
    if (!json_tree_read(&tree, slice_of(values), &err))
        fail_msg("%s: %s", values, err.msg);
    return tree;
}

// The partials of these tests; they are parsed on the first call.
static inline const struct template *partial(void *ctx, struct slice name)
{
    static const struct {
        const char *name, *source;
    } rows[] = {
            {"loop", "{{>loop}}"},
            {"bad", "one\n {{gone}}"},
            {"line", "a\nb\n"},
            {"outer", "(\n  {{>line}}\n)\n"},
            {"tree", "{{v}}{{#kids}}[{{>tree}}]{{/kids}}"},
            {"lines", "{{>line}}\n"},
            {"mail", "<{{$title}}none{{/title}}|{{$body}}{{/body}}>"},
            {"letter", "Hi\n  {{$body}}\n  {{/body}}\nBye\n"},
            {"parents", "{{<parents}}{{/parents}}"},
            {"each", "{{#list}}{{$row}}{{/row}};{{/list}}"},
    };
    struct template **made = ctx;
    static_assert(ARRAY_LEN(rows) <= PARTIALS_ROOM, "room for all");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!slice_eq(name, slice_of(rows[i].name)))
            continue;
        if (!made[i])
            made[i] = parse(rows[i].name, slice_of(rows[i].source));
        return made[i];
    }
    return NULL;
}

// Expands; err.msg is the result's text if that fails. The caller frees.
static inline char *expand(struct slice source, const char *values, struct template_how how)
{
    struct template *made[PARTIALS_ROOM] = {0};
    struct template *t = parse("t", source);
    AUTO_JSON_TREE struct json_tree json = load(values);
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    struct err err = {0};
    how.partial = partial;
    how.ctx = made;
    assert_true(text_str(&out, "before "));
    bool ok = template_expand(t, &how, json.nodes, &out, &err);
    assert_true(ok || (err.kind == ERR_INPUT && strcmp(text_cstr(&out), "before ") == 0));
    template_free(t);
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        template_free(made[i]);
    return xstrdup(ok ? text_cstr(&out) + strlen("before ") : err.msg);
}

static inline void expect(const char *name, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fail_msg("case '%s': want \"%s\", got \"%s\"", name, want, got);
}
