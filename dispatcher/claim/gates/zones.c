#include "dispatcher/claim/gates/zones.h"

#include "common/clock.h"
#include "dispatcher/dispatcher_sql.h"

#include <strings.h>

struct zones {
    char **names; // sorted, in any case
    size_t n;
    bool wanted;
    int64_t read_ms; // 0 = not read
};

struct zones *zones_new(void)
{
    return xcalloc(1, sizeof(struct zones));
}

void zones_forget(struct zones *zones)
{
    for (size_t i = 0; i < zones->n; i++)
        free(zones->names[i]);
    free(zones->names);
    zones->names = NULL;
    zones->n = 0;
    zones->read_ms = 0;
}

void zones_free(struct zones *zones)
{
    if (!zones)
        return;
    zones_forget(zones);
    free(zones);
}

bool zones_ready(struct zones *zones, int64_t now_ms)
{
    bool good = zones->read_ms && now_ms - zones->read_ms < ZONES_GOOD_MS;
    zones->wanted = zones->wanted || !good;
    return zones->read_ms != 0; // old ones are still better than none
}

bool zones_wanted(const struct zones *zones)
{
    return zones->wanted;
}

static int by_name(const void *a, const void *b)
{
    return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static bool knows(const struct zones *zones, const char *name)
{
    return zones->n > 0 &&
           bsearch(&name, zones->names, zones->n, sizeof *zones->names, by_name) != NULL;
}

const char *zones_choose(
        const struct zones *zones, const char *own, const char *fallback, bool *ret_unknown)
{
    *ret_unknown = false;
    if (own && knows(zones, own))
        return own;
    *ret_unknown = own != NULL;
    if (fallback && knows(zones, fallback))
        return fallback;
    *ret_unknown = *ret_unknown || fallback;
    return "UTC";
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    (void)self;
    pg_add(pg, SQL_ZONES);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct zones *zones = self;
    (void)err;
    zones_forget(zones);
    int rows = pg_rows(pg, 0);
    zones->names = xcalloc((size_t)rows + 1, sizeof *zones->names);
    for (int row = 0; row < rows; row++)
        zones->names[zones->n++] = slice_dup(pg_bytes(pg, 0, row, 0));
    qsort(zones->names, zones->n, sizeof *zones->names, by_name);
    zones->read_ms = clock_mono_ms();
    zones->wanted = false;
    return WORK_DONE;
}

static void fail(void *self, struct pg *pg)
{
    (void)self;
    (void)pg;
}

struct work_kind zones_work(struct zones *zones)
{
    return (struct work_kind){
            .name = "zones", .self = zones, .start = start, .next = next, .fail = fail};
}
