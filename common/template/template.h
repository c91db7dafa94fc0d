// template.h: turns a Mustache template and named values into bounded text.
//
// The language is the required part of https://github.com/mustache/spec (variables, sections,
// inverted sections, comments, partials, delimiters) and its inheritance: {{<parent}}..{{/parent}}
// is a partial whose {{$block}}s are replaced. No lambdas or dynamic names. A parsed template is
// read-only: threads may share it. Every failure is ERR_INPUT and starts with
// "name:line:col: ".
#pragma once
#include "common/err.h"
#include "common/json/tree.h"

enum {
    TEMPLATE_SOURCE_MAX = 256 * 1024, // bytes of one template
    TEMPLATE_SECTIONS_MAX = 32,  // sections, blocks and parents inside one another, in one template
    TEMPLATE_CONTEXTS_MAX = 64,  // values inside one another while expanding, partials included
    TEMPLATE_PARTIALS_MAX = 32,  // partials, parents and replaced blocks inside one another
    TEMPLATE_STEPS_MAX = 200000, // parts written in one expansion: ends loops that write nothing
};

// What the expansion fills decides how a value is escaped. {{{x}}} and {{&x}} never escape.
enum template_part {
    TEMPLATE_TEXT,   // plain text, SMS, keys: nothing is escaped
    TEMPLATE_HTML,   // & < > " ' become entities: safe in content and in quoted attributes
    TEMPLATE_HEADER, // nothing is escaped; CR, LF or NUL in the result is an error (the line end of
                     // the file isn't part of it)
    TEMPLATE_JSON,   // as the inside of a JSON string
    TEMPLATE_PATH,   // of a file: a value is one name, or a part of one, so a '/' in it is an error
};

struct template;

// How to expand. Zeroed = plain text, strict, no partials.
struct template_how {
    enum template_part part;
    // Lenient is the suite's reading: what is missing is the empty string. Otherwise a variable
    // that is missing, null, an object or an array is an error, and so is a missing partial or
    // parent.
    // Sections ask whether something is there, so for them missing is no error in either mode.
    bool lenient;
    // Finds partials and parents; NULL result = there is none.
    const struct template *(*partial)(void *ctx, struct slice name);
    void *ctx;
};

// Parses source and keeps its own copy; name is for messages. Free with template_free().
MUST_CHECK struct template *template_new(const char *name, struct slice source, struct err *err);
void template_free(struct template *t); // NULL is fine

// Appends the expansion to out (at most out's ceiling); on an error out is as it was before.
// In sections false, null, "", [] and what is missing are empty; everything else, 0 too, is not.
MUST_CHECK bool template_expand(const struct template *t, const struct template_how *how,
        const struct json_node *values, struct text *out, struct err *err);

enum template_use {
    TEMPLATE_VALUE,    // {{name}}
    TEMPLATE_RAW,      // {{{name}}} {{&name}}
    TEMPLATE_SECTION,  // {{#name}}
    TEMPLATE_INVERTED, // {{^name}}
    TEMPLATE_PARTIAL,  // {{>name}}
    TEMPLATE_PARENT,   // {{<name}}
    TEMPLATE_BLOCK,    // {{$name}}, where it stands and where it is replaced
};

struct template_name {
    enum template_use use;
    struct slice name;    // dotted, as written; "." is the current value
    struct slice section; // the section around it, empty at the top
    bool passed;          // it stands in a parent: what comes into view there is the parent's
    unsigned line, col;   // from 1; columns count characters
};

// Calls seen for every name the template uses, in order, repeats too, those in its blocks among
// them; not those inside its partials and parents.
void template_names(const struct template *t,
        void (*seen)(void *ctx, const struct template_name *name), void *ctx);

// Has its own text no line end but the file's last, so that it can fill a header? Its values and
// partials may have one.
MUST_CHECK bool template_one_line(const struct template *t, struct err *err);
// Appends it with a 1 in the place of each value. False when nobody knows what it becomes: it has
// sections, partials or blocks, or values that are not escaped.
MUST_CHECK bool template_outline(const struct template *t, struct text *out);
