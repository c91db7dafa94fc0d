// What PostgreSQL alone can do: the receiver's statements from bare libpq loops, pipelined the same
// way, every parameter made beforehand, nothing received, verified or judged. Prints one JSON line.
#include "common/clock.h"
#include "common/pg/pg_sql.h"
#include "receiver/accept/accept_sql.h"
#include "tests/bench/receive/parcels.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS_MAX 16
#define PARAMS_MAX 32

struct bare {
    const struct parcels *parcels;
    const char *conninfo;
    int64_t stop_us;
    pthread_barrier_t start;
    atomic_size_t next;
    atomic_long events,
            wrong;    // wrong: orders that the guarded UPDATE did not find as they should be
    int32_t *took_us; // of each parcel, 0 = not run
    _Atomic int64_t last_us;
};

static void die(PGconn *conn, const char *what)
{
    fprintf(stderr, "bare: %s: %s\n", what, PQerrorMessage(conn));
    exit(1);
}

static PGconn *connect_now(const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    const char *timeout[] = {"2500"};
    if (PQstatus(conn) != CONNECTION_OK)
        die(conn, "could not connect");
    PQclear(PQexecParams(conn, pg_statements[PG_SETUP].sql, 1, NULL, timeout, NULL, NULL, 0));
    for (int i = 0; i < ACCEPT_COUNT; i++) {
        PGresult *done =
                PQprepare(conn, accept_statements[i].name, accept_statements[i].sql, 0, NULL);
        if (PQresultStatus(done) != PGRES_COMMAND_OK)
            die(conn, accept_statements[i].name);
        PQclear(done);
    }
    if (PQenterPipelineMode(conn) != 1)
        die(conn, "no pipeline mode");
    return conn;
}

static int send_call(PGconn *conn, const struct parcels *parcels, const struct parcel_call *call)
{
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
    if (call->stmt < 0)
        return PQsendQueryParams(
                conn, call->stmt == CALL_BEGIN ? "BEGIN" : "COMMIT", 0, NULL, NULL, NULL, NULL, 1);
    for (int i = 0; i < call->n_params; i++) {
        const struct parcel_param *param = &parcels->params[call->param + (size_t)i];
        values[i] = parcels->bytes.ptr + param->offset;
        lengths[i] = param->len;
        formats[i] = 1;
    }
    return PQsendQueryPrepared(
            conn, accept_statements[call->stmt].name, call->n_params, values, lengths, formats, 1);
}

// Takes the results up to the flight's end; the rows of the UPDATE are counted.
static int take(PGconn *conn, size_t n_calls, size_t update)
{
    int updated = 0;
    for (size_t i = 0; i <= n_calls; i++) {
        PGresult *result = PQgetResult(conn);
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return updated;
        }
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            die(conn, "a statement failed");
        if (i == update)
            updated = (int)strtol(PQcmdTuples(result), NULL, 10);
        PQclear(result);
        PQclear(PQgetResult(conn)); // libpq's mark between two statements
    }
    die(conn, "a flight did not end");
    return 0;
}

static void run_parcel(struct bare *bare, PGconn *conn, size_t nth)
{
    const struct parcel *parcel = &bare->parcels->items[nth];
    int64_t start_us = clock_mono_us();
    for (int f = 0; f < PARCEL_FLIGHTS; f++) {
        size_t n = parcel->call[f + 1] - parcel->call[f];
        if (n == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            if (send_call(conn, bare->parcels, &bare->parcels->calls[parcel->call[f] + i]) != 1)
                die(conn, "could not send");
        if (PQpipelineSync(conn) != 1 || PQflush(conn) < 0)
            die(conn, "could not send");
        int updated = take(conn, n, f == 2 ? 0 : n + 1);
        if (f == 2 && updated != parcel->n_orders)
            atomic_fetch_add(&bare->wrong, parcel->n_orders - updated);
    }
    int64_t now_us = clock_mono_us();
    bare->took_us[nth] = (int32_t)(now_us - start_us);
    atomic_store(&bare->last_us, now_us);
    atomic_fetch_add(&bare->events, parcel->n_events);
}

static void *loop(void *arg)
{
    struct bare *bare = arg;
    PGconn *conn = connect_now(bare->conninfo);
    pthread_barrier_wait(&bare->start);
    pthread_barrier_wait(&bare->start);
    while (clock_mono_us() < bare->stop_us) {
        size_t nth = atomic_fetch_add(&bare->next, 1);
        if (nth >= bare->parcels->n)
            break;
        run_parcel(bare, conn, nth);
    }
    PQfinish(conn);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static void print(struct bare *bare, int64_t start_us, size_t n_run)
{
    double seconds = (double)(bare->last_us - start_us) / 1e6;
    qsort(bare->took_us, n_run, sizeof *bare->took_us, by_size);
    size_t p50 = n_run / 2, p99 = n_run * 99 / 100;
    printf("{\"events\": %ld, \"transactions\": %zu, \"seconds\": %.3f, \"wrong\": %ld, "
           "\"ran_out\": %s, "
           "\"p50_ms\": %.3f, \"p99_ms\": %.3f}\n",
            bare->events, n_run, seconds, bare->wrong,
            bare->next >= bare->parcels->n ? "true" : "false",
            n_run ? bare->took_us[p50] / 1000.0 : 0, n_run ? bare->took_us[p99] / 1000.0 : 0);
}

int main(int argc, char **argv)
{
    if (argc != 8) {
        fprintf(stderr, "usage: bare CONNINFO RUN EVENTS BATCH CONNECTIONS SECONDS REPEAT%%\n");
        return 2;
    }
    struct parcel_options options = {.run = strtoull(argv[2], NULL, 10),
            .events = strtoul(argv[3], NULL, 10),
            .batch = strtoul(argv[4], NULL, 10),
            .repeat_percent = (int)strtol(argv[7], NULL, 10)};
    unsigned n = (unsigned)strtoul(argv[5], NULL, 10);
    pthread_t threads[THREADS_MAX];
    if (n < 1 || n > THREADS_MAX || options.batch < 1 || options.batch > EVENT_STRIDE)
        return 2;
    struct parcels *parcels = parcels_new(&options);
    struct bare bare = {.parcels = parcels, .conninfo = argv[1]};
    bare.took_us = xcalloc(parcels->n, sizeof *bare.took_us);
    pthread_barrier_init(&bare.start, NULL, n + 1);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, loop, &bare) != 0)
            return 1;
    pthread_barrier_wait(&bare.start);
    int64_t start_us = clock_mono_us();
    bare.stop_us = start_us + (int64_t)(strtod(argv[6], NULL) * 1e6);
    pthread_barrier_wait(&bare.start);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    size_t n_run = bare.next < parcels->n ? bare.next : parcels->n;
    print(&bare, start_us, n_run);
    free(bare.took_us);
    parcels_free(parcels);
    return 0;
}
