// names.h: whether a message type or provider that was named, and found nothing, exists at all.
#pragma once
#include "common/config/policy.h"

// What was mistyped finds nothing, which must not look as if all were well: ERR_NOTFOUND, with the
// nearest name, when the policy has no such message or provider. NULL = none was named.
MUST_CHECK bool names_known(
        const struct policy *policy, const char *type, const char *provider, struct err *err);
