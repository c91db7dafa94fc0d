// policy.h: `pawl policy check|apply|show|list`.
#pragma once
#include "cli/context.h"

int policy_command_check(const struct call *call);
int policy_command_apply(const struct call *call);
int policy_command_show(const struct call *call);
int policy_command_list(const struct call *call);

// The policy of the host's files (or of files, when n_files > 0) and its templates, checked. NULL
// when it has errors; they are in diag. A file that can't be read is err.
MUST_CHECK struct policy *policy_from_files(const struct host_config *host,
        const char *const *files, size_t n_files, const char *templates, struct diag *diag,
        struct err *err);
