// rejected.h: `pawl inbox rejected list|show`: what was refused, as it is kept for a week.
#pragma once
#include "cli/command.h"

int rejected_list(const struct call *call);
int rejected_show(const struct call *call);
