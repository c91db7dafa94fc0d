// demo.h: `pawl demo`: five copies of one webhook in, one mail out, told from the database.
#pragma once
#include "cli/command.h"

int demo_command(const struct call *call);
