#include "receiver/accept/read_more.h"

#include "common/form.h"
#include "receiver/accept/read_xml.h"

#include <time.h>

#define ESCAPED_MAX 6 // bytes that one byte may become in a JSON string
#define MOMENT_MAX 64
#define MILLISECONDS_FROM INT64_C(100000000000)

bool read_form(struct slice body, struct text *out)
{
    AUTO_FORM struct form form = {.n = 0};
    if (!form_parse(body, &form, NULL))
        return false;
    text_init(out, ESCAPED_MAX * body.len + 6 * form.n + 2);
    bool ok = text_char(out, '{');
    for (size_t i = 0; ok && i < form.n; i++)
        ok = (i == 0 || text_char(out, ',')) && json_quote(out, form.pairs[i].name) &&
             text_char(out, ':') && json_quote(out, form.pairs[i].value);
    return ok && text_char(out, '}');
}

static bool is_container(struct slice text)
{
    struct json_result whole;
    return json_find(text, (const char *const[]){""}, 1, &whole, NULL) &&
           (whole.token.kind == JSON_KIND_OBJECT || whole.token.kind == JSON_KIND_ARRAY);
}

bool read_inner(struct slice body, const struct read_pointers *pointers, struct text *out)
{
    struct json_result held;
    AUTO_TEXT struct text inner = {.max = body.len};
    AUTO_TEXT struct text json = {.max = 0};
    if (!json_find(body, &pointers->inner, 1, &held, NULL) || held.found != JSON_FOUND ||
            !json_text(held.token, &inner, NULL))
        return false;
    struct slice text = text_slice(&inner), raw = held.token.raw;
    if (pointers->inner_xml && read_xml(text_slice(&inner), &json))
        text = text_slice(&json);
    if (!is_container(text))
        return false;
    size_t before = (size_t)(raw.ptr - body.ptr), after = before + raw.len;
    text_init(out, body.len + text.len);
    return text_add(out, (struct slice){body.ptr, before}) && text_add(out, text) &&
           text_add(out, (struct slice){body.ptr + after, body.len - after}) &&
           json_check(text_slice(out), NULL);
}

static bool digits(const char **at, size_t n, int *ret_value)
{
    int value = 0;
    for (size_t i = 0; i < n; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9')
            return false;
        value = value * 10 + ((*at)[i] - '0');
    }
    *at += n;
    *ret_value = value;
    return true;
}

static bool mark(const char **at, const char *one_of)
{
    if (**at == '\0' || !strchr(one_of, **at))
        return false;
    ++*at;
    return true;
}

// "Z" or "+01:00": seconds that local time is ahead.
static bool read_zone(const char **at, int64_t *ret_ahead_s)
{
    int hours = 0, minutes = 0, sign = **at == '-' ? -1 : 1;
    *ret_ahead_s = 0;
    if (mark(at, "Zz"))
        return true;
    if (!mark(at, "+-") || !digits(at, 2, &hours) || !mark(at, ":") || !digits(at, 2, &minutes))
        return false;
    *ret_ahead_s = sign * (hours * INT64_C(3600) + minutes * INT64_C(60));
    return hours < 24 && minutes < 60;
}

static void skip_fraction(const char **at)
{
    if (!mark(at, ".,"))
        return;
    while (**at >= '0' && **at <= '9')
        ++*at;
}

static bool read_rfc3339(const char *at, int64_t *ret_at_s)
{
    struct tm tm = {0};
    int64_t ahead_s = 0;
    bool date = digits(&at, 4, &tm.tm_year) && mark(&at, "-") && digits(&at, 2, &tm.tm_mon) &&
                mark(&at, "-") && digits(&at, 2, &tm.tm_mday) && mark(&at, "Tt ");
    bool clock = date && digits(&at, 2, &tm.tm_hour) && mark(&at, ":") &&
                 digits(&at, 2, &tm.tm_min) && mark(&at, ":") && digits(&at, 2, &tm.tm_sec);
    if (!clock || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
            tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    skip_fraction(&at);
    if (!read_zone(&at, &ahead_s) || *at)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    *ret_at_s = (int64_t)timegm(&tm) - ahead_s;
    return true;
}

static bool read_number(struct slice text, int64_t *ret_at_s)
{
    int64_t value = 0;
    size_t i = 0;
    for (; i < text.len && i < 16 && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        value = value * 10 + (text.ptr[i] - '0');
    size_t whole = i;
    if (i < text.len && text.ptr[i] == '.')
        for (i++; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9';)
            i++;
    if (whole == 0 || i != text.len)
        return false;
    *ret_at_s = value >= MILLISECONDS_FROM ? value / 1000 : value;
    return true;
}

bool read_moment(struct json_token token, int64_t *ret_at_s)
{
    AUTO_TEXT struct text text = {.max = MOMENT_MAX};
    bool named = token.kind == JSON_KIND_STRING || token.kind == JSON_KIND_NUMBER;
    if (!named || !json_plain(token, &text, NULL))
        return false;
    return read_number(text_slice(&text), ret_at_s) || read_rfc3339(text_cstr(&text), ret_at_s);
}

static bool add_container(struct text *out, struct json_token token)
{
    bool object = token.kind == JSON_KIND_OBJECT, first = true;
    struct json_token name, value;
    bool ok = text_char(out, object ? '{' : '[');
    for (size_t at = 0; ok && json_next(token, &at, &name, &value); first = false)
        ok = (first || text_char(out, ',')) &&
             (!object || (text_add(out, name.raw) && text_char(out, ':'))) &&
             read_value(value, out);
    return ok && text_char(out, object ? '}' : ']');
}

bool read_value(struct json_token token, struct text *out)
{
    if (token.kind == JSON_KIND_NUMBER)
        return json_quote(out, token.raw);
    if (token.kind == JSON_KIND_OBJECT || token.kind == JSON_KIND_ARRAY)
        return add_container(out, token);
    return text_add(out, token.raw);
}
