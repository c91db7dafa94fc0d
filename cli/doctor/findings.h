// findings.h: what the doctor found, and the visits that find it.
#pragma once
#include "cli/context.h"

enum finding_verdict { FINDING_OK, FINDING_NOTE, FINDING_WARN, FINDING_FAIL };

struct finding {
    enum finding_verdict verdict;
    const char *check; // static
    char *says;
    char *mend; // a command, "" when there is nothing to mend
};

struct findings {
    struct finding *rows;
    size_t n, fails;
};
void findings_fini(struct findings *findings);

struct visit {
    const struct context *context; // host may be NULL: only --database was given
    struct pg *pg;                 // as pawl_operator; NULL when there is no database
    struct policy *policy;         // the active one; NULL when there is none, or it can't be read
    int active;                    // its version; 0 = not known
    bool active_is_new;            // applied a moment ago: processes may not have read it yet
    struct findings findings;
};

// Adds a finding; the mend of the last one is set by mend(). Past a thousand they are dropped.
void found(struct visit *visit, enum finding_verdict verdict, const char *check, const char *fmt,
        ...) PRINTF_LIKE(4, 5);
void mend(struct visit *visit, const char *fmt, ...) PRINTF_LIKE(2, 3);
enum remedy { REMEDY_START, REMEDY_RESTART, REMEDY_RELOAD };
// mend() by what runs that unit here: systemd, or `pawl up`.
void mend_program(struct visit *visit, enum remedy remedy, const char *unit);
// mend() by psql with these arguments, as a superuser: below `pawl up` connected to its database.
void mend_sql(struct visit *visit, const char *fmt, ...) PRINTF_LIKE(2, 3);
// Adds "check: message", a failure.
void found_err(struct visit *visit, const char *check, const struct err *err);

// The visits, in the order they are made.
void visit_database(struct visit *visit); // connects
void visit_schema(struct visit *visit);
void visit_rights(struct visit *visit);
void visit_policy(struct visit *visit);    // loads the active one
void visit_processes(struct visit *visit); // by their admin listeners
void visit_credentials(struct visit *visit);
void visit_attachments(struct visit *visit);
void visit_channels(struct visit *visit); // after visit_credentials, which reads the passwords
void visit_vacuum(struct visit *visit);
void visit_work(struct visit *visit);
void visit_pauses(struct visit *visit);
