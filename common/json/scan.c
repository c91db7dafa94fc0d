#include "common/json/scan.h"

#include "common/json/grammar.h"

#include <assert.h>

static struct slice inside(struct slice string)
{
    return (struct slice){string.ptr + 1, string.len - 2};
}

// How far one pointer's path is matched by the place where the walk is.
struct path {
    const char *rest; // what is still to be matched: "" or "/part.."
    size_t next_len;  // bytes of its first part
    unsigned matched; // parts that matched; the walk is inside them, or just at them
    uint64_t seen;    // bit n: a member that matches part n was seen in the object on the path
    bool duplicate;
    struct json_token token;
};

static_assert(JSON_DEPTH_MAX <= 64, "a path keeps one bit for each depth");

struct finder {
    struct path paths[JSON_POINTERS_MAX];
    size_t n;
};

static void path_to(struct path *p, const char *rest)
{
    p->rest = rest;
    p->next_len = *rest ? strcspn(rest + 1, "/") : 0;
}

// The character at *at of a pointer's part.
static uint32_t pointer_char(struct slice part, size_t *at)
{
    if (part.ptr[*at] == '~') {
        uint32_t c = part.ptr[*at + 1] == '0' ? '~' : '/';
        *at += 2;
        return c;
    }
    size_t n = utf8_len((struct slice){part.ptr + *at, part.len - *at});
    uint32_t c = utf8_code(part.ptr + *at, n);
    *at += n;
    return c;
}

static bool name_matches(struct slice name, struct slice part)
{
    size_t i = 0, k = 0;
    // Nearly all names differ at once; a hostile body has many names and a source many pointers.
    if (name.len && part.len && name.ptr[0] != part.ptr[0] && name.ptr[0] != '\\' &&
            part.ptr[0] != '~')
        return false;
    if (!memchr(name.ptr, '\\', name.len) && !memchr(part.ptr, '~', part.len))
        return slice_eq(name, part);
    while (i < name.len && k < part.len)
        if (json_char(name, &i) != pointer_char(part, &k))
            return false;
    return i == name.len && k == part.len;
}

static bool index_matches(size_t index, struct slice part)
{
    size_t n = 0;
    if (part.len == 0 || part.len > 6 || (part.len > 1 && part.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] < '0' || part.ptr[i] > '9')
            return false;
        n = n * 10 + (size_t)(part.ptr[i] - '0');
    }
    return n == index;
}

// The item's container is at the end of what is matched, and the item is the next part.
static bool path_enters(const struct path *p, const struct json_item *item)
{
    if (p->matched + 1 != item->depth || *p->rest != '/')
        return false;
    struct slice part = {(const unsigned char *)p->rest + 1, p->next_len};
    return item->name.ptr ? name_matches(inside(item->name), part)
                          : index_matches(item->index, part);
}

static bool path_is_at(const struct path *p, const struct json_item *item)
{
    return p->matched == item->depth;
}

static void path_step_in(struct path *p)
{
    path_to(p, p->rest + 1 + p->next_len);
    p->matched++;
}

static void path_step_out(struct path *p)
{
    const char *rest = p->rest - 1;
    while (*rest != '/')
        rest--;
    path_to(p, rest);
    p->matched--;
}

static void find_enter(void *ctx, const struct json_item *item)
{
    struct finder *f = ctx;
    for (size_t i = 0; i < f->n; i++) {
        struct path *p = &f->paths[i];
        if (!path_enters(p, item))
            continue;
        uint64_t bit = UINT64_C(1) << p->matched;
        p->duplicate |= (p->seen & bit) != 0;
        p->seen |= bit;
        path_step_in(p);
    }
}

static void find_leave(void *ctx, const struct json_item *item, struct json_token value)
{
    struct finder *f = ctx;
    for (size_t i = 0; i < f->n; i++) {
        struct path *p = &f->paths[i];
        if (!path_is_at(p, item))
            continue;
        if (!*p->rest)
            p->token = value;
        path_step_out(p);
    }
}

bool json_pointer_ok(const char *pointer, struct err *err)
{
    struct slice s = slice_of(pointer);
    if (s.len > JSON_POINTER_BYTES)
        return err_set(
                err, ERR_INPUT, "a JSON pointer is longer than %d bytes", JSON_POINTER_BYTES);
    if (s.len && pointer[0] != '/')
        return err_set(err, ERR_INPUT, "a JSON pointer starts with '/': '%.80s'", pointer);
    for (size_t i = 0; i < s.len;) {
        size_t n = utf8_len((struct slice){s.ptr + i, s.len - i});
        if (n == 0)
            return err_set(err, ERR_INPUT, "a JSON pointer is not UTF-8");
        if (s.ptr[i] == '~' && pointer[i + 1] != '0' && pointer[i + 1] != '1')
            return err_set(err, ERR_INPUT,
                    "'~' in a JSON pointer is written ~0 ('/' is ~1): '%.80s'", pointer);
        i += n;
    }
    return true;
}

static bool finder_init(struct finder *f, const char *const pointers[], size_t n, struct err *err)
{
    if (n > JSON_POINTERS_MAX)
        return err_set(err, ERR_INPUT, "more than %d JSON pointers at once", JSON_POINTERS_MAX);
    f->n = n;
    for (size_t i = 0; i < n; i++) {
        if (!json_pointer_ok(pointers[i], err))
            return false;
        f->paths[i] = (struct path){0};
        path_to(&f->paths[i], pointers[i]);
    }
    return true;
}

bool json_check(struct slice body, struct err *err)
{
    struct json_token root;
    return json_walk(body, NULL, &root, err);
}

static struct json_result result_of(const struct path *p)
{
    if (p->duplicate)
        return (struct json_result){.found = JSON_DUPLICATE};
    if (p->token.kind == JSON_KIND_NONE)
        return (struct json_result){.found = JSON_MISSING};
    return (struct json_result){JSON_FOUND, p->token};
}

bool json_find(struct slice body, const char *const pointers[], size_t n,
        struct json_result results[], struct err *err)
{
    struct finder f;
    struct json_visitor visitor = {.ctx = &f, .enter = find_enter, .leave = find_leave};
    struct json_token root;
    if (!finder_init(&f, pointers, n, err) || !json_walk(body, &visitor, &root, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!*pointers[i])
            f.paths[i].token = root;
        results[i] = result_of(&f.paths[i]);
    }
    return true;
}

struct cutter {
    struct finder finder;
    const unsigned char *body;
    size_t copied;                 // the body up to here is written or cut
    unsigned cutting;              // depth of the item being cut, 0 = none
    bool kept[JSON_DEPTH_MAX + 1]; // an item of the container at this depth was kept
    bool cut_gap[JSON_DEPTH_MAX +
                 1]; // what stands before the next item goes too: none was kept yet
    struct text *out;
};

static void copy_to(struct cutter *c, size_t end)
{
    text_add(c->out, (struct slice){c->body + c->copied, end - c->copied});
    c->copied = end;
}

static bool cut_starts(const struct cutter *c, const struct json_item *item)
{
    for (size_t i = 0; i < c->finder.n; i++)
        if (path_is_at(&c->finder.paths[i], item) && !*c->finder.paths[i].rest)
            return true;
    return false;
}

static void cut_enter(void *ctx, const struct json_item *item)
{
    struct cutter *c = ctx;
    find_enter(&c->finder, item);
    if (c->cutting)
        return;
    if (item->first)
        c->kept[item->depth] = c->cut_gap[item->depth] = false;
    if (c->cut_gap[item->depth])
        c->copied = item->start;
    c->cut_gap[item->depth] = false;
    if (!cut_starts(c, item)) {
        c->kept[item->depth] = true;
        return;
    }
    // As if it had never been there: with the comma before it, or, where nothing was kept before
    // it, with the one behind it.
    copy_to(c, c->kept[item->depth] ? item->comma : item->start);
    c->cut_gap[item->depth] = !c->kept[item->depth];
    c->cutting = item->depth;
}

static void cut_leave(void *ctx, const struct json_item *item, struct json_token value)
{
    struct cutter *c = ctx;
    find_leave(&c->finder, item, value);
    if (c->cutting != item->depth)
        return;
    c->copied = (size_t)(value.raw.ptr - c->body) + value.raw.len;
    c->cutting = 0;
}

bool json_without(struct slice body, const char *const pointers[], size_t n, struct text *out,
        struct err *err)
{
    struct cutter c = {.body = body.ptr, .out = out};
    struct json_visitor visitor = {.ctx = &c, .enter = cut_enter, .leave = cut_leave};
    struct json_token root;
    size_t before = out->len;
    if (!finder_init(&c.finder, pointers, n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!*pointers[i])
            return err_set(err, ERR_INPUT, "the empty JSON pointer would leave nothing");
    bool ok = json_walk(body, &visitor, &root, err);
    if (ok)
        copy_to(&c, body.len);
    if (ok && out->overflow)
        ok = err_set(err, ERR_INPUT, "json: the rest is longer than %zu bytes", out->max);
    if (!ok && out->ptr)
        out->ptr[out->len = before] = '\0';
    return ok;
}
