// migrate_commands.h: `pawl migrate up|list|check|sql`.
#pragma once
#include "cli/command.h"

int migrate_command_up(const struct call *call);
int migrate_command_list(const struct call *call);
int migrate_command_check(const struct call *call);
int migrate_command_sql(const struct call *call);
