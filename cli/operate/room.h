// room.h: whether the caps of the active policy leave room for what would be sent anew.
#pragma once
#include "cli/operate/act.h"

// Fills `full` of each delivery that would be withheld or deferred by a cap now.
MUST_CHECK bool room_look(const struct act *act, struct picks *picks, struct err *err);
