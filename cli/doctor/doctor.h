// doctor.h: `pawl doctor`: looks at an installation and says, for each finding, the command that
// mends it. Changes nothing and sends nothing.
#pragma once
#include "cli/command.h"

int doctor_command(const struct call *call);
