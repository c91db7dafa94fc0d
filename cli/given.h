// given.h: what any text on the command line must be, before a command looks at it.
#pragma once
#include "cli/command.h"
#include "common/err.h"

enum {
    GIVEN_MAX = 4096,         // bytes of a flag's value or an argument
    GIVEN_SET_MAX = 65536,    // of a --set
    GIVEN_ROWS_MAX = 1000000, // --limit; most commands take less
};

// Every value and argument of the call is there, not too long, UTF-8 and free of control
// characters (--set may have any, --note new lines and tabs, and be empty), and the
// two that every command takes, --limit and --since, can be read. ERR_INPUT names the one that is
// not.
MUST_CHECK bool given_check(const struct call *call, struct err *err);

// The same text with '?' in place of what no terminal and no JSON takes; free() it.
char *given_printable(const char *text);
