// pg.h: one PostgreSQL connection with every statement prepared, driven in flights: several
// statements, one round trip.
//
// A flight is a group of prepared statements sent together in libpq's pipeline mode and ended by
// one Sync. Inside an explicit BEGIN .. COMMIT a Sync does not end the transaction, so a
// transaction is a few flights. Two ways to run one:
//   blocking:  pg_add(..); pg_add(..); if (!pg_fly(pg, deadline, &err)) ..;  pg_int(pg, 1, row, 0)
//   async:     pg_add(..); if (!pg_launch(pg, &err)) ..;  poll pg_fd() for pg_events(); pg_step(pg,
//   &err)
// After any failure inside a transaction call pg_rollback() (or close): results of the flight stay
// readable until the next pg_add(). Not thread-safe: one thread a connection. Parameters and
// results are binary.
#pragma once
#include "common/err.h"
#include "common/keys.h"

struct pg;

// One statement of the program; `$1::type` casts give the parameter types. All are prepared at
// connect.
struct pg_stmt {
    const char *name;
    const char *sql;
};

struct pg_options {
    const char *conninfo; // libpq; user= is added by pg_connect
    const char *role; // login role, overrides what conninfo says; NULL = conninfo's own (migrate)
    const char *application;
    const struct pg_stmt *stmts; // strings borrowed for the connection's life
    size_t n_stmts;
    int connect_timeout_ms, statement_timeout_ms; // statement timeout is set at the server too
    bool demand_durable; // receivers: refuse fsync, full_page_writes or synchronous_commit off
};

// Connects (bounded by connect_timeout_ms, several hosts tried), sets search_path pawl, jit off,
// enable_seqscan off (plans made while a ring slot is empty must not stay), time zone UTC, prepares
// all statements. NULL + err: ERR_TEMP when the server can't be reached, ERR_FATAL when the schema
// does not fit the binary or settings are refused.
MUST_CHECK struct pg *pg_connect(const struct pg_options *options, struct err *err);
void pg_close(struct pg *pg); // NULL is fine; never waits

// Prepares further statements; their numbers follow those that are there. The strings are
// borrowed for the connection's life, the rows are not. Fails as pg_connect does.
MUST_CHECK bool pg_prepare(
        struct pg *pg, const struct pg_stmt *stmts, size_t n, int64_t deadline_ms, struct err *err);
size_t pg_stmt_count(const struct pg *pg); // prepared so far: the next one\'s number

// --- Parameters. Each pg_add starts the next statement of the flight; then one pg_p_* a parameter,
// in order.
void pg_add(struct pg *pg, int stmt);
void pg_p_int(struct pg *pg, int32_t v);
void pg_p_big(struct pg *pg, int64_t v);
void pg_p_bool(struct pg *pg, bool v);
void pg_p_double(struct pg *pg, double v);
void pg_p_text(struct pg *pg, struct slice v);  // ptr NULL = SQL NULL
void pg_p_bytea(struct pg *pg, struct slice v); // ptr NULL = SQL NULL
void pg_p_uuid(struct pg *pg, struct key v);
void pg_p_null(struct pg *pg);
// Arrays are built element by element between begin and end. A null element is pg_e_null().
void pg_p_ints(struct pg *pg), pg_p_bigs(struct pg *pg), pg_p_texts(struct pg *pg),
        pg_p_byteas(struct pg *pg), pg_p_uuids(struct pg *pg), pg_p_bools(struct pg *pg),
        pg_p_doubles(struct pg *pg);
void pg_e_int(struct pg *pg, int32_t v);
void pg_e_big(struct pg *pg, int64_t v);
void pg_e_bool(struct pg *pg, bool v);
void pg_e_double(struct pg *pg, double v);
void pg_e_bytes(struct pg *pg, struct slice v); // text or bytea element; ptr NULL = NULL element
// A text element of what a stranger said, cut at any byte and in any encoding: at most 256 bytes,
// '?' for what is not printable ASCII; NULL and "" = NULL element.
void pg_e_said(struct pg *pg, const char *text);
void pg_e_uuid(struct pg *pg, struct key v);
void pg_e_null(struct pg *pg);

// BEGIN, COMMIT and ROLLBACK as members of a flight (READ COMMITTED always).
void pg_add_begin(struct pg *pg);
void pg_add_commit(struct pg *pg);

// --- Running.
// Sends the flight and waits for all its results at most until deadline_ms (clock_mono_ms). False +
// err: pg_sqlstate() says which; on a timeout or a broken connection pg_alive() is false and the
// connection can only be closed.
MUST_CHECK bool pg_fly(struct pg *pg, int64_t deadline_ms, struct err *err);

MUST_CHECK bool pg_launch(struct pg *pg, struct err *err); // sends what it can, returns at once
enum pg_progress { PG_WAIT, PG_DONE, PG_FAILED };
enum pg_progress pg_step(
        struct pg *pg, struct err *err); // after the fd was ready (or to see); never blocks
int pg_fd(const struct pg *pg);
short pg_events(const struct pg *pg); // POLLIN, and POLLOUT while bytes wait to be sent

// True only if the flight's COMMIT came back with the tag COMMIT, without any WARNING during it (a
// cancelled wait for the synchronous standby is a warning, and not committed to us), and
// ReadyForQuery was seen.
bool pg_committed(const struct pg *pg);

// True when a COMMIT was sent and its answer was lost, or came with a WARNING: it may or may not
// have happened, or not last. A flight whose COMMIT is not confirmed has failed.
bool pg_commit_unknown(const struct pg *pg);

// True when the last flight was not sent, since its parameters are more than one flight may carry.
bool pg_too_large(const struct pg *pg);

bool pg_rollback(struct pg *pg); // blocking, bounded by 1 s; false = connection is gone
bool pg_alive(const struct pg *pg);
const char *pg_sqlstate(
        const struct pg *pg); // of the last failure, "" when it was not the server's

// SQLSTATE classes that decide what a caller does with its batch.
enum pg_failure { PGF_DATA /* 22, 23 */, PGF_AGAIN /* 40P01, 40001 */, PGF_OTHER };
enum pg_failure pg_failure_of(const struct pg *pg);

// --- Results of the last flight: call = 0-based index of pg_add* within it.
int pg_rows(const struct pg *pg, int call);
int pg_affected(const struct pg *pg, int call);
bool pg_null(const struct pg *pg, int call, int row, int col);
int32_t pg_int(const struct pg *pg, int call, int row, int col);
int64_t pg_big(const struct pg *pg, int call, int row, int col);
// A timestamptz, in microseconds since the Unix epoch; 0 for NULL.
int64_t pg_time_us(const struct pg *pg, int call, int row, int col);
bool pg_bool(const struct pg *pg, int call, int row, int col);
double pg_double(const struct pg *pg, int call, int row, int col);
struct slice pg_bytes(const struct pg *pg, int call, int row,
        int col); // text or bytea, borrowed until the next pg_add
struct key pg_uuid(const struct pg *pg, int call, int row, int col);
// Elements of an int4[] or int8[] result (NULL array = 0 elements).
size_t pg_array_len(const struct pg *pg, int call, int row, int col);
int64_t pg_array_big(const struct pg *pg, int call, int row, int col, size_t i);
struct slice pg_array_bytes(const struct pg *pg, int call, int row, int col, size_t i);

// Runs SQL text that is not a prepared statement: migrations and `pawl up` only. Blocking; several
// statements allowed.
MUST_CHECK bool pg_script(struct pg *pg, const char *sql, struct err *err);
