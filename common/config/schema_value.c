#include "common/config/schema_value.h"

#include "common/config/near.h"
#include "common/config/value.h"

#include <limits.h>

static void store_text(void *slot, struct slice text)
{
    char *copy = slice_dup(text), *old;
    memcpy(&old, slot, sizeof old);
    free(old);
    memcpy(slot, &copy, sizeof copy);
}

static void store_int(void *slot, int64_t number)
{
    int value = (int)number;
    memcpy(slot, &value, sizeof value);
}

static void store_big(void *slot, int64_t number)
{
    memcpy(slot, &number, sizeof number);
}

static void store_size(void *slot, int64_t number)
{
    size_t value = (size_t)number;
    memcpy(slot, &value, sizeof value);
}

static void store_bool(void *slot, int64_t number)
{
    bool value = number != 0;
    memcpy(slot, &value, sizeof value);
}

static bool form_source(struct slice text)
{
    return value_name(text, "-");
}

static bool form_ident(struct slice text)
{
    return value_name(text, "_-");
}

static bool read_seconds(struct slice text, int64_t *ret)
{
    int64_t ms = 0;
    if (!value_duration_ms(text, &ms) || ms % 1000 != 0)
        return false;
    *ret = ms / 1000;
    return true;
}

static bool read_size(struct slice text, int64_t *ret)
{
    size_t bytes = 0;
    if (!value_size(text, &bytes))
        return false;
    *ret = (int64_t)bytes;
    return true;
}

static bool read_auto(struct slice text, int64_t *ret)
{
    if (!slice_eq(text, SLICE("auto")))
        return value_number(text, ret) && *ret > 0;
    *ret = 0;
    return true;
}

static bool read_percent(struct slice text, int64_t *ret)
{
    int percent = 0;
    if (!value_percent(text, &percent))
        return false;
    *ret = percent;
    return true;
}

static bool read_date_end(struct slice text, int64_t *ret)
{
    if (!value_date(text, ret))
        return false;
    *ret += 86400;
    return true;
}

static bool read_bool(struct slice text, int64_t *ret)
{
    *ret = slice_eq(text, SLICE("true"));
    return *ret || slice_eq(text, SLICE("false"));
}

// Each type has either a form (a text is kept) or a reader (a number is kept).
struct scalar {
    const char *name, *code, *form_text;
    bool (*form)(struct slice text);
    bool (*number)(struct slice text, int64_t *ret);
    void (*store)(void *slot, int64_t number);
    size_t size;
};

#define KEPT(name_, code_, text_, form_)                                                           \
    {                                                                                              \
        .name = (name_), .code = (code_), .form_text = (text_), .form = (form_),                   \
        .size = sizeof(char *)                                                                     \
    }
#define NUMBER(name_, code_, text_, read_, store_, type_)                                          \
    {                                                                                              \
        .name = (name_), .code = (code_), .form_text = (text_), .number = (read_),                 \
        .store = (store_), .size = sizeof(type_)                                                   \
    }

// clang-format off
static const struct scalar scalars[] = {
        [S_NONE] = {.name = "none"},
        [S_TEXT] = KEPT("text", "text", "a text of one line, without control characters", value_text),
        [S_SOURCE] = KEPT("name", "name", "a name of up to 63 of a-z 0-9 -, beginning with a letter or digit", form_source),
        [S_IDENT] = KEPT("name", "name", "a name of up to 63 of a-z 0-9 _ -, beginning with a letter or digit", form_ident),
        [S_FIELD] = KEPT("field name", "name", "a field name of A-Z a-z 0-9 _, beginning with no digit", value_field),
        [S_HEADER] = KEPT("header name", "header", "a header's name of A-Z a-z 0-9 -", value_header),
        [S_WORD] = {.name = "word", .code = "enum", .size = sizeof(char *)},
        [S_ENUM] = {.name = "word", .code = "enum", .store = store_int, .size = sizeof(int)},
        [S_FLAG] = {.name = "word", .code = "enum", .store = store_bool, .size = sizeof(bool)},
        [S_BOOL] = NUMBER("bool", "bool", "true or false", read_bool, store_bool, bool),
        [S_SECONDS] = NUMBER("duration", "duration", "a duration of whole seconds such as 10s, 5m, 2h, 7d", read_seconds, store_big, int64_t),
        [S_MS] = NUMBER("duration", "duration", "a duration such as 2500ms, 10s, 5m, 2h, 7d", value_duration_ms, store_big, int64_t),
        [S_SIZE] = NUMBER("size", "size", "a size such as 512, 256KiB, 2MiB", read_size, store_size, size_t),
        [S_INT] = NUMBER("number", "number", "a whole number", value_number, store_int, int),
        [S_INT_AUTO] = NUMBER("number or auto", "number", "a number above zero, or auto", read_auto, store_int, int),
        [S_PERCENT] = NUMBER("percent", "percent", "a percentage from 0% to 100%, such as 20%", read_percent, store_int, int),
        [S_RATE] = {.name = "rate", .code = "rate", .form_text = "a rate such as 500/s, 30/m, 100/h", .size = sizeof(double)},
        [S_POINTER] = KEPT("JSON pointer", "pointer", "a JSON pointer such as /data/id", value_pointer),
        [S_CREDENTIAL] = {.name = "credential:NAME", .code = "credential", .form_text = "credential:NAME, where NAME is a file's name of A-Z a-z 0-9 . _ -", .size = sizeof(char *)},
        [S_DATE] = NUMBER("date", "date", "a date such as 2026-12-31", value_date, store_big, int64_t),
        [S_DATE_END] = NUMBER("date", "date", "a date such as 2026-12-31", read_date_end, store_big, int64_t),
        [S_WALL] = KEPT("time of day", "wall-time", "a time of day such as \"21:00\"", value_wall_time),
        [S_ZONE] = KEPT("time zone", "timezone", "a time zone such as Europe/Berlin", value_zone),
        [S_LOCALE] = KEPT("locale", "locale", "a locale such as en or de-AT", value_locale),
        [S_LISTEN] = KEPT("address:port", "listen", "an address and port such as \"127.0.0.1:8080\" or \"[::1]:8080\"", value_listen),
        [S_NETWORK] = KEPT("network", "network", "an address or network such as 127.0.0.1/32", value_network),
        [S_WEB_URL] = KEPT("URL", "url", "a URL such as https://hooks.example.com/hooks/name", value_web_url),
        [S_HTTPS_URL] = KEPT("https URL", "url", "a URL such as https://id.example.com/keys", value_https_url),
        [S_TOPIC] = KEPT("topic", "topic", "a topic such as arn:aws:sns:eu-west-1:123456789012:orders, or arn:..:123456789012:*", value_topic),
        [S_DETOUR] = KEPT("host=address:port", "detour", "a host and where it is reached, such as keys.example.com=10.0.0.5:443", value_detour),
        [S_MAILBOX] = KEPT("mailbox", "mailbox", "a mailbox such as \"Shop <shop@example.net>\"", value_mailbox),
        [S_SENDER] = KEPT("phone number or sender", "sender", "a number such as \"+4915112345678\", or a sender name of up to 11 letters", value_phone_sender),
        [S_FORMAT] = NUMBER("1", "format", "1, the version of this format", value_number, store_int, int),
        [S_REF] = {.name = "name", .code = "name", .size = sizeof(int)},
        [S_MAP] = {.name = "map", .code = "map"},
};
// clang-format on

size_t schema_slot_size(const struct schema_key *key)
{
    return key->type == S_MAP ? key->of->size : scalars[key->type].size;
}

bool schema_slot_owns(enum schema_type type)
{
    return scalars[type].form || type == S_WORD || type == S_CREDENTIAL;
}

const char *schema_form(enum schema_type type)
{
    return scalars[type].form_text ? scalars[type].form_text : scalars[type].name;
}

const char *schema_type_name(enum schema_type type)
{
    return scalars[type].name;
}

static bool read_word(
        const struct schema_key *key, struct slice text, const struct schema_word **ret_word)
{
    for (const struct schema_word *word = key->words; word->name; word++) {
        if (!slice_eq(text, slice_of(word->name)))
            continue;
        *ret_word = word;
        return true;
    }
    return false;
}

static bool store_word(
        const struct schema_key *key, struct slice text, void *slot, struct text *why)
{
    const struct schema_word *word = NULL;
    if (read_word(key, text, &word)) {
        if (slot && key->type == S_WORD)
            store_text(slot, text);
        else if (slot)
            scalars[key->type].store(slot, word->value);
        return true;
    }
    AUTO_FREE char *given = slice_dup(text);
    struct near near = {0};
    for (word = key->words; word->name; word++)
        near_offer(&near, given, word->name);
    text_fmt(why, "unknown %s '%s'", key->name, yaml_show(text).text);
    if (near.best) {
        text_fmt(why, "; did you mean '%s'?", near.best);
        return false;
    }
    for (word = key->words; word->name; word++)
        text_fmt(why, "%s%s", word == key->words ? "; it is one of " : ", ", word->name);
    return false;
}

static bool not_the_form(const struct schema_key *key, struct slice text, struct text *why)
{
    AUTO_TEXT struct text near = {0};
    text_init(&near, VALUE_NAME_MAX);
    text_fmt(why, "%s: '%s' is not %s", key->name, yaml_show(text).text, schema_form(key->type));
    if (key->type == S_ZONE && value_zone_near(text, &near))
        text_fmt(why, "; did you mean '%s'?", text_cstr(&near));
    return false;
}

static bool store_credential(
        const struct schema_key *key, struct slice text, void *slot, struct text *why)
{
    static const char prefix[] = "credential:";
    size_t n = sizeof prefix - 1;
    if (text.len < n || memcmp(text.ptr, prefix, n) != 0) {
        // What stands here may be the secret itself, so it is not repeated.
        text_fmt(why, "%s: a secret is never written here; write %s", key->name,
                schema_form(key->type));
        return false;
    }
    struct slice name = {text.ptr + n, text.len - n};
    if (!value_credential(name))
        return not_the_form(key, text, why);
    if (slot)
        store_text(slot, name);
    return true;
}

static bool store_rate(
        const struct schema_key *key, struct slice text, void *slot, struct text *why)
{
    double rate = 0;
    if (!value_rate(text, &rate))
        return not_the_form(key, text, why);
    if (slot)
        memcpy(slot, &rate, sizeof rate);
    return true;
}

struct unit {
    int64_t of; // the smaller ones
    const char *name;
};

// In the largest unit that it is whole in: 86400 seconds are 1d.
static void add_bound(enum schema_type type, int64_t bound, struct text *out)
{
    static const struct unit seconds[] = {
            {86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}, {0, NULL}};
    static const struct unit ms[] = {
            {86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}, {0, NULL}};
    static const struct unit sizes[] = {{1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, ""}, {0, NULL}};
    static const struct unit percent[] = {{1, "%"}, {0, NULL}}, plain[] = {{1, ""}, {0, NULL}};
    const struct unit *unit = type == S_SECONDS ? seconds
                              : type == S_MS    ? ms
                              : type == S_SIZE  ? sizes
                                                : plain;
    if (type == S_PERCENT)
        unit = percent;
    while (unit->of > 1 && (bound == 0 || bound % unit->of != 0))
        unit++;
    text_fmt(out, "%lld%s", (long long)(bound / unit->of), unit->name);
}

static bool store_number(const struct schema_key *key, struct slice text, void *slot,
        const char **ret_code, struct text *why)
{
    int64_t number = 0;
    if (!scalars[key->type].number(text, &number))
        return not_the_form(key, text, why);
    bool ranged = key->min != 0 || key->max != 0;
    int64_t max = key->max ? key->max : INT64_MAX;
    if (scalars[key->type].size == sizeof(int) && max > INT_MAX)
        max = INT_MAX;
    if ((ranged && number < key->min) || number > max) {
        *ret_code = "range";
        text_fmt(why, "%s: '%s' is too %s; the %s is ", key->name, yaml_show(text).text,
                number > max ? "large" : "small", number > max ? "most" : "least");
        add_bound(key->type, number > max ? max : key->min, why);
        return false;
    }
    if (key->type == S_FORMAT && number != 1) {
        text_fmt(why, "this version reads format 1, not '%s'", yaml_show(text).text);
        return false;
    }
    if (slot)
        scalars[key->type].store(slot, number);
    return true;
}

bool schema_value(const struct schema_key *key, struct slice text, void *slot,
        const char **ret_code, struct text *why)
{
    const struct scalar *scalar = &scalars[key->type];
    *ret_code = scalar->code;
    if (key->words)
        return store_word(key, text, slot, why);
    if (key->type == S_CREDENTIAL)
        return store_credential(key, text, slot, why);
    if (key->type == S_RATE)
        return store_rate(key, text, slot, why);
    if (scalar->number)
        return store_number(key, text, slot, ret_code, why);
    if (!scalar->form(text))
        return not_the_form(key, text, why);
    if (slot)
        store_text(slot, text);
    return true;
}
