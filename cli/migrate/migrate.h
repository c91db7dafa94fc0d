// migrate.h: `pawl migrate`: brings the schema to what this binary needs, forward only, one
// transaction a file.
//
// Each file's ledger row (pawl.migrations) is written in its transaction. An applied file whose
// checksum differs is refused. The connection's own user must own the schema and may create roles;
// where the roles of the programs are there already, it need not.
#pragma once
#include "common/err.h"
#include "common/text.h"

enum { MIGRATE_DONE = 0, MIGRATE_PENDING = 1, MIGRATE_FAILED = -1 };

// Creates the missing roles, then applies what is pending; appends a line a file to out. Waits for
// another run (advisory lock) at most a minute. MIGRATE_DONE, or MIGRATE_FAILED + err naming the
// file.
MUST_CHECK int migrate_up(const char *conninfo, struct text *out, struct err *err);

// Appends a line a migration (or a JSON array): number, name, state, when, by which version.
// MIGRATE_DONE or MIGRATE_FAILED + err.
MUST_CHECK int migrate_list(const char *conninfo, bool json, struct text *out, struct err *err);

// MIGRATE_DONE when nothing is pending, MIGRATE_PENDING, or MIGRATE_FAILED + err (a changed
// checksum too).
MUST_CHECK int migrate_check(const char *conninfo, struct text *out, struct err *err);

// As migrate_check, logged in as role (NULL = the connection's own user).
MUST_CHECK int migrate_check_as(
        const char *conninfo, const char *role, struct text *out, struct err *err);

// Appends all that `up` would do on an empty database as a script for psql; needs no database. from
// and to are numbers of migrations, 0 = no bound.
void migrate_sql(int from, int to, struct text *out);
