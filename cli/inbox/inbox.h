// inbox.h: `pawl inbox list|show|waiting`: what came in, as it was received.
#pragma once
#include "cli/command.h"

int inbox_list(const struct call *call);
int inbox_show(const struct call *call);
int inbox_waiting(const struct call *call); // what waits for its step or order
