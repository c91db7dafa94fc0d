// ask.h: a question before something is done, where somebody is there to answer it.
#pragma once
#include "cli/command.h"

// stdin is a terminal, and --no-input and --json were not given.
bool ask_possible(const struct call *call);
// EXIT_DONE = yes (also by --yes), EXIT_UNCONFIRMED = no, or nobody to ask: told on stderr.
int ask_yes(const struct call *call, const char *fmt, ...) PRINTF_LIKE(2, 3);
