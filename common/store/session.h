// session.h: the short connection of one command to the policy store.
#pragma once
#include "common/pg/pg.h"

// NULL + err as pg_connect; close with pg_close().
struct pg *store_session(const char *conninfo, const char *role, const struct pg_stmt *stmts,
        size_t n_stmts, struct err *err);
int64_t store_soon(void); // the deadline of one flight from now on
