#include "cli/out.h"

#include "cli/given.h"
#include "cli/shell.h"
#include "common/json/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PROBLEM_MAX 4096
#define WIDTH_FALLBACK 100
#define TABLE_OUT_MAX (64 << 20)

enum exit_code out_code(enum err_kind kind)
{
    static const enum exit_code codes[] = {
            [ERR_NONE] = EXIT_DONE,
            [ERR_INPUT] = EXIT_INVALID,
            [ERR_AUTH] = EXIT_DENIED,
            [ERR_TEMP] = EXIT_UNAVAILABLE,
            [ERR_NOTFOUND] = EXIT_NOTFOUND,
            [ERR_CONFLICT] = EXIT_CONFLICT,
            [ERR_FATAL] = EXIT_CONFIG,
    };
    return codes[kind];
}

static const char *code_meaning(int code)
{
    switch (code) {
#define EXIT_CODE(id, number, meaning)                                                             \
    case number:                                                                                   \
        return meaning;
#include "cli/exit.def"
#undef EXIT_CODE
    default:
        return "failed";
    }
}

int out_fail_as(const struct call *call, enum exit_code code, const struct err *err)
{
    // It may quote what was typed, or what a file or another program says.
    AUTO_FREE char *msg = given_printable(err->msg);
    if (!call_has(call, FLAG_JSON)) {
        fprintf(stderr, "pawl: %s\n", msg);
        return (int)code;
    }
    AUTO_TEXT struct text out = {0};
    text_init(&out, PROBLEM_MAX);
    bool ok = text_str(&out, "{\"type\":\"about:blank\",\"title\":") &&
              json_quote(&out, slice_of(code_meaning((int)code))) &&
              text_str(&out, ",\"detail\":") && json_quote(&out, slice_of(msg)) &&
              text_fmt(&out, ",\"exit\":%d}\n", (int)code);
    fputs(ok ? text_cstr(&out) : "{}\n", stderr);
    return (int)code;
}

int out_fail(const struct call *call, const struct err *err)
{
    return out_fail_as(call, out_code(err->kind), err);
}

int out_usage(const struct call *call, const struct err *err)
{
    return out_fail_as(call, EXIT_USAGE, err);
}

void out_note(const struct call *call, const char *fmt, ...)
{
    if (call_has(call, FLAG_QUIET) || call_has(call, FLAG_JSON))
        return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

struct out_pawl out_pawl(const struct call *call)
{
    struct out_pawl pawl = {"pawl"};
    AUTO_TEXT struct text file = {0};
    text_init(&file, sizeof pawl.text - sizeof "pawl -c ");
    if (call_has(call, FLAG_CONFIG)) {
        shell_word(&file, slice_of(call->values[FLAG_CONFIG]));
        if (!file.overflow)
            snprintf(pawl.text, sizeof pawl.text, "pawl -c %s", text_cstr(&file));
    }
    return pawl;
}

int out_data(const struct text *text, int code)
{
    size_t wrote = fwrite(text->ptr ? text->ptr : "", 1, text->len, stdout);
    if (wrote != text->len || fflush(stdout) != 0 || text->overflow) {
        fprintf(stderr, "pawl: %s\n",
                text->overflow ? "too much to show" : "can't write to stdout");
        return EXIT_UNAVAILABLE;
    }
    return code;
}

int out_table(const struct call *call, const struct table *table)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, TABLE_OUT_MAX);
    if (call_has(call, FLAG_JSON))
        table_json(table, &out);
    else
        table_text(table, out_width(), &out);
    return out_data(&out, EXIT_DONE);
}

int out_list(const struct call *call, struct table *table, int64_t limit)
{
    table_cut(table, (size_t)limit);
    int code = out_table(call, table);
    if (table->more)
        out_note(call,
                "these are the first %lld, there are more: --limit N shows up to 1000, other flags "
                "narrow it (pawl help %s)",
                (long long)limit, call->command->words);
    return code;
}

int out_width(void)
{
    struct winsize size = {0};
    if (!isatty(STDOUT_FILENO))
        return 0;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : WIDTH_FALLBACK;
}
