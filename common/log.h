// log.h: one structured line an event on stderr: JSON, or text when log.format says so.
#pragma once
#include "common/base.h"

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARNING, LOG_LVL_INFO, LOG_LVL_DEBUG };

struct log_field {
    const char *name;
    enum { LOG_STR, LOG_SLICE, LOG_INT } type;
    const char *str;
    struct slice slice;
    int64_t num;
};
#define L_STR(n, v)                                                                                \
    {                                                                                              \
        .name = (n), .type = LOG_STR, .str = (v)                                                   \
    }
#define L_SLICE(n, v)                                                                              \
    {                                                                                              \
        .name = (n), .type = LOG_SLICE, .slice = (v)                                               \
    }
#define L_INT(n, v)                                                                                \
    {                                                                                              \
        .name = (n), .type = LOG_INT, .num = (v)                                                   \
    }

void log_init(const char *component, bool json, enum log_level level);

// event is stable ("inbox.duplicate"), msg is for people. Never bodies, secrets or whole addresses.
// Repeats of one event beyond 10 a second are dropped and counted in the next one's "suppressed".
// Thread-safe; at most 4 KiB a line.
void log_fields(enum log_level level, const char *event, const char *msg,
        const struct log_field *fields, size_t n);

// The limit of log_fields: false when this line of the event is one too many in its second; else
// *ret_suppressed says how many were dropped since the last one. now_ms: clock_mono_ms.
bool log_each_second(const char *event, int64_t now_ms, int64_t *ret_suppressed);

// For events that anybody may cause at will: true at most once a minute for each event and pair of
// values; then *ret_left_out says how many were left out since the last one. now_ms: clock_mono_ms.
// Thread-safe; of very many pairs the last ones share their minute.
bool log_each_minute(const char *event, const char *first, const char *second, int64_t now_ms,
        int64_t *ret_left_out);

// Any number of fields, none too (the first of the array is not one: C has no empty array).
#define LOG(level, event, msg, ...)                                                                \
    log_fields(LOG_LVL_##level, (event), (msg),                                                    \
            (const struct log_field[]){{.name = NULL}, __VA_ARGS__} + 1,                           \
            sizeof((const struct log_field[]){{.name = NULL}, __VA_ARGS__}) /                      \
                            sizeof(struct log_field) -                                             \
                    1)
#define LOG0(level, event, msg) log_fields(LOG_LVL_##level, (event), (msg), NULL, 0)
