#include "cli/format.h"

#include "common/config/policy.h"

#include "common/utf8.h"

#include <ctype.h>
#include <stdio.h>

struct unit {
    int64_t us;    // of one
    int64_t below; // the unit is used below so many us
    const char *name;
    int decimals;
};
static const struct unit units[] = {{1, 1000, "us", 0}, {1000, 1000000, "ms", 0},
        {1000000, 120LL * 1000000, "s", 1}, {60LL * 1000000, 7200LL * 1000000, "min", 1},
        {3600LL * 1000000, 172800LL * 1000000, "h", 1}, {86400LL * 1000000, INT64_MAX, "d", 1}};

static const struct unit *unit_of(int64_t us)
{
    size_t i = 0;
    while (i + 1 < ARRAY_LEN(units) && us >= units[i].below)
        i++;
    return &units[i];
}

char *format_age(int64_t us, char out[FORMAT_MAX])
{
    const struct unit *unit = unit_of(us < 0 ? 0 : us);
    snprintf(out, FORMAT_MAX, "%.*f %s", unit->decimals, (double)us / (double)unit->us, unit->name);
    return out;
}

char *format_age_range(int64_t least_us, int64_t most_us, char out[2 * FORMAT_MAX])
{
    char least[FORMAT_MAX], most[FORMAT_MAX];
    const struct unit *unit = unit_of(least_us);
    format_age(least_us, least);
    format_age(most_us, most);
    if (strcmp(least, most) == 0)
        snprintf(out, FORMAT_MAX, "%s", most);
    else if (unit == unit_of(most_us))
        snprintf(out, 2 * FORMAT_MAX, "%.*f..%.60s", unit->decimals,
                (double)least_us / (double)unit->us, most);
    else
        snprintf(out, 2 * FORMAT_MAX, "%.60s .. %.60s", least, most);
    return out;
}

// The first character, whole.
static int first_len(struct slice text)
{
    size_t n = utf8_len(text);
    return n ? (int)n : (text.len > 0);
}

static struct slice after(struct slice text, size_t n)
{
    return (struct slice){text.ptr + n, text.len - n};
}

// Of a name, a list or a comment around an address no part may be shown that could be a person's.
static bool is_bare(struct slice address)
{
    for (size_t i = 0; i < address.len; i++)
        if (address.ptr[i] <= ' ' || address.ptr[i] == 0x7f ||
                strchr("<>,;:\"()[]\\", address.ptr[i]))
            return false;
    return true;
}

static struct slice domain_part(struct slice text)
{
    size_t n = 0;
    while (n < text.len &&
            (isalnum(text.ptr[n]) || text.ptr[n] >= 0x80 || strchr("-._", text.ptr[n])))
        n++;
    return (struct slice){text.ptr, n};
}

static char *masked_mail(struct slice address, size_t at)
{
    struct slice domain = domain_part(after(address, at + 1));
    size_t dot = domain.len;
    while (dot > 0 && domain.ptr[dot - 1] != '.')
        dot--;
    size_t last = dot > 0 ? dot - 1 : domain.len; // ".net"
    struct slice local = {address.ptr, at};
    size_t room = address.len + 16;
    char *out = xmalloc(room);
    snprintf(out, room, "%.*s***@%.*s***%.*s", first_len(local), (const char *)local.ptr,
            is_bare(address) ? first_len(domain) : 0, (const char *)domain.ptr,
            (int)(domain.len - last), (const char *)domain.ptr + last);
    return out;
}

char *format_masked(struct slice address)
{
    enum { PHONE_LEAST = 8 };
    size_t at = address.len;
    while (at > 0 && address.ptr[at - 1] != '@')
        at--;
    if (at > 1 && at < address.len)
        return masked_mail(address, at - 1);
    char *out = xmalloc(16);
    if (address.len >= PHONE_LEAST && address.ptr[0] == '+')
        snprintf(out, 16, "%.3s***%.2s", (const char *)address.ptr,
                (const char *)address.ptr + address.len - 2);
    else
        snprintf(out, 16, "***");
    return out;
}

char *format_recipient(int channel, struct slice address)
{
    if (address.len == 0)
        return xstrdup("nobody");
    return channel == CHANNEL_PUSH ? slice_dup(address) : format_masked(address);
}
