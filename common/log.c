#include "common/log.h"

#include "common/clock.h"
#include "common/utf8.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096
#define TAIL_BYTES 64  // room kept for ,"truncated":true and the line's end
#define VALUE_MAX 1024 // bytes of one value that are shown
#define RATE_SLOTS 64  // different events told apart; further ones share the last slot
#define RATE_PER_SECOND 10
#define MINUTE_SLOTS 512 // events with their values told apart
#define MINUTE_MS 60000

static struct {
    char component[32];
    bool json;
    enum log_level level;
} setup = {.component = "pawl", .json = true, .level = LOG_LVL_INFO};

static struct {
    pthread_mutex_t lock;
    struct slot {
        uint64_t event; // hash of its name, 0 = free
        int64_t second;
        int lines;
        int64_t suppressed;
    } slots[RATE_SLOTS];
} rate = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    struct minute {
        uint64_t what; // hash of event and values, 0 = free
        int64_t said_ms, left_out;
    } slots[MINUTE_SLOTS];
} minutes = {.lock = PTHREAD_MUTEX_INITIALIZER};

void log_init(const char *component, bool json, enum log_level level)
{
    snprintf(setup.component, sizeof setup.component, "%s", component);
    setup.json = json;
    setup.level = level;
}

#define HASH_START 14695981039346656037U // FNV-1a

// The closing NUL counts, so that several strings in a row are told apart.
static uint64_t hash_more(uint64_t hash, const char *str)
{
    do
        hash = (hash ^ (unsigned char)*str) * 1099511628211U;
    while (*str++);
    return hash;
}

static uint64_t hash_of(const char *str)
{
    return hash_more(HASH_START, str) | 1;
}

static struct slot *slot_of(uint64_t event)
{
    size_t i = 0;
    while (i < RATE_SLOTS - 1 && rate.slots[i].event != 0 && rate.slots[i].event != event)
        i++;
    rate.slots[i].event = event;
    return &rate.slots[i];
}

bool log_each_second(const char *event, int64_t now_ms, int64_t *ret_suppressed)
{
    uint64_t hash = hash_of(event);
    int64_t second = now_ms / 1000;
    pthread_mutex_lock(&rate.lock);
    struct slot *slot = slot_of(hash);
    if (slot->second != second) {
        slot->second = second;
        slot->lines = 0;
    }
    bool may = slot->lines < RATE_PER_SECOND;
    if (may) {
        slot->lines++;
        *ret_suppressed = slot->suppressed;
        slot->suppressed = 0;
    } else {
        slot->suppressed++;
    }
    pthread_mutex_unlock(&rate.lock);
    return may;
}

static struct minute *minute_of(uint64_t what)
{
    size_t i = 0;
    while (i < MINUTE_SLOTS - 1 && minutes.slots[i].what != 0 && minutes.slots[i].what != what)
        i++;
    if (minutes.slots[i].what == 0)
        minutes.slots[i] = (struct minute){.what = what, .said_ms = INT64_MIN};
    return &minutes.slots[i];
}

bool log_each_minute(const char *event, const char *first, const char *second, int64_t now_ms,
        int64_t *ret_left_out)
{
    uint64_t what = hash_more(hash_more(hash_of(event), first), second) | 1;
    pthread_mutex_lock(&minutes.lock);
    struct minute *minute = minute_of(what);
    bool say = minute->said_ms == INT64_MIN || now_ms - minute->said_ms >= MINUTE_MS;
    if (say) {
        *ret_left_out = minute->left_out;
        minute->said_ms = now_ms;
        minute->left_out = 0;
    } else {
        minute->left_out++;
    }
    pthread_mutex_unlock(&minutes.lock);
    return say;
}

static void add_quoted(struct text *line, struct slice value)
{
    size_t end = value.len < VALUE_MAX ? value.len : VALUE_MAX;
    text_char(line, '"');
    for (size_t i = 0; i < end;) {
        const unsigned char *p = value.ptr + i;
        size_t len = utf8_len((struct slice){p, value.len - i});
        if (len == 0)
            text_str(line, "\\ufffd");
        else if (*p == '"' || *p == '\\')
            text_fmt(line, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            text_fmt(line, "\\u%04x", *p);
        else
            text_add(line, (struct slice){p, len});
        i += len ? len : 1;
    }
    text_str(line, end < value.len ? "...\"" : "\"");
}

static bool is_plain(struct slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] <= ' ' || value.ptr[i] >= 0x7f || strchr("\"\\=", value.ptr[i]))
            return false;
    return value.len > 0 && value.len <= VALUE_MAX;
}

static struct slice value_of(const struct log_field *field)
{
    return field->type == LOG_SLICE ? field->slice : slice_of(field->str ? field->str : "");
}

// A field that does not fit is left out whole, so that the line stays readable by machines.
static bool add_field(struct text *line, const struct log_field *field)
{
    size_t before = line->len;
    text_fmt(line, setup.json ? ",\"%s\":" : " %s=", field->name);
    if (field->type == LOG_INT)
        text_fmt(line, "%lld", (long long)field->num);
    else if (!setup.json && is_plain(value_of(field)))
        text_add(line, value_of(field));
    else
        add_quoted(line, value_of(field));
    if (!line->overflow)
        return true;
    line->overflow = false;
    line->len = before;
    return false;
}

static void add_head(struct text *line, enum log_level level, const char *event, const char *msg)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char now[32];
    clock_rfc3339(clock_now_us(), now);
    if (setup.json)
        text_fmt(line, "{\"ts\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"msg\":", now,
                names[level], event);
    else
        text_fmt(line, "%s %-7s %s: ", now, names[level], event);
    if (!setup.json) {
        text_str(line, msg);
        return;
    }
    add_quoted(line, slice_of(msg));
    text_fmt(line, ",\"component\":\"%s\",\"pid\":%d", setup.component, (int)getpid());
}

void log_fields(enum log_level level, const char *event, const char *msg,
        const struct log_field *fields, size_t n)
{
    int64_t suppressed = 0;
    if (level > setup.level || !log_each_second(event, clock_mono_ms(), &suppressed))
        return;
    AUTO_TEXT struct text line;
    text_init(&line, LINE_MAX_BYTES - TAIL_BYTES);
    add_head(&line, level, event, msg);
    bool whole = true;
    for (size_t i = 0; i < n; i++)
        whole = add_field(&line, &fields[i]) && whole;
    line.max = LINE_MAX_BYTES;
    if (suppressed > 0)
        text_fmt(&line, setup.json ? ",\"suppressed\":%lld" : " suppressed=%lld",
                (long long)suppressed);
    if (!whole)
        text_str(&line, setup.json ? ",\"truncated\":true" : " truncated");
    text_str(&line, setup.json ? "}\n" : "\n");
    // One write a line: lines of several threads and processes never mix in a pipe of 4 KiB.
    ssize_t ignored = write(STDERR_FILENO, line.ptr, line.len);
    (void)ignored;
}
