// plan.h: compares the ledger with the migrations that are compiled in; pure, for migrate.c and its
// test.
#pragma once
#include "common/err.h"
#include "migrations/migration.h"

// One row of pawl.migrations.
struct ledger_row {
    int number;
    struct slice name, sha256;
};

// Migrations that were applied come first, without a gap: returns how many of `all` are applied, or
// -1 + err (ERR_CONFLICT) when a checksum or name differs or a file was left out. Rows beyond `all`
// are those of a newer version: they are counted in *ret_newer and are no error.
MUST_CHECK int plan_applied(const struct migration *all, size_t n_all,
        const struct ledger_row *rows, size_t n_rows, size_t *ret_newer, struct err *err);
