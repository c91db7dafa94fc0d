// fault.h: named places where a test may crash, stop or fail the process (docs/crash-ordering.md
// numbers them).
//
// Compiled in only with -Dfaults=true; otherwise both macros cost nothing and no label is in the
// binary. PAWL_FAULT=crash@accept.after_commit:3   SIGKILL itself at the 3rd pass of that label
// PAWL_FAULT=stop@claim.after_commit:1     SIGSTOP itself
// PAWL_FAULT=fail@record.before_commit:2   FAULT_FAILS(..) is true once, at the 2nd pass
// Several are separated by commas. A label that is not in fault.def is an error at start.
// PAWL_FAULT_LOG=FILE: one line with its label for each pass (appended), so that a test can prove
// every label was hit.
#pragma once
#include <stdbool.h>

enum fault_label {
#define FAULT(name, text) FAULT_##name,
#include "common/fault.def"
#undef FAULT
    FAULT_COUNT
};

#ifdef PAWL_FAULTS
bool fault_at(enum fault_label label); // true = the caller should fail here
void fault_init(void);                 // reads the environment; exits 78 on an unknown label
#define FAULT_STEP(name) ((void)fault_at(FAULT_##name))
#define FAULT_FAILS(name) fault_at(FAULT_##name)
#else
static inline void fault_init(void)
{
}
#define FAULT_STEP(name) ((void)0)
#define FAULT_FAILS(name) false
#endif
