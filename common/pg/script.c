#include <poll.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/pg/internal.h"

// The line of sql in which the server found its error; 0 when it did not say.
static int line_of(const PGresult *result, const char *sql)
{
    const char *position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);
    long left = position ? strtol(position, NULL, 10) : 0;
    if (left <= 0)
        return 0;
    int line = 1;
    for (const char *c = sql; *c && left > 1; c++) {
        line += *c == '\n';
        left -= ((unsigned char)*c & 0xC0) != 0x80; // the position counts characters
    }
    return line;
}

static bool take_script_result(
        struct pg *pg, PGresult *result, const char *sql, bool ok, struct err *err)
{
    ExecStatusType status = PQresultStatus(result);
    bool good =
            status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
    if (!good && ok) {
        char what[32];
        snprintf(what, sizeof what, "line %d", line_of(result, sql));
        failure_note(pg, result, line_of(result, sql) > 0 ? what : NULL, err);
    }
    PQclear(result);
    return ok && good;
}

static bool run(struct pg *pg, const char *sql, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + pg->script_timeout_ms;
    bool ok = true;
    for (;;) {
        bool connected = PQconsumeInput(pg->conn) == 1;
        int unsent = PQflush(pg->conn);
        if (!connected || unsent < 0) {
            pg->dead = true;
            failure_connection(pg, "run a script", err);
            return false;
        }
        while (!PQisBusy(pg->conn)) {
            PGresult *result = PQgetResult(pg->conn);
            if (!result)
                return ok;
            ok = take_script_result(pg, result, sql, ok, err);
        }
        if (!socket_wait(PQsocket(pg->conn), unsent ? POLLIN | POLLOUT : POLLIN, deadline_ms)) {
            pg->dead = true;
            return err_set(err, ERR_TEMP, "the database did not answer in time");
        }
    }
}

bool pg_script(struct pg *pg, const char *sql, struct err *err)
{
    pg->sqlstate[0] = '\0';
    if (!pg_alive(pg))
        return err_set(err, ERR_TEMP, "the connection to the database is lost");
    if (PQexitPipelineMode(pg->conn) != 1 || PQsendQuery(pg->conn, sql) != 1) {
        failure_connection(pg, "run a script", err);
        return false;
    }
    bool ok = run(pg, sql, err);
    if (pg->dead)
        return false;
    if (PQenterPipelineMode(pg->conn) != 1) {
        pg->dead = true;
        return err_set(err, ERR_TEMP, "could not go back to pipeline mode");
    }
    return ok;
}
