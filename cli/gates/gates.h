// gates.h: what a person holds back: `pawl pause`, `resume`, `pauses`, `suppress list|add|remove`.
#pragma once
#include "cli/command.h"
#include "common/text.h"

// Why an address is suppressed, by its stored number: "hard bounce".
const char *suppression_reason(int reason);

int pause_command(const struct call *call);
int resume_command(const struct call *call);
int pauses_command(const struct call *call);
int suppress_list(const struct call *call);
int suppress_add(const struct call *call);
int suppress_remove(const struct call *call);

// Appends what is paused, by pauses.kind and name, as `pawl resume` takes it.
void pause_word(int kind, struct slice name, struct text *out);
