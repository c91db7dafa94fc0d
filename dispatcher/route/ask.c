// Permits of rates, a batch at a time.
#include "common/clock.h"
#include "dispatcher/dispatcher_sql.h"
#include "dispatcher/route/state.h"

#include <stdio.h>

static void want(struct route *route, struct permits *permits, const char *channel, const char *of)
{
    if (route->n_asked == ROUTE_ASKED_MAX)
        return;
    struct asked *asked = &route->asked[route->n_asked++];
    asked->permits = permits;
    snprintf(asked->scope, sizeof asked->scope, "%s%s%s", channel, of ? "/" : "", of ? of : "");
}

bool route_asks(struct route *route, enum channel_kind channel, int64_t now_ms)
{
    struct row *rows[CHOOSE_MAX];
    size_t n = route_rows(route, channel, rows);
    route->n_asked = 0;
    if (permits_wanted(&route->channels[channel], now_ms))
        want(route, &route->channels[channel], channel_name(channel), NULL);
    for (size_t i = 0; i < n; i++)
        if (permits_wanted(&rows[i]->permits, now_ms) &&
                breaker_room(&rows[i]->breaker, now_ms, 1) > 0)
            want(route, &rows[i]->permits, channel_name(channel), rows[i]->name);
    return route->n_asked > 0;
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct route *route = self;
    pg_add(pg, SQL_PERMITS);
    pg_p_texts(pg);
    for (size_t i = 0; i < route->n_asked; i++)
        pg_e_bytes(pg, slice_of(route->asked[i].scope));
    pg_p_doubles(pg);
    for (size_t i = 0; i < route->n_asked; i++)
        pg_e_double(pg, route->asked[i].permits->rate);
    pg_p_ints(pg);
    for (size_t i = 0; i < route->n_asked; i++)
        pg_e_int(pg, permits_batch(route->asked[i].permits->rate));
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    (void)err;
    struct route *route = self;
    int64_t now_ms = clock_mono_ms();
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        int i = pg_int(pg, 0, row, 0) - 1;
        if (i >= 0 && (size_t)i < route->n_asked)
            permits_granted(
                    route->asked[i].permits, pg_int(pg, 0, row, 1), pg_big(pg, 0, row, 2), now_ms);
    }
    return WORK_DONE;
}

// Whatever it granted is lost: nobody may use it, which is on the safe side.
static void fail(void *self, struct pg *pg)
{
    (void)self;
    (void)pg;
}

struct work_kind route_work(struct route *route)
{
    return (struct work_kind){
            .name = "permits", .self = route, .start = start, .next = next, .fail = fail};
}
