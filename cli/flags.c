#include "cli/flags.h"

#include "common/config/near.h"
#include "common/text.h"
#include "dispatcher/delivery.h"

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
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
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

static int state_named(struct slice name, struct near *near)
{
    for (int state = DELIVERY_DUE; state <= DELIVERY_COMPLAINED; state++) {
        const char *known = delivery_state_name((enum delivery_state)state);
        if (slice_eq(name, slice_of(known)))
            return state;
        AUTO_FREE char *typed = slice_dup(name);
        near_offer(near, typed, known);
    }
    return -1;
}

static bool no_state(struct slice name, const struct near *near, struct err *err)
{
    if (slice_eq(name, SLICE("held")) || slice_eq(name, SLICE("paused")))
        return err_set(err, ERR_INPUT,
                "--state '%.*s' is no state: what is held is due, with the pause as its reason; "
                "pawl pauses counts it",
                (int)name.len, (const char *)name.ptr);
    AUTO_TEXT struct text all;
    text_init(&all, 256);
    for (int state = DELIVERY_DUE; !near->best && state <= DELIVERY_COMPLAINED; state++)
        text_fmt(&all, " %s", delivery_state_name((enum delivery_state)state));
    return err_set(err, ERR_INPUT, "--state '%.*s' is no state of a delivery; %s%s%s",
            (int)(name.len < 40 ? name.len : 40), (const char *)name.ptr,
            near->best ? "did you mean '" : "there is", near->best ? near->best : text_cstr(&all),
            near->best ? "'?" : "");
}

bool flag_states(const struct call *call, int states[STATES_MAX], size_t *ret_n, struct err *err)
{
    const char *at = call->values[FLAG_STATE];
    size_t n = 0;
    while (at && *at) {
        struct near near = {0};
        struct slice name = {(const unsigned char *)at, strcspn(at, ",")};
        int state = state_named(name, &near);
        if (state < 0)
            return no_state(name, &near, err);
        if (n == STATES_MAX)
            return err_set(err, ERR_INPUT, "--state names too many states");
        states[n++] = state;
        at += name.len;
        at += *at == ',';
    }
    *ret_n = n;
    return true;
}
