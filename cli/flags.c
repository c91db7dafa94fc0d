#include "cli/flags.h"

#include <errno.h>

const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG(id, name, letter, arg, summary) {name, letter, arg, summary},
#include "cli/flags.def"
#undef FLAG
};

static bool whole_number(const char *text, char **ret_end, long long *ret_n)
{
    errno = 0;
    *ret_n = strtoll(text, ret_end, 10);
    return text[0] >= '0' && text[0] <= '9' && errno == 0;
}

bool flag_number(const struct call *call, enum flag flag, int64_t min, int64_t max, int64_t *value,
        struct err *err)
{
    const char *text = call->values[flag];
    char *end;
    long long n;
    if (!text)
        return true;
    if (!whole_number(text, &end, &n) || *end || n < min || n > max)
        return err_set(err, ERR_INPUT, "--%s '%s' is not a number of %lld to %lld",
                flag_rows[flag].name, text, (long long)min, (long long)max);
    *value = n;
    return true;
}

static int64_t unit_seconds(const char *unit)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].seconds;
    return 0;
}

bool flag_duration(const struct call *call, enum flag flag, int64_t *value, struct err *err)
{
    const int64_t longest_s = 3660LL * 86400;
    const char *text = call->values[flag];
    char *end;
    long long n;
    if (!text)
        return true;
    if (!whole_number(text, &end, &n) || unit_seconds(end) == 0 ||
            n > longest_s / unit_seconds(end))
        return err_set(err, ERR_INPUT, "--%s '%s' is not a time such as 15m, 24h or 30d",
                flag_rows[flag].name, text);
    *value = n * unit_seconds(end);
    return true;
}

bool flags_of_list(const struct call *call, int64_t *since_s, int64_t *limit, struct err *err)
{
    return flag_duration(call, FLAG_SINCE, since_s, err) &&
           flag_number(call, FLAG_LIMIT, 1, 1000, limit, err);
}
