// deliveries.h: `pawl deliveries list|show`: what is sent, with its content and attempts.
#pragma once
#include "cli/command.h"

int deliveries_list(const struct call *call);
int deliveries_show(const struct call *call);
