#include "common/json/grammar.h"

struct walk {
    const unsigned char *ptr;
    size_t len;
    size_t at;
    size_t items;
    unsigned depth;
    const struct json_visitor *visitor;
    struct err *err;
};

static bool value(struct walk *w, struct json_token *ret);

static bool broken(struct walk *w, const char *what)
{
    return err_set(w->err, ERR_INPUT, "json: byte %zu: %s", w->at, what);
}

static int peek(const struct walk *w)
{
    return w->at < w->len ? w->ptr[w->at] : -1;
}

static void skip_space(struct walk *w)
{
    for (int c = peek(w); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(w))
        w->at++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Behind the backslash.
static bool escape(struct walk *w)
{
    int c = peek(w);
    if (c < 0 || !strchr("\"\\/bfnrtu", c) || c == 0)
        return broken(w, "unknown escape in a string");
    w->at++;
    for (int i = 0; c == 'u' && i < 4; i++, w->at++)
        if (!is_hex(peek(w)))
            return broken(w, "\\u wants four hex digits");
    return true;
}

static bool string(struct walk *w)
{
    w->at++;
    while (w->at < w->len) {
        unsigned char c = w->ptr[w->at];
        if (c < 0x20)
            return broken(w, "control character in a string");
        size_t n = c < 0x80 ? 1 : utf8_len((struct slice){w->ptr + w->at, w->len - w->at});
        if (n == 0)
            return broken(w, "invalid UTF-8 in a string");
        w->at += n;
        if (c == '"')
            return true;
        if (c == '\\' && !escape(w))
            return false;
    }
    return broken(w, "string does not end");
}

static bool digits(struct walk *w)
{
    if (!is_digit(peek(w)))
        return broken(w, "expected a digit");
    while (is_digit(peek(w)))
        w->at++;
    return true;
}

static bool number(struct walk *w)
{
    if (peek(w) == '-')
        w->at++;
    if (peek(w) == '0')
        w->at++;
    else if (!digits(w))
        return false;
    if (peek(w) == '.') {
        w->at++;
        if (!digits(w))
            return false;
    }
    if (peek(w) != 'e' && peek(w) != 'E')
        return true;
    w->at++;
    if (peek(w) == '+' || peek(w) == '-')
        w->at++;
    return digits(w);
}

static bool word(struct walk *w, struct slice literal)
{
    struct slice rest = {w->ptr + w->at, w->len - w->at};
    if (rest.len < literal.len || memcmp(rest.ptr, literal.ptr, literal.len) != 0)
        return broken(w, "expected a value");
    w->at += literal.len;
    return true;
}

// The member's name and colon; in an array nothing.
static bool name(struct walk *w, bool in_object, struct json_item *item)
{
    item->start = w->at;
    if (!in_object)
        return true;
    if (peek(w) != '"')
        return broken(w, "expected a member name");
    if (!string(w))
        return false;
    item->name = (struct slice){w->ptr + item->start, w->at - item->start};
    skip_space(w);
    if (peek(w) != ':')
        return broken(w, "expected ':' behind a member name");
    w->at++;
    skip_space(w);
    return true;
}

static bool item(struct walk *w, bool in_object, struct json_item *it)
{
    if (++w->items > JSON_ITEMS_MAX)
        return broken(w, "more members and elements than the limit of 100000");
    struct json_token token;
    if (!name(w, in_object, it))
        return false;
    if (w->visitor)
        w->visitor->enter(w->visitor->ctx, it);
    if (!value(w, &token))
        return false;
    if (w->visitor)
        w->visitor->leave(w->visitor->ctx, it, token);
    return true;
}

static bool items(struct walk *w, bool in_object, int end)
{
    struct json_item it = {.depth = w->depth, .first = true};
    for (;;) {
        skip_space(w);
        if (!item(w, in_object, &it))
            return false;
        skip_space(w);
        int c = peek(w);
        if (c == end)
            return true;
        if (c != ',')
            return broken(w, in_object ? "expected ',' or '}'" : "expected ',' or ']'");
        it = (struct json_item){.depth = w->depth, .index = it.index + 1, .comma = w->at};
        w->at++;
    }
}

static bool container(struct walk *w, bool in_object)
{
    int end = in_object ? '}' : ']';
    if (w->depth == JSON_DEPTH_MAX + (w->visitor ? w->visitor->deeper : 0))
        return broken(w, "nested deeper than the limit");
    w->depth++;
    w->at++;
    skip_space(w);
    if (peek(w) != end && !items(w, in_object, end))
        return false;
    w->at++;
    w->depth--;
    return true;
}

static bool value_of(struct walk *w, enum json_kind *kind)
{
    int c = peek(w);
    *kind = JSON_KIND_NUMBER;
    if (c == '-' || is_digit(c))
        return number(w);
    switch (c) {
    case '{':
        *kind = JSON_KIND_OBJECT;
        return container(w, true);
    case '[':
        *kind = JSON_KIND_ARRAY;
        return container(w, false);
    case '"':
        *kind = JSON_KIND_STRING;
        return string(w);
    case 't':
        *kind = JSON_KIND_TRUE;
        return word(w, SLICE("true"));
    case 'f':
        *kind = JSON_KIND_FALSE;
        return word(w, SLICE("false"));
    case 'n':
        *kind = JSON_KIND_NULL;
        return word(w, SLICE("null"));
    default:
        return broken(w, c < 0 ? "the document ends too early" : "expected a value");
    }
}

static bool value(struct walk *w, struct json_token *ret)
{
    size_t start = w->at;
    enum json_kind kind;
    if (!value_of(w, &kind))
        return false;
    *ret = (struct json_token){kind, {w->ptr + start, w->at - start}};
    return true;
}

// Reads one item of a container that was checked; false at its end.
static bool next_item(
        struct walk *w, bool in_object, struct json_item *it, struct json_token *value_)
{
    skip_space(w);
    if (peek(w) == ',')
        w->at++;
    skip_space(w);
    if (peek(w) == ']' || peek(w) == '}')
        return false;
    return name(w, in_object, it) && value(w, value_);
}

bool json_next(struct json_token container, size_t *at, struct json_token *name_,
        struct json_token *value_)
{
    if (container.kind != JSON_KIND_ARRAY && container.kind != JSON_KIND_OBJECT)
        return false;
    struct walk w = {.ptr = container.raw.ptr, .len = container.raw.len, .at = *at ? *at : 1};
    struct json_item it = {0};
    if (!next_item(&w, container.kind == JSON_KIND_OBJECT, &it, value_))
        return false;
    if (name_)
        *name_ = (struct json_token){it.name.ptr ? JSON_KIND_STRING : JSON_KIND_NONE, it.name};
    *at = w.at;
    return true;
}

bool json_walk(struct slice body, const struct json_visitor *visitor, struct json_token *ret_root,
        struct err *err)
{
    struct walk w = {.ptr = body.ptr, .len = body.len, .visitor = visitor, .err = err};
    struct json_token root;
    skip_space(&w);
    if (!value(&w, &root))
        return false;
    skip_space(&w);
    if (w.at < w.len)
        return broken(&w, "something stands behind the document");
    *ret_root = root;
    return true;
}
