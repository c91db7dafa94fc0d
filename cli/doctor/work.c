// What waits for longer than it should.
#include "cli/doctor/findings.h"
#include "cli/doctor_work_sql.h"

#define PARK_S (7 * 86400) // before any policy was applied
#define DUE_WARN_S 600.0

static double seconds(const struct pg *pg, int call, int col)
{
    return pg_null(pg, call, 0, col) ? 0 : pg_double(pg, call, 0, col);
}

static void leases(struct visit *visit)
{
    const struct pg *pg = visit->pg;
    if (pg_big(pg, 0, 0, 0) == 0) {
        found(visit, FINDING_OK, "leases", "none ran out");
        return;
    }
    found(visit, FINDING_FAIL, "leases",
            "%lld ran out with %lld deliveries, the oldest %.0f s ago: no dispatcher takes over",
            (long long)pg_big(pg, 0, 0, 0), (long long)pg_big(pg, 0, 0, 1), seconds(pg, 0, 2));
    mend_program(visit, REMEDY_RESTART, "pawl-dispatcher");
}

static void unknown(struct visit *visit, long long n, double age_s)
{
    if (n == 0) {
        found(visit, FINDING_OK, "unknown", "no delivery's outcome is unknown");
        return;
    }
    found(visit, FINDING_WARN, "unknown",
            "the outcome of %lld deliveries is unknown, of the oldest for %.0f s", n, age_s);
    mend(visit, "pawl deliveries list --state unknown");
}

static void due(struct visit *visit, long long n, double age_s)
{
    bool late = age_s > DUE_WARN_S;
    found(visit, late ? FINDING_WARN : FINDING_OK, "due",
            n ? "%lld deliveries are due, the oldest for %.0f s" : "no delivery is due", n, age_s);
    if (late)
        mend(visit, "pawl deliveries list --state due");
}

static void waiting(struct visit *visit, long long n)
{
    if (n == 0) {
        found(visit, FINDING_OK, "waiting", "no event waited too long for the step before it");
        return;
    }
    found(visit, FINDING_WARN, "waiting",
            "%lld events waited too long for the step or the order before them", n);
    mend(visit, "pawl inbox list --since 30d");
}

void visit_work(struct visit *visit)
{
    struct err err = {0};
    if (!visit->pg || !pg_alive(visit->pg))
        return;
    int base = (int)pg_stmt_count(visit->pg);
    if (!pg_prepare(visit->pg, doctor_work_statements, DOCTOR_WORK_COUNT, context_soon(), &err)) {
        found_err(visit, "work", &err);
        mend(visit, "pawl migrate up");
        return;
    }
    pg_add(visit->pg, base + DOCTOR_WORK_LEASES);
    pg_add(visit->pg, base + DOCTOR_WORK_WAITS);
    pg_p_big(visit->pg, visit->policy ? visit->policy->flow.park_s : PARK_S);
    if (!pg_fly(visit->pg, context_soon(), &err)) {
        found_err(visit, "work", &err);
        return;
    }
    const struct pg *pg = visit->pg;
    leases(visit);
    unknown(visit, pg_big(pg, 1, 0, 0), seconds(pg, 1, 1));
    due(visit, pg_big(pg, 1, 0, 2), seconds(pg, 1, 3));
    waiting(visit, pg_big(pg, 1, 0, 4));
}
