// The schema and who may do what in it.
#include "cli/doctor/findings.h"
#include "cli/doctor_sql.h"
#include "cli/migrate/migrate.h"

static const char *const roles[] = {
        "pawl_receiver", "pawl_dispatcher", "pawl_maint", "pawl_operator"};

void visit_schema(struct visit *visit)
{
    if (!visit->pg)
        return;
    AUTO_TEXT struct text said = {0};
    struct err err = {0};
    text_init(&said, 1 << 16);
    int done = migrate_check_as(visit->context->database, "pawl_operator", &said, &err);
    if (done == MIGRATE_FAILED) {
        found_err(visit, "schema", &err);
        mend(visit, "pawl migrate list");
    } else if (done == MIGRATE_PENDING) {
        const char *text = text_cstr(&said);
        found(visit, FINDING_FAIL, "schema", "%.*s, and perhaps more", (int)strcspn(text, "\n"),
                text);
        mend(visit, "pawl migrate up");
    } else {
        found(visit, FINDING_OK, "schema", "no migration is pending");
    }
}

static bool ask_roles(struct visit *visit, struct err *err)
{
    pg_add(visit->pg, DOCTOR_ROLES);
    pg_p_texts(visit->pg);
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        pg_e_bytes(visit->pg, slice_of(roles[i]));
    pg_add(visit->pg, DOCTOR_RIGHTS);
    return pg_fly(visit->pg, context_soon(), err);
}

static void judge_role(struct visit *visit, int row)
{
    AUTO_FREE char *role = slice_dup(pg_bytes(visit->pg, 0, row, 0));
    if (!pg_bool(visit->pg, 0, row, 1)) {
        found(visit, FINDING_FAIL, "roles", "%s is not there", role);
        mend(visit, "pawl migrate up");
    } else if (!pg_bool(visit->pg, 0, row, 2)) {
        found(visit, FINDING_FAIL, "roles", "%s may not log in", role);
        mend_sql(visit, "-c 'ALTER ROLE %s LOGIN'", role);
    } else if (!pg_null(visit->pg, 0, row, 3)) {
        AUTO_FREE char *over = slice_dup(pg_bytes(visit->pg, 0, row, 3));
        bool attribute = over[0] >= 'A' && over[0] <= 'Z';
        found(visit, FINDING_FAIL, "roles", "%s is %s%s and may far too much", role,
                attribute ? "" : "a member of ", over);
        if (attribute)
            mend_sql(visit, "-c 'ALTER ROLE %s NO%s'", role, over);
        else
            mend_sql(visit, "-c 'REVOKE %s FROM %s'", over, role);
    }
}

static void judge_right(struct visit *visit, int row)
{
    AUTO_FREE char *role = slice_dup(pg_bytes(visit->pg, 1, row, 0));
    AUTO_FREE char *table = slice_dup(pg_bytes(visit->pg, 1, row, 1));
    AUTO_FREE char *privilege = slice_dup(pg_bytes(visit->pg, 1, row, 2));
    bool has = pg_bool(visit->pg, 1, row, 3);
    found(visit, FINDING_FAIL, "rights", "%s may %s%s %s", role, has ? "" : "not ", privilege,
            table);
    mend_sql(visit, "-c '%s %s ON pawl.%s %s %s'", has ? "REVOKE" : "GRANT", privilege, table,
            has ? "FROM" : "TO", role);
}

void visit_rights(struct visit *visit)
{
    struct err err = {0};
    if (!visit->pg || !pg_alive(visit->pg))
        return;
    if (!ask_roles(visit, &err)) {
        found_err(visit, "roles", &err);
        return;
    }
    size_t before = visit->findings.n;
    for (int row = 0; row < pg_rows(visit->pg, 0); row++)
        judge_role(visit, row);
    for (int row = 0; row < pg_rows(visit->pg, 1); row++)
        judge_right(visit, row);
    if (visit->findings.n == before)
        found(visit, FINDING_OK, "rights", "each role may what it needs and no more");
}
