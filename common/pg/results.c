#include <assert.h>

#include "common/pg/internal.h"

static const PGresult *result_of(const struct pg *pg, int call)
{
    assert(call >= 0 && (size_t)call < pg->flight.n_calls);
    return pg->flight.calls[call].result;
}

int pg_rows(const struct pg *pg, int call)
{
    return PQntuples(result_of(pg, call)); // 0 for NULL
}

int pg_affected(const struct pg *pg, int call)
{
    assert(call >= 0 && (size_t)call < pg->flight.n_calls);
    PGresult *result = pg->flight.calls[call].result;
    return result ? (int)strtol(PQcmdTuples(result), NULL, 10) : 0;
}

static struct slice field(const struct pg *pg, int call, int row, int col)
{
    const PGresult *result = result_of(pg, call);
    assert(row >= 0 && row < PQntuples(result) && col >= 0 && col < PQnfields(result));
    if (PQgetisnull(result, row, col))
        return (struct slice){NULL, 0};
    return (struct slice){(const unsigned char *)PQgetvalue(result, row, col),
            (size_t)PQgetlength(result, row, col)};
}

bool pg_null(const struct pg *pg, int call, int row, int col)
{
    return field(pg, call, row, col).ptr == NULL;
}

int64_t pg_big(const struct pg *pg, int call, int row, int col)
{
    return wire_int(field(pg, call, row, col));
}

int32_t pg_int(const struct pg *pg, int call, int row, int col)
{
    return (int32_t)pg_big(pg, call, row, col);
}

bool pg_bool(const struct pg *pg, int call, int row, int col)
{
    struct slice value = field(pg, call, row, col);
    return value.len == 1 && value.ptr[0] != 0;
}

double pg_double(const struct pg *pg, int call, int row, int col)
{
    int64_t bits = pg_big(pg, call, row, col);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

int64_t pg_time_us(const struct pg *pg, int call, int row, int col)
{
    // A timestamptz is sent as microseconds since 2000 (PostgreSQL's datatype/timestamp.h).
    static const int64_t EPOCH_US = INT64_C(946684800) * 1000000;
    return pg_null(pg, call, row, col) ? 0 : pg_big(pg, call, row, col) + EPOCH_US;
}

struct slice pg_bytes(const struct pg *pg, int call, int row, int col)
{
    return field(pg, call, row, col);
}

struct key pg_uuid(const struct pg *pg, int call, int row, int col)
{
    struct slice value = field(pg, call, row, col);
    struct key key = {{0}};
    if (value.len == sizeof key.bytes)
        memcpy(key.bytes, value.ptr, sizeof key.bytes);
    return key;
}

size_t pg_array_len(const struct pg *pg, int call, int row, int col)
{
    return wire_count(field(pg, call, row, col));
}

struct slice pg_array_bytes(const struct pg *pg, int call, int row, int col, size_t i)
{
    return wire_at(field(pg, call, row, col), i, pg->cursor);
}

int64_t pg_array_big(const struct pg *pg, int call, int row, int col, size_t i)
{
    return wire_int(pg_array_bytes(pg, call, row, col, i));
}
