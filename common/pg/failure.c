#include <stdio.h>

#include "common/pg/internal.h"

static void one_line(char *str)
{
    for (char *c = str; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = c[1] == '\0' ? '\0' : ' ';
}

void failure_note(struct pg *pg, const PGresult *result, const char *what, struct err *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (!state || !primary) {
        failure_connection(pg, what ? what : "run a statement", err);
        return;
    }
    snprintf(pg->sqlstate, sizeof pg->sqlstate, "%s", state);
    bool data = pg_failure_of(pg) == PGF_DATA;
    // Detail and context stay out: they quote values.
    err_set(err, data ? ERR_INPUT : ERR_TEMP, "%s%s%s (%s)", what ? what : "", what ? ": " : "",
            primary, state);
    one_line(err->msg);
}

void failure_connection(struct pg *pg, const char *what, struct err *err)
{
    char message[200];
    snprintf(message, sizeof message, "%s", PQerrorMessage(pg->conn));
    one_line(message);
    err_set(err, ERR_TEMP, "could not %s: %s", what,
            message[0] ? message : "the connection is lost");
}
