#include "receiver/verify/moment.h"

#include <time.h>

enum { FRACTION_MAX = 9, UNIX_DIGITS_MAX = 12 };

static bool digits(struct slice text, size_t at, size_t n, int *ret_value)
{
    int value = 0;
    for (size_t i = at; i < at + n; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (text.ptr[i] - '0');
    }
    *ret_value = value;
    return true;
}

// "Z", or a fraction and "Z".
static bool tail_ok(struct slice tail)
{
    if (tail.len == 0 || tail.ptr[tail.len - 1] != 'Z')
        return false;
    if (tail.len == 1)
        return true;
    if (tail.ptr[0] != '.' || tail.len < 3 || tail.len > FRACTION_MAX + 2)
        return false;
    for (size_t i = 1; i + 1 < tail.len; i++)
        if (tail.ptr[i] < '0' || tail.ptr[i] > '9')
            return false;
    return true;
}

bool moment_read(struct slice text, int64_t *ret_s)
{
    static const char form[] = "0000-00-00T00:00:00";
    struct tm parts = {0};
    if (text.len < sizeof form)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] != '0' && text.ptr[i] != (unsigned char)form[i])
            return false;
    struct slice tail = {text.ptr + sizeof form - 1, text.len - (sizeof form - 1)};
    if (!tail_ok(tail) || !digits(text, 0, 4, &parts.tm_year) ||
            !digits(text, 5, 2, &parts.tm_mon) || !digits(text, 8, 2, &parts.tm_mday) ||
            !digits(text, 11, 2, &parts.tm_hour) || !digits(text, 14, 2, &parts.tm_min) ||
            !digits(text, 17, 2, &parts.tm_sec))
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    struct tm made = parts;
    int64_t at_s = timegm(&made);
    // What timegm had to move was no date; a leap second is none of unix time either.
    if (parts.tm_year < 70 || made.tm_mon != parts.tm_mon || made.tm_mday != parts.tm_mday ||
            made.tm_hour != parts.tm_hour || made.tm_min != parts.tm_min ||
            made.tm_sec != parts.tm_sec)
        return false;
    *ret_s = at_s;
    return true;
}

bool moment_read_unix(struct slice text, int64_t *ret_s)
{
    int64_t value = 0;
    if (text.len == 0 || text.len > UNIX_DIGITS_MAX || text.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (text.ptr[i] - '0');
    }
    *ret_s = value;
    return true;
}
