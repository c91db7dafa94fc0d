#include <assert.h>

#include "common/pg/internal.h"

static size_t bytes_max(void)
{
#ifdef PAWL_FAULTS
    const char *less = getenv("PAWL_TEST_FLIGHT_MAX");
    if (less && *less)
        return strtoul(less, NULL, 10);
#endif
    return FLIGHT_BYTES_MAX;
}

void flight_init(struct flight *flight)
{
    *flight = (struct flight){.commit_call = -1};
    text_init(&flight->bytes, bytes_max());
}

static void results_clear(struct flight *flight)
{
    for (size_t i = 0; i < flight->n_calls; i++)
        PQclear(flight->calls[i].result);
    flight->n_calls = 0;
}

void flight_fini(struct flight *flight)
{
    results_clear(flight);
    free(flight->calls);
    free(flight->params);
    text_fini(&flight->bytes);
    *flight = (struct flight){.commit_call = -1};
}

// Starts a new flight in the memory of the last one, unless that was unusually large.
static void flight_reset(struct flight *flight)
{
    enum { KEEP_BYTES = 4 << 20 };
    results_clear(flight);
    if (flight->bytes.room > KEEP_BYTES) {
        text_fini(&flight->bytes);
        text_init(&flight->bytes, bytes_max());
    }
    text_reset(&flight->bytes);
    struct flight kept = *flight;
    *flight = (struct flight){.commit_call = -1,
            .calls = kept.calls,
            .calls_room = kept.calls_room,
            .params = kept.params,
            .params_room = kept.params_room,
            .bytes = kept.bytes};
}

void flight_close_array(struct flight *flight)
{
    if (!flight->in_array)
        return;
    wire_end(&flight->array, &flight->bytes);
    struct pg_param *param = &flight->params[flight->n_params - 1];
    param->len = (int)(flight->bytes.len - param->offset);
    flight->in_array = false;
}

void flight_add(struct pg *pg, enum call_kind kind, int stmt, const char *sql)
{
    struct flight *flight = &pg->flight;
    assert(flight->phase != FLIGHT_FLYING);
    if (flight->phase == FLIGHT_LANDED)
        flight_reset(flight);
    flight_close_array(flight);
    if (flight->n_calls == flight->calls_room) {
        flight->calls_room = flight->calls_room ? flight->calls_room * 2 : 16;
        flight->calls = xrealloc(flight->calls, flight->calls_room * sizeof *flight->calls);
    }
    flight->calls[flight->n_calls++] = (struct pg_call){
            .kind = kind, .stmt = stmt, .sql = sql, .first_param = flight->n_params};
}

void pg_add(struct pg *pg, int stmt)
{
    assert(stmt >= 0 && (size_t)stmt < pg->n_stmts);
    flight_add(pg, CALL_STMT, stmt, NULL);
}

void pg_add_begin(struct pg *pg)
{
    flight_add(pg, CALL_SQL, -1, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
}

void pg_add_commit(struct pg *pg)
{
    flight_add(pg, CALL_SQL, -1, "COMMIT");
    pg->flight.commit_call = (int)pg->flight.n_calls - 1;
}

// Starts the next parameter of the statement added last; len -1 = NULL.
static struct flight *param(struct pg *pg, int len)
{
    struct flight *flight = &pg->flight;
    assert(flight->phase == FLIGHT_BUILDING && flight->n_calls > 0);
    flight_close_array(flight);
    if (flight->n_params == flight->params_room) {
        flight->params_room = flight->params_room ? flight->params_room * 2 : 64;
        flight->params = xrealloc(flight->params, flight->params_room * sizeof *flight->params);
    }
    flight->params[flight->n_params++] = (struct pg_param){flight->bytes.len, len};
    flight->calls[flight->n_calls - 1].n_params++;
    return flight;
}

static void param_bytes(struct pg *pg, const void *ptr, size_t len)
{
    int fits = len <= FLIGHT_BYTES_MAX ? (int)len : 0;
    struct flight *flight = param(pg, fits);
    if (len > 0)
        text_add(&flight->bytes, (struct slice){ptr, len});
}

void pg_p_int(struct pg *pg, int32_t v)
{
    unsigned char bytes[4];
    wire_put32(bytes, (uint32_t)v);
    param_bytes(pg, bytes, sizeof bytes);
}

void pg_p_big(struct pg *pg, int64_t v)
{
    unsigned char bytes[8];
    wire_put64(bytes, (uint64_t)v);
    param_bytes(pg, bytes, sizeof bytes);
}

void pg_p_bool(struct pg *pg, bool v)
{
    unsigned char byte = v;
    param_bytes(pg, &byte, 1);
}

static uint64_t double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void pg_p_double(struct pg *pg, double v)
{
    pg_p_big(pg, (int64_t)double_bits(v));
}

void pg_p_text(struct pg *pg, struct slice v)
{
    if (v.ptr)
        param_bytes(pg, v.ptr, v.len);
    else
        pg_p_null(pg);
}

void pg_p_bytea(struct pg *pg, struct slice v)
{
    pg_p_text(pg, v);
}

void pg_p_uuid(struct pg *pg, struct key v)
{
    param_bytes(pg, v.bytes, sizeof v.bytes);
}

void pg_p_null(struct pg *pg)
{
    param(pg, -1);
}

static void array_begin(struct pg *pg, enum wire_oid oid)
{
    struct flight *flight = param(pg, 0);
    wire_begin(&flight->array, oid, &flight->bytes);
    flight->in_array = true;
}

void pg_p_ints(struct pg *pg)
{
    array_begin(pg, WIRE_INT4);
}

void pg_p_bigs(struct pg *pg)
{
    array_begin(pg, WIRE_INT8);
}

void pg_p_texts(struct pg *pg)
{
    array_begin(pg, WIRE_TEXT);
}

void pg_p_byteas(struct pg *pg)
{
    array_begin(pg, WIRE_BYTEA);
}

void pg_p_uuids(struct pg *pg)
{
    array_begin(pg, WIRE_UUID);
}

void pg_p_bools(struct pg *pg)
{
    array_begin(pg, WIRE_BOOL);
}

void pg_p_doubles(struct pg *pg)
{
    array_begin(pg, WIRE_FLOAT8);
}

static void element(struct pg *pg, enum wire_oid oid, struct slice bytes)
{
    assert(pg->flight.in_array && pg->flight.array.oid == oid);
    wire_element(&pg->flight.array, bytes, &pg->flight.bytes);
}

void pg_e_int(struct pg *pg, int32_t v)
{
    unsigned char bytes[4];
    wire_put32(bytes, (uint32_t)v);
    element(pg, WIRE_INT4, (struct slice){bytes, sizeof bytes});
}

void pg_e_big(struct pg *pg, int64_t v)
{
    unsigned char bytes[8];
    wire_put64(bytes, (uint64_t)v);
    element(pg, WIRE_INT8, (struct slice){bytes, sizeof bytes});
}

void pg_e_bool(struct pg *pg, bool v)
{
    unsigned char byte = v;
    element(pg, WIRE_BOOL, (struct slice){&byte, 1});
}

void pg_e_double(struct pg *pg, double v)
{
    unsigned char bytes[8];
    wire_put64(bytes, double_bits(v));
    element(pg, WIRE_FLOAT8, (struct slice){bytes, sizeof bytes});
}

void pg_e_bytes(struct pg *pg, struct slice v)
{
    enum wire_oid oid = pg->flight.array.oid;
    assert(oid == WIRE_TEXT || oid == WIRE_BYTEA);
    if (v.ptr)
        element(pg, oid, v);
    else
        pg_e_null(pg);
}

void pg_e_said(struct pg *pg, const char *text)
{
    char clean[256];
    size_t n = 0;
    for (; text && text[n] && n < sizeof clean; n++)
        clean[n] = (char)(text[n] >= 0x20 && text[n] < 0x7f ? text[n] : '?');
    if (n == 0)
        pg_e_null(pg);
    else
        pg_e_bytes(pg, (struct slice){(const unsigned char *)clean, n});
}

void pg_e_uuid(struct pg *pg, struct key v)
{
    element(pg, WIRE_UUID, (struct slice){v.bytes, sizeof v.bytes});
}

void pg_e_null(struct pg *pg)
{
    assert(pg->flight.in_array);
    wire_null(&pg->flight.array, &pg->flight.bytes);
}
