// redrive.h: a delivery sent anew, which is a new intent under the policy of the day.
#pragma once
#include "cli/operate/act.h"

// Can it be? False: out says why not. True: out says what it means for the recipient. `not_sent`: a
// person says that the one before was not.
bool redrive_foretell(
        const struct act *act, const struct picked *p, bool not_sent, struct text *out);
// Adds the statement; state is what its predecessors are in by then.
void redrive_add(const struct act *act, struct picked *const *rows, size_t n,
        const enum delivery_state *state);
