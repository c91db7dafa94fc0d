// flags.h: the flags of the command line as data, and the values some of them carry.
#pragma once
#include "cli/command.h"
#include "common/err.h"

struct flag_row {
    const char *name;
    char letter;     // 0 = none
    const char *arg; // NULL = takes no value
    const char *summary;
};
extern const struct flag_row flag_rows[FLAG_COUNT];

// Those that every command takes.
#define FLAGS_GLOBAL                                                                               \
    (FLAG_BIT(CONFIG) | FLAG_BIT(DATABASE) | FLAG_BIT(JSON) | FLAG_BIT(QUIET) |                    \
            FLAG_BIT(VERBOSE) | FLAG_BIT(NO_COLOR) | FLAG_BIT(NO_INPUT) | FLAG_BIT(YES) |          \
            FLAG_BIT(LIMIT) | FLAG_BIT(SINCE) | FLAG_BIT(HELP))

// A whole number of min..max; *value is kept when the flag was not given.
MUST_CHECK bool flag_number(const struct call *call, enum flag flag, int64_t min, int64_t max,
        int64_t *value, struct err *err);

// "90s", "15m", "24h", "7d" in seconds; *value is kept when the flag was not given.
MUST_CHECK bool flag_duration(
        const struct call *call, enum flag flag, int64_t *value, struct err *err);

// --state: one state of a delivery, or several with commas; none when the flag was not given.
enum { STATES_MAX = 16 };
MUST_CHECK bool flag_states(
        const struct call *call, int states[STATES_MAX], size_t *ret_n, struct err *err);

// --since in seconds and --limit of a list of what happened.
MUST_CHECK bool flags_of_list(
        const struct call *call, int64_t *since_s, int64_t *limit, struct err *err);
