// active.h: the policy that is in use, with its secrets, for commands that need no more of it.
#pragma once
#include "cli/context.h"

// The active version of the database; the host's files when it can't be asked, with a note. Yours:
// policy_unref().
MUST_CHECK struct policy *policy_active(
        const struct call *call, const struct context *context, struct err *err);

// The credentials' folder: the host file's, else $CREDENTIALS_DIRECTORY; NULL without one.
const char *credentials_dir(const struct context *context);
