// out.h: data to stdout, everything else to stderr, failures as exit codes.
#pragma once
#include "cli/command.h"
#include "cli/table.h"
#include "common/err.h"
#include "common/text.h"

// What a failure's kind is as an exit code.
enum exit_code out_code(enum err_kind kind);

// Says it on stderr ("pawl: ..", or one problem+json object with --json) and returns the exit code.
int out_fail(const struct call *call, const struct err *err);
int out_fail_as(const struct call *call, enum exit_code code, const struct err *err);
int out_usage(const struct call *call, const struct err *err);

// Progress and hints on stderr; nothing with -q or --json.
void out_note(const struct call *call, const char *fmt, ...) PRINTF_LIKE(2, 3);

// How the command that is proposed next begins: "pawl", with the --config that this one was given.
struct out_pawl {
    char text[4200];
};
struct out_pawl out_pawl(const struct call *call);

// Writes data to stdout; code, or EXIT_UNAVAILABLE when stdout can't take it.
int out_data(const struct text *text, int code);

// Writes a list to stdout: JSON with --json, else a table.
int out_table(const struct call *call, const struct table *table);
// The same of at most `limit` rows; where the table has one more, it is said that there are more.
int out_list(const struct call *call, struct table *table, int64_t limit);

// The width of stdout's terminal; 0 when it is none.
int out_width(void);
