// parse.h: argv into a call: the command's words, its flags, its arguments.
#pragma once
#include "cli/command.h"
#include "common/err.h"

// Flags may stand anywhere, `--` ends them. Nothing may be abbreviated. ret_call->command is NULL
// when no word was given. A word or flag that is not known is ERR_INPUT with the nearest known one;
// what was read by then is in ret_call (so that --json is honoured for the error). Reorders argv.
MUST_CHECK bool parse_call(int argc, char **argv, struct call *ret_call, struct err *err);
