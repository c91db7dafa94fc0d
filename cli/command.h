// command.h: what a command is, and what one call of it was given.
#pragma once
#include "common/base.h"

enum flag {
#define FLAG(id, name, letter, arg, summary) FLAG_##id,
#include "cli/flags.def"
#undef FLAG
    FLAG_COUNT
};
#define FLAG_BIT(id) (1ULL << FLAG_##id)

// The exit codes of every command (docs/cli.md).
enum exit_code {
#define EXIT_CODE(id, number, meaning) EXIT_##id = (number),
#include "cli/exit.def"
#undef EXIT_CODE
};

enum { CALL_SETS_MAX = 32, CALL_ARGS_MAX = 256 };

// One call as parsed. All texts are borrowed from argv.
struct call {
    const struct command *command;
    const char *values[FLAG_COUNT]; // NULL = not given, "" = a flag without a value
    const char *sets[CALL_SETS_MAX];
    size_t n_sets;
    const char *args[CALL_ARGS_MAX];
    size_t n_args;
};

struct command {
    const char *group;   // heading in the help
    const char *words;   // "policy check"
    const char *args;    // "[FILES]", "" = none
    const char *summary; // one line, no full stop
    const char *example;
    size_t min_args, max_args;
    uint64_t flags; // FLAG_BIT()s besides those every command takes
    int (*run)(const struct call *call);
};

static inline bool call_has(const struct call *call, enum flag flag)
{
    return call->values[flag] != NULL;
}
