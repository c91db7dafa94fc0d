// trigger.h: `pawl trigger`: signs and sends copies of one event as its provider would.
#pragma once
#include "cli/command.h"

#define TRIGGER_EMAIL "customer@example.net"

int trigger_command(const struct call *call);
