#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/pg/internal.h"

#define ROLLBACK_TIMEOUT_MS 1000
#define PARAMS_MAX 256 // of one statement

bool socket_wait(int fd, short events, int64_t deadline_ms)
{
    for (;;) {
        int64_t left_ms = deadline_ms - clock_mono_ms();
        if (left_ms <= 0)
            return false;
        struct pollfd ready = {.fd = fd, .events = events};
        int n = poll(&ready, 1, left_ms < 60000 ? (int)left_ms : 60000);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return true; // the next read on the socket tells what is wrong
    }
}

// --- Sending

static const char *call_name(const struct pg *pg, const struct pg_call *call)
{
    if (call->kind == CALL_SQL)
        return call->sql;
    return pg->stmts[call->stmt].name;
}

static bool send_params(struct pg *pg, const struct pg_call *call)
{
    const struct flight *flight = &pg->flight;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
    assert(call->n_params <= PARAMS_MAX);
    for (size_t i = 0; i < call->n_params; i++) {
        const struct pg_param *param = &flight->params[call->first_param + i];
        const char *bytes = flight->bytes.ptr ? flight->bytes.ptr + param->offset : "";
        values[i] = param->len < 0 ? NULL : bytes;
        lengths[i] = param->len < 0 ? 0 : param->len;
        formats[i] = 1;
    }
    int n = (int)call->n_params;
    if (call->kind == CALL_SQL)
        return PQsendQueryParams(pg->conn, call->sql, n, NULL, values, lengths, formats, 1) == 1;
    char name[16];
    snprintf(name, sizeof name, "s%d", call->stmt);
    return PQsendQueryPrepared(pg->conn, name, n, values, lengths, formats, 1) == 1;
}

static bool send_call(struct pg *pg, const struct pg_call *call)
{
    if (call->kind != CALL_PREPARE)
        return send_params(pg, call);
    char name[16];
    snprintf(name, sizeof name, "s%d", call->stmt);
    return PQsendPrepare(pg->conn, name, call->sql, 0, NULL) == 1;
}

// The flight ends here; with a COMMIT in it anything but its confirmation is a failure.
static enum pg_progress land(struct pg *pg, struct err *err)
{
    struct flight *flight = &pg->flight;
    flight->phase = FLIGHT_LANDED;
    bool tag_ok = flight->commit_tag_ok && !pg->dead;
    flight->committed = tag_ok && flight->warning[0] == '\0';
    flight->commit_unknown = flight->commit_sent && !flight->commit_refused && !flight->committed;
    if (flight->commit_call >= 0 && !flight->committed && !flight->failed) {
        flight->failed = true;
        if (flight->warning[0] != '\0')
            err_set(&flight->failure, ERR_TEMP, "commit is not confirmed: %s", flight->warning);
        else
            err_set(&flight->failure, ERR_TEMP, "commit was answered with a rollback");
    }
    if (flight->failed && err)
        *err = flight->failure;
    return flight->failed ? PG_FAILED : PG_DONE;
}

static enum pg_progress broken(struct pg *pg, const char *what, struct err *err)
{
    pg->dead = true;
    if (!pg->flight.failed)
        failure_connection(pg, what, &pg->flight.failure);
    pg->flight.failed = true;
    return land(pg, err);
}

static bool flush(struct pg *pg)
{
    int left = PQflush(pg->conn);
    pg->want_write = left == 1;
    return left >= 0;
}

bool pg_launch(struct pg *pg, struct err *err)
{
    struct flight *flight = &pg->flight;
    assert(flight->phase == FLIGHT_BUILDING && flight->n_calls > 0);
    flight_close_array(flight);
    pg->sqlstate[0] = '\0';
    if (flight->bytes.overflow) {
        flight->failed = true;
        err_set(&flight->failure, ERR_INPUT, "parameters of one flight are larger than %zu bytes",
                flight->bytes.max);
        flight->commit_refused = true;
        land(pg, err);
        return false;
    }
    if (pg->dead || PQstatus(pg->conn) != CONNECTION_OK) {
        broken(pg, "send to the database", err);
        return false;
    }
    for (size_t i = 0; i < flight->n_calls; i++) {
        flight->commit_sent = flight->commit_sent || flight->commit_call == (int)i;
        if (!send_call(pg, &flight->calls[i]))
            return broken(pg, "send to the database", err) == PG_DONE;
    }
    if (PQpipelineSync(pg->conn) != 1 || !flush(pg))
        return broken(pg, "send to the database", err) == PG_DONE;
    flight->phase = FLIGHT_FLYING;
    return true;
}

// --- Receiving

static void note_failure(struct pg *pg, const PGresult *result)
{
    struct flight *flight = &pg->flight;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    bool at_commit = (int)flight->at == flight->commit_call;
    bool before_commit = (int)flight->at < flight->commit_call;
    // Said by the server: an ERROR refuses the COMMIT or makes the server skip it; a FATAL before
    // the COMMIT's turn ends the session before it. A FATAL during the COMMIT says nothing.
    if (severity && (before_commit || (at_commit && strcmp(severity, "ERROR") == 0)))
        flight->commit_refused = true;
    if (flight->failed)
        return;
    flight->failed = true;
    const char *what = "end of the flight";
    if (flight->at < flight->n_calls)
        what = call_name(pg, &flight->calls[flight->at]);
    failure_note(pg, result, what, &flight->failure);
}

static void keep_result(struct pg *pg, PGresult *result)
{
    struct flight *flight = &pg->flight;
    if (flight->at >= flight->n_calls) {
        PQclear(result);
        return;
    }
    if ((int)flight->at == flight->commit_call) {
        flight->commit_tag_ok = strcmp(PQcmdStatus(result), "COMMIT") == 0;
        flight->commit_refused = !flight->commit_tag_ok;
    }
    PQclear(flight->calls[flight->at].result);
    flight->calls[flight->at].result = result;
}

// Takes one result; true when it was the flight's end.
static bool take(struct pg *pg, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        keep_result(pg, result);
        return false;
    }
    if (status != PGRES_PIPELINE_SYNC && status != PGRES_PIPELINE_ABORTED)
        note_failure(pg, result);
    PQclear(result);
    return status == PGRES_PIPELINE_SYNC;
}

// Takes the results that have arrived; true when the flight has ended.
static bool take_arrived(struct pg *pg)
{
    struct flight *flight = &pg->flight;
    while (!PQisBusy(pg->conn) && flight->at <= flight->n_calls + 1) {
        PGresult *result = PQgetResult(pg->conn);
        if (!result)
            flight->at++; // libpq's mark between two statements
        else if (take(pg, result))
            return true;
        else if (PQstatus(pg->conn) == CONNECTION_BAD)
            return false;
    }
    return false;
}

enum pg_progress pg_step(struct pg *pg, struct err *err)
{
    struct flight *flight = &pg->flight;
    assert(flight->phase != FLIGHT_BUILDING);
    if (flight->phase == FLIGHT_LANDED)
        return land(pg, err);
    // What the server said before it hung up is still taken.
    bool connected = PQconsumeInput(pg->conn) == 1 && flush(pg);
    bool ended = take_arrived(pg);
    if (ended && connected)
        return land(pg, err);
    if (!connected || PQstatus(pg->conn) == CONNECTION_BAD)
        return broken(pg, "read from the database", err);
    if (flight->at > flight->n_calls + 1)
        return broken(pg, "follow the database's answers", err);
    return PG_WAIT;
}

bool flight_wait(struct pg *pg, int64_t deadline_ms, struct err *err)
{
    for (;;) {
        enum pg_progress progress = pg_step(pg, err);
        if (progress != PG_WAIT)
            return progress == PG_DONE;
        if (socket_wait(pg_fd(pg), pg_events(pg), deadline_ms))
            continue;
        pg->dead = true;
        if (!pg->flight.failed)
            err_set(&pg->flight.failure, ERR_TEMP, "the database did not answer in time");
        pg->flight.failed = true;
        return land(pg, err) == PG_DONE;
    }
}

bool pg_fly(struct pg *pg, int64_t deadline_ms, struct err *err)
{
    return pg_launch(pg, err) && flight_wait(pg, deadline_ms, err);
}

int pg_fd(const struct pg *pg)
{
    return PQsocket(pg->conn);
}

short pg_events(const struct pg *pg)
{
    return pg->want_write ? POLLIN | POLLOUT : POLLIN;
}

// --- How it went

bool pg_committed(const struct pg *pg)
{
    return pg->flight.committed;
}

bool pg_commit_unknown(const struct pg *pg)
{
    return pg->flight.commit_unknown;
}

bool pg_too_large(const struct pg *pg)
{
    return pg->flight.bytes.overflow;
}

bool pg_rollback(struct pg *pg)
{
    int64_t deadline_ms = clock_mono_ms() + ROLLBACK_TIMEOUT_MS;
    char sqlstate[SQLSTATE_SIZE];
    memcpy(sqlstate, pg->sqlstate, sizeof sqlstate);
    if (pg->flight.phase == FLIGHT_FLYING)
        (void)!flight_wait(pg, deadline_ms, NULL);
    if (!pg_alive(pg))
        return false;
    // What was added but never launched belongs to the transaction that ends here.
    if (pg->flight.phase == FLIGHT_BUILDING) {
        flight_fini(&pg->flight);
        flight_init(&pg->flight);
    }
    PGTransactionStatusType status = PQtransactionStatus(pg->conn);
    if (status == PQTRANS_IDLE)
        return true;
    // A flight of its own, so that the results of the failed one stay readable.
    struct flight kept = pg->flight;
    flight_init(&pg->flight);
    flight_add(pg, CALL_SQL, -1, "ROLLBACK");
    bool done = pg_fly(pg, deadline_ms, NULL);
    flight_fini(&pg->flight);
    pg->flight = kept;
    memcpy(pg->sqlstate, sqlstate, sizeof sqlstate);
    return done && pg_alive(pg);
}

bool pg_alive(const struct pg *pg)
{
    return pg && !pg->dead && PQstatus(pg->conn) == CONNECTION_OK;
}

const char *pg_sqlstate(const struct pg *pg)
{
    return pg->sqlstate;
}

enum pg_failure pg_failure_of(const struct pg *pg)
{
    const char *state = pg->sqlstate;
    if (strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0)
        return PGF_DATA;
    if (strcmp(state, "40P01") == 0 || strcmp(state, "40001") == 0)
        return PGF_AGAIN;
    return PGF_OTHER;
}
