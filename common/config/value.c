#include "common/config/value.h"

#include "common/config/file.h"
#include "common/config/near.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ZONES_MAX = 256 * 1024 }; // bytes of the list of zones

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool all_in(struct slice text, const char *more)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = text.ptr[i];
        if (!is_digit(c) && !is_letter(c) && (c == 0 || !strchr(more, c)))
            return false;
    }
    return text.len > 0;
}

// A decimal number at the front of text, which moves past it.
static bool leading_number(struct slice *text, int64_t *ret)
{
    size_t n = 0;
    int64_t number = 0;
    while (n < text->len && n < 16 && is_digit(text->ptr[n]))
        number = number * 10 + (text->ptr[n++] - '0');
    if (n == 0 || n == 16 || (n > 1 && text->ptr[0] == '0'))
        return false;
    *text = (struct slice){text->ptr + n, text->len - n};
    *ret = number;
    return true;
}

struct unit {
    const char *name;
    int64_t factor;
};

static bool with_unit(
        struct slice text, const struct unit *units, size_t n, int64_t max, int64_t *ret)
{
    int64_t number = 0;
    if (!leading_number(&text, &number))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!slice_eq(text, slice_of(units[i].name)))
            continue;
        if (number > max / units[i].factor)
            return false;
        *ret = number * units[i].factor;
        return true;
    }
    return false;
}

bool value_duration_ms(struct slice text, int64_t *ret_ms)
{
    static const struct unit units[] = {
            {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    const int64_t max = (int64_t)VALUE_YEARS_MAX * 366 * 86400000;
    return with_unit(text, units, ARRAY_LEN(units), max, ret_ms);
}

bool value_size(struct slice text, size_t *ret_bytes)
{
    static const struct unit units[] = {
            {"", 1}, {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}};
    int64_t bytes = 0;
    if (!with_unit(text, units, ARRAY_LEN(units), INT64_C(1) << 40, &bytes))
        return false;
    *ret_bytes = (size_t)bytes;
    return true;
}

bool value_rate(struct slice text, double *ret_per_s)
{
    static const struct unit units[] = {{"/s", 1}, {"/m", 60}, {"/h", 3600}};
    int64_t whole = 0;
    if (!leading_number(&text, &whole) || whole > 1000000000)
        return false;
    double rate = (double)whole;
    if (text.len && text.ptr[0] == '.') {
        double parts = 0, scale = 1;
        size_t i = 1;
        for (; i < text.len && i < 8 && is_digit(text.ptr[i]); i++) {
            parts = parts * 10 + (text.ptr[i] - '0');
            scale *= 10;
        }
        if (i == 1)
            return false;
        rate += parts / scale;
        text = (struct slice){text.ptr + i, text.len - i};
    }
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (!slice_eq(text, slice_of(units[i].name)) || rate <= 0)
            continue;
        *ret_per_s = rate / (double)units[i].factor;
        return true;
    }
    return false;
}

bool value_number(struct slice text, int64_t *ret_number)
{
    static const struct unit units[] = {{"", 1}};
    return with_unit(text, units, 1, INT64_C(1000000000000000), ret_number);
}

bool value_percent(struct slice text, int *ret_percent)
{
    static const struct unit units[] = {{"%", 1}};
    int64_t number = 0;
    if (!with_unit(text, units, 1, 100, &number))
        return false;
    *ret_percent = (int)number;
    return true;
}

// Two digits at text[at], or -1.
static int two_digits(struct slice text, size_t at)
{
    if (at + 2 > text.len || !is_digit(text.ptr[at]) || !is_digit(text.ptr[at + 1]))
        return -1;
    return (text.ptr[at] - '0') * 10 + (text.ptr[at + 1] - '0');
}

bool value_date(struct slice text, int64_t *ret_s)
{
    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-')
        return false;
    int century = two_digits(text, 0), year = two_digits(text, 2);
    int month = two_digits(text, 5), day = two_digits(text, 8);
    if (century < 0 || year < 0 || month < 1 || day < 1 || century * 100 + year < 1970)
        return false;
    struct tm tm = {.tm_year = century * 100 + year - 1900, .tm_mon = month - 1, .tm_mday = day};
    time_t at = timegm(&tm);
    if (tm.tm_mon != month - 1 || tm.tm_mday != day)
        return false; // timegm carries the 31st of February over into March
    *ret_s = at;
    return true;
}

bool value_wall_time(struct slice text)
{
    if (text.len != 5 || text.ptr[2] != ':')
        return false;
    int hour = two_digits(text, 0), minute = two_digits(text, 3);
    return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

bool value_pointer(struct slice text)
{
    if (text.len < 2 || text.len > VALUE_POINTER_MAX || text.ptr[0] != '/' || !value_text(text))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool escape = text.ptr[i] == '~';
        if (escape && (i + 1 == text.len || (text.ptr[i + 1] != '0' && text.ptr[i + 1] != '1')))
            return false;
    }
    return true;
}

bool value_text(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    }
    return text.len > 0 && text.len <= VALUE_TEXT_MAX;
}

bool value_name(struct slice text, const char *more)
{
    if (text.len == 0 || text.len > VALUE_NAME_MAX || strchr(more, text.ptr[0]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= 'A' && text.ptr[i] <= 'Z')
            return false;
    }
    return all_in(text, more);
}

bool value_field(struct slice text)
{
    return text.len <= VALUE_NAME_MAX && all_in(text, "_") && !is_digit(text.ptr[0]);
}

bool value_header(struct slice text)
{
    return text.len <= VALUE_NAME_MAX && all_in(text, "-") && is_letter(text.ptr[0]);
}

bool value_credential(struct slice text)
{
    return text.len <= 255 && all_in(text, "._-") && text.ptr[0] != '.';
}

bool value_zone(struct slice text)
{
    if (text.len > VALUE_NAME_MAX || !all_in(text, "_+-/") || text.ptr[0] == '/' ||
            text.ptr[text.len - 1] == '/')
        return false;
    if (slice_eq(text, SLICE("UTC")) || access("/usr/share/zoneinfo/Etc/UTC", R_OK) != 0)
        return true;
    char path[128];
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%.*s", (int)text.len, (const char *)text.ptr);
    return access(path, R_OK) == 0;
}

// The third column of a line of zone.tab (tzfile(5)), ended by a NUL in its place; NULL = none.
static char *zone_of(char *line)
{
    char *zone = *line == '#' ? NULL : strchr(line, '\t');
    zone = zone ? strchr(zone + 1, '\t') : NULL;
    if (zone)
        zone[1 + strcspn(zone + 1, "\t")] = '\0';
    return zone ? zone + 1 : NULL;
}

bool value_zone_near(struct slice text, struct text *out)
{
    AUTO_FREE char *given = slice_dup(text);
    AUTO_FREE char *list = NULL;
    size_t len = 0;
    struct near near = {0};
    const char *best = NULL;
    if (!file_read("/usr/share/zoneinfo/zone.tab", ZONES_MAX, &list, &len, NULL))
        return false;
    for (char *line = list, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        const char *zone = zone_of(line), *before = near.best;
        if (!zone)
            continue;
        near_offer(&near, given, zone);
        near_offer(&near, given, strrchr(zone, '/') ? strrchr(zone, '/') + 1 : zone);
        if (near.best != before)
            best = zone;
    }
    return best && text_str(out, best);
}

bool value_locale(struct slice text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] >= 'a' && text.ptr[n] <= 'z')
        n++;
    if (n < 2 || n > 3 || text.len > 16)
        return false;
    struct slice rest = {text.ptr + n, text.len - n};
    return rest.len == 0 || (rest.ptr[0] == '-' && rest.len > 2 && all_in(rest, "-"));
}
