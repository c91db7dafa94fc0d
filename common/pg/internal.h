// internal.h: what the files of common/pg share: the connection and the flight that is built or in
// the air.
#pragma once
#include "common/pg/pg.h"
#include "common/pg/wire.h"

#include <libpq-fe.h>

#define FLIGHT_BYTES_MAX ((size_t)128 << 20) // parameters of one flight
#define SQLSTATE_SIZE 6

enum call_kind { CALL_STMT, CALL_SQL, CALL_PREPARE };

// One statement of a flight, and later its result.
struct pg_call {
    enum call_kind kind;
    int stmt;
    const char *sql; // CALL_SQL, CALL_PREPARE; borrowed
    size_t first_param, n_params;
    PGresult *result;
};

struct pg_param {
    size_t offset; // into flight.bytes
    int len;       // -1 = NULL
};

enum flight_phase { FLIGHT_BUILDING, FLIGHT_FLYING, FLIGHT_LANDED };

struct flight {
    enum flight_phase phase;
    struct pg_call *calls;
    size_t n_calls, calls_room;
    struct pg_param *params;
    size_t n_params, params_room;
    struct text bytes; // all parameters, one after the other
    struct wire_array array;
    bool in_array;
    size_t at;       // the call whose results come next
    int commit_call; // -1 = none
    bool commit_sent, commit_refused, commit_tag_ok, committed, commit_unknown;
    bool failed;
    char warning[160]; // the first WARNING during the flight
    struct err failure;
};

struct pg {
    PGconn *conn;
    struct pg_stmt *stmts; // by statement number; their strings are borrowed
    size_t n_stmts;
    struct flight flight;
    struct wire_cursor *cursor;
    int script_timeout_ms;
    bool dead;       // can only be closed
    bool want_write; // bytes wait in libpq's buffer
    char sqlstate[SQLSTATE_SIZE];
};

// Asks the server to end what it does for this connection; returns at once.
void cancel_in_background(PGconn *conn);

void flight_init(struct flight *flight);
void flight_fini(struct flight *flight);
void flight_add(struct pg *pg, enum call_kind kind, int stmt, const char *sql);
void flight_close_array(struct flight *flight);

// Waits for the flight in the air until deadline_ms.
bool flight_wait(struct pg *pg, int64_t deadline_ms, struct err *err);
// Waits until the socket is ready or the deadline has come; false = it has.
bool socket_wait(int fd, short events, int64_t deadline_ms);

// Fills err and pg->sqlstate from a failed result; what names the statement, NULL = nothing does.
void failure_note(struct pg *pg, const PGresult *result, const char *what, struct err *err);
// libpq's own message as one line: lower-case context first, no line ends.
void failure_connection(struct pg *pg, const char *what, struct err *err);
