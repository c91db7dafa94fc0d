// run.h: `pawl receiver` and `pawl dispatcher`: the programs themselves.
#pragma once
#include "cli/command.h"

int run_receiver(const struct call *call);
int run_dispatcher(const struct call *call);
