// keys.h: `pawl keys`: the secrets of sources: which are used, and which files are wrong.
#pragma once
#include "cli/command.h"

int keys_list(const struct call *call);
int keys_check(const struct call *call);
