// check_verify.h: the rules of a source's own `verify`, which says how requests are proved.
#pragma once
#include "common/config/policy_made.h"

// For every source, whatever its scheme: what is for `custom` and `none` alone is refused
// elsewhere.
void policy_check_verify(const struct making *making, struct source *source);
