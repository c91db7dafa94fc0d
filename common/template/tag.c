// Reads one tag of a template: its kind, its name, the line around it.
#include "common/template/parser.h"

// Offset of needle in s from at on; s.len if there is none.
static size_t find(struct slice s, size_t at, struct slice needle)
{
    const unsigned char *hit = memmem(s.ptr + at, s.len - at, needle.ptr, needle.len);
    return hit ? (size_t)(hit - s.ptr) : s.len;
}

static bool is_space(unsigned char c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static struct slice trim(struct slice s)
{
    while (s.len && is_space(s.ptr[0]))
        s = slice_part(s, 1, s.len);
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

size_t tag_find(const struct parser *p)
{
    return find(p->t->source, p->at, p->open);
}

// {{{x}}} ends in one '}' more, {{=x=}} in one '='.
static struct slice closing(const struct parser *p, char sigil, char buf[DELIMITER_MAX + 1])
{
    if (sigil != '{' && sigil != '=')
        return p->close;
    buf[0] = sigil == '{' ? '}' : '=';
    memcpy(buf + 1, p->close.ptr, p->close.len);
    return (struct slice){(const unsigned char *)buf, p->close.len + 1};
}

bool tag_read(const struct parser *p, size_t start, struct tag *tag)
{
    struct slice source = p->t->source;
    char buf[DELIMITER_MAX + 1];
    size_t at = start + p->open.len;
    while (at < source.len && is_space(source.ptr[at]))
        at++;
    *tag = (struct tag){.start = start};
    if (at < source.len && source.ptr[at] && strchr("#^/>!={&$<", source.ptr[at]))
        tag->sigil = (char)source.ptr[at++];
    struct slice close = closing(p, tag->sigil, buf);
    size_t end = find(source, at, close);
    if (end == source.len)
        return template_err(p->t, start, p->err, "this tag does not end; close it with '%.*s'",
                NAME_ARG(close));
    tag->inside = trim(slice_part(source, at, end));
    tag->end = end + close.len;
    return true;
}

static bool check_name(const struct parser *p, const struct tag *tag)
{
    struct slice name = tag->inside;
    if (name.len == 0)
        return template_err(p->t, tag->start, p->err, "this tag names nothing");
    if (name.len > TEMPLATE_NAME_MAX)
        return template_err(
                p->t, tag->start, p->err, "a name is longer than %d bytes", TEMPLATE_NAME_MAX);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] == 0x7F)
            return template_err(p->t, tag->start, p->err,
                    "a name has no space in it: '%.*s'; is the tag before it not closed?",
                    NAME_ARG(name));
    if (strchr("$<*", name.ptr[0]))
        return template_err(p->t, tag->start, p->err,
                "a name can't begin with '$', '<' or '*': '%.*s' (dynamic names are not part of "
                "this language)",
                NAME_ARG(name));
    return true;
}

static bool check_dots(const struct parser *p, const struct tag *tag)
{
    struct slice name = tag->inside;
    if (slice_eq(name, SLICE(".")))
        return true;
    bool bad = name.ptr[0] == '.' || name.ptr[name.len - 1] == '.' ||
               memmem(name.ptr, name.len, "..", 2);
    return !bad || template_err(p->t, tag->start, p->err, "a part of the name '%.*s' is empty",
                           NAME_ARG(name));
}

bool tag_check_name(const struct parser *p, const struct tag *tag, bool dotted)
{
    return check_name(p, tag) && (!dotted || check_dots(p, tag));
}

bool tag_set_delimiters(struct parser *p, const struct tag *tag)
{
    struct slice s = tag->inside;
    size_t i = 0;
    while (i < s.len && !is_space(s.ptr[i]))
        i++;
    struct slice open = slice_part(s, 0, i), close = trim(slice_part(s, i, s.len));
    bool ok = open.len && close.len && open.len <= DELIMITER_MAX && close.len <= DELIMITER_MAX &&
              !memchr(s.ptr, '=', s.len);
    for (i = 0; ok && i < close.len; i++)
        ok = !is_space(close.ptr[i]);
    if (!ok)
        return template_err(p->t, tag->start, p->err,
                "delimiters are two words of at most %d bytes without '=', as in {{=<%% %%>=}}",
                DELIMITER_MAX);
    p->open = open;
    p->close = close;
    return true;
}

void tag_line(const struct parser *p, const struct tag *tag, struct tag_line *line)
{
    struct slice s = p->t->source;
    size_t from = tag->start, to = tag->end;
    while (from > p->at && is_blank(s.ptr[from - 1]))
        from--;
    while (to < s.len && is_blank(s.ptr[to]))
        to++;
    if (to + 1 < s.len && s.ptr[to] == '\r' && s.ptr[to + 1] == '\n')
        to++;
    line->leads = at_line_start(s, from);
    line->ends = to == s.len || s.ptr[to] == '\n';
    line->from = line->leads ? from : tag->start;
    line->to = !line->ends ? tag->end : to < s.len ? to + 1 : to;
}
