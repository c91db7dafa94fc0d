// commands.h: the one table of commands, from which parsing, help, completion and docs are made.
#pragma once
#include "cli/command.h"

extern const struct command commands[];
extern const size_t commands_count;

// The command that the first words name, the longest match; NULL when there is none. *ret_words =
// how many of them were its name.
const struct command *commands_find(const char *const *words, size_t n, size_t *ret_words);
