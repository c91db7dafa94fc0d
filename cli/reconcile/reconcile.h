// reconcile.h: `pawl reconcile`: asks the database whether what is promised holds.
//
// Each invariant is one read-only statement, so that it sees one moment, also while everything
// runs.
#pragma once
#include "cli/command.h"

int reconcile_command(const struct call *call);
