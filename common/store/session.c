#include "common/store/session.h"

#include "common/clock.h"

#define CONNECT_TIMEOUT_MS 10000
#define STATEMENT_TIMEOUT_MS 9000
#define FLIGHT_TIMEOUT_MS 10000

struct pg *store_session(const char *conninfo, const char *role, const struct pg_stmt *stmts,
        size_t n_stmts, struct err *err)
{
    const struct pg_options options = {.conninfo = conninfo,
            .role = role,
            .application = "pawl policy",
            .stmts = stmts,
            .n_stmts = n_stmts,
            .connect_timeout_ms = CONNECT_TIMEOUT_MS,
            .statement_timeout_ms = STATEMENT_TIMEOUT_MS};
    return pg_connect(&options, err);
}

int64_t store_soon(void)
{
    return clock_mono_ms() + FLIGHT_TIMEOUT_MS;
}
