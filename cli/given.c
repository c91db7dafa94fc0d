#include "cli/given.h"

#include "cli/flags.h"
#include "common/utf8.h"

#include <stdio.h>

#define NAME_MAX_BYTES 40

struct allowed {
    size_t max;
    bool empty, lines, controls;
};

// The first byte from which on it is no UTF-8, or the end.
static const char *end_of_utf8(const char *text)
{
    for (size_t n; *text; text += n)
        if ((n = utf8_len(slice_of(text))) == 0)
            break;
    return text;
}

static bool has_control(const char *text, bool lines)
{
    for (size_t n; *text; text += n) {
        n = utf8_len(slice_of(text));
        struct slice one = {(const unsigned char *)text, n};
        if (utf8_has_control(one) && !(lines && (*text == '\n' || *text == '\t')))
            return true;
    }
    return false;
}

static bool check(const char *name, const char *text, struct allowed allowed, struct err *err)
{
    if (!*text && !allowed.empty)
        return err_set(err, ERR_INPUT, "%s is empty", name);
    if (strlen(text) > allowed.max)
        return err_set(err, ERR_INPUT, "%s is longer than %zu bytes", name, allowed.max);
    if (*end_of_utf8(text))
        return err_set(err, ERR_INPUT, "%s is not UTF-8", name);
    if (!allowed.controls && has_control(text, allowed.lines))
        return err_set(err, ERR_INPUT, "%s has a control character in it", name);
    return true;
}

static bool check_flag(enum flag flag, const char *value, struct err *err)
{
    char name[NAME_MAX_BYTES];
    const struct allowed allowed = {.max = flag == FLAG_SET ? GIVEN_SET_MAX : GIVEN_MAX,
            .empty = flag == FLAG_NOTE,
            .lines = flag == FLAG_NOTE,
            .controls = flag == FLAG_SET};
    snprintf(name, sizeof name, "--%s", flag_rows[flag].name);
    // It is written into PostgreSQL's own files and into connection strings.
    if (flag == FLAG_DIR && strpbrk(value, "'\"\\,"))
        return err_set(err, ERR_INPUT, "%s may not have ' \" \\ or , in it", name);
    return check(name, value, allowed, err);
}

// By its name in the synopsis, without its brackets.
static bool check_arg(const struct command *command, const char *arg, struct err *err)
{
    char name[NAME_MAX_BYTES];
    const char *from = command->args + strspn(command->args, "[");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(from, "]"), from);
    return check(name, arg, (struct allowed){.max = GIVEN_MAX}, err);
}

bool given_check(const struct call *call, struct err *err)
{
    for (int flag = 0; flag < FLAG_COUNT; flag++)
        if (call->values[flag] && flag_rows[flag].arg && flag != FLAG_SET &&
                !check_flag((enum flag)flag, call->values[flag], err))
            return false;
    for (size_t i = 0; i < call->n_sets; i++)
        if (!check_flag(FLAG_SET, call->sets[i], err))
            return false;
    for (size_t i = 0; i < call->n_args; i++)
        if (!check_arg(call->command, call->args[i], err))
            return false;
    // Every command takes these two, also one that has no use for them.
    int64_t unused;
    return flag_number(call, FLAG_LIMIT, 1, GIVEN_ROWS_MAX, &unused, err) &&
           flag_duration(call, FLAG_SINCE, &unused, err);
}

char *given_printable(const char *text)
{
    char *out = xstrdup(text), *to = out;
    for (const char *at = text; *at;) {
        size_t n = utf8_len(slice_of(at));
        struct slice one = {(const unsigned char *)at, n};
        bool fine = n > 0 && (!utf8_has_control(one) || *at == '\n' || *at == '\t');
        if (fine)
            memcpy(to, at, n);
        else
            *to = '?';
        to += fine ? n : 1;
        at += n > 0 ? n : 1;
    }
    *to = '\0';
    return out;
}
