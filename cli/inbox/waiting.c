#include "cli/context.h"
#include "cli/flags.h"
#include "cli/inbox/inbox.h"
#include "cli/inbox_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/store/policy_store.h"
#include "receiver/arrival.h"

#define LIMIT 50

static void add_row(const struct pg *pg, int row, struct table *table)
{
    char at[32];
    bool expired = pg_bool(pg, 0, row, 1);
    table_cell(table, slice_of(clock_rfc3339(pg_big(pg, 0, row, 0), at)));
    table_cell(table, slice_of(expired ? "true" : "false"));
    for (int col = 2; col <= 6; col++)
        table_cell(table, pg_bytes(pg, 0, row, col));
    table_cell(table, slice_of(move_outcome_name((enum move_outcome)pg_int(pg, 0, row, 7))));
}

static int show_rows(const struct call *call, const struct pg *pg, int64_t limit)
{
    static const struct column columns[] = {{"since", COLUMN_TEXT}, {"expired", COLUMN_BOOL},
            {"event", COLUMN_TEXT}, {"source", COLUMN_TEXT}, {"type", COLUMN_TEXT},
            {"order", COLUMN_TEXT}, {"to", COLUMN_TEXT}, {"reason", COLUMN_TEXT}};
    AUTO_TABLE struct table table;
    table_init(&table, columns, ARRAY_LEN(columns));
    for (int row = 0; row < pg_rows(pg, 0); row++)
        add_row(pg, row, &table);
    return out_list(call, &table, limit);
}

// How long an event may wait, by the active policy.
static bool read_park(const struct context *context, int64_t *ret_park_s, struct err *err)
{
    struct policy *policy =
            policy_store_load_from(context->database, "pawl_operator", 0, &policy_knowledge, err);
    if (!policy)
        return false;
    *ret_park_s = policy->flow.park_s;
    policy_unref(policy);
    return true;
}

int inbox_waiting(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    int64_t limit = LIMIT, park_s = 0;
    if (!flag_number(call, FLAG_LIMIT, 1, 1000, &limit, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!read_park(&context, &park_s, &err))
        return out_fail(call, &err);
    AUTO_PG struct pg *pg = context_connect(&context, inbox_statements, INBOX_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, INBOX_WAITING);
    pg_p_big(pg, park_s);
    pg_p_bool(pg, call_has(call, FLAG_EXPIRED));
    pg_p_int(pg, (int32_t)limit + 1);
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    return show_rows(call, pg, limit);
}
