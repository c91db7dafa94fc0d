// room.h: whether a cap of the active policy or a suppressed address would hold what is sent anew.
#pragma once
#include "cli/operate/act.h"

// Fills `held` of each delivery that would be withheld or deferred now.
MUST_CHECK bool room_look(const struct act *act, struct picks *picks, struct err *err);
