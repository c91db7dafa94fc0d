// context.h: what a command works with: the host file, the database, the policy's neighbours.
#pragma once
#include "cli/command.h"
#include "common/config/host.h"
#include "common/config/policy.h"
#include "common/pg/pg.h"

struct context {
    struct host_config *host; // NULL when only --database was given
    const char *config;       // path of the host file, NULL without one
    char *found;              // memory of config when it was looked for
    const char *database;     // connection string without a role
};
void context_fini(struct context *context);
#define AUTO_CONTEXT __attribute__((cleanup(context_fini)))

// Loads the host file (flag, $PAWL_CONFIG, /etc/pawl/pawl.yaml, the one `pawl up` wrote).
// EXIT_DONE, or the exit code of a failure that has been told.
MUST_CHECK int context_load(const struct call *call, struct context *ret_context);
// As context_load, but EXIT_DONE with host NULL when no file is there.
MUST_CHECK int context_find(const struct call *call, struct context *ret_context);

// Prints findings on stderr (as JSON with --json) and returns EXIT_INVALID.
int context_findings(const struct call *call, const struct diag *diag, enum exit_code code);

// What the checker of policies asks: schemes, templates, horizons.
extern const struct policy_known policy_knowledge;
// And of files that are not stored yet: what their templates ask for, too.
extern const struct policy_known policy_knowledge_of_files;

// A connection as pawl_operator with these statements (borrowed), time limit 10 s a statement.
MUST_CHECK struct pg *context_connect(const struct context *context, const struct pg_stmt *stmts,
        size_t n_stmts, struct err *err);
const char *context_user(void); // who does it: the OS user's name; static memory
int64_t context_soon(void);     // the deadline of one flight from now on
void auto_pg_(struct pg **pg);
#define AUTO_PG __attribute__((cleanup(auto_pg_)))
