// reverify.h: `pawl inbox reverify`: admits kept requests after a secret was mended.
#pragma once
#include "cli/command.h"

int reverify_command(const struct call *call);
