#include "cli/inbox/rejected.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/inbox_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"

#define SINCE_S (7 * 86400)
#define LIMIT 50

static struct slice or_absent(const struct pg *pg, int row, int col)
{
    return pg_null(pg, 0, row, col) ? (struct slice){0} : pg_bytes(pg, 0, row, col);
}

static void add_row(const struct pg *pg, int row, struct table *table)
{
    char at[32], last[32], hex[KEY_HEX];
    bool counted = pg_big(pg, 0, row, 5) > 0;
    key_hex(pg_uuid(pg, 0, row, 0), hex);
    table_cell(table, slice_of(clock_rfc3339(pg_big(pg, 0, row, 1), at)));
    table_cell(table, counted ? (struct slice){0} : slice_of(hex));
    table_cell(table, pg_null(pg, 0, row, 3) ? SLICE("(several)") : pg_bytes(pg, 0, row, 3));
    table_cell(table, pg_bytes(pg, 0, row, 4));
    table_cell_fmt(table, "%d", pg_int(pg, 0, row, 6));
    table_cell(table, pg_bool(pg, 0, row, 7) ? SLICE("true") : SLICE("false"));
    table_cell_fmt(table, "%lld", (long long)pg_big(pg, 0, row, 5));
    table_cell(table,
            counted ? slice_of(clock_rfc3339(pg_big(pg, 0, row, 2), last)) : (struct slice){0});
    table_cell(table, or_absent(pg, row, 8));
}

static int list_rows(const struct call *call, const struct pg *pg, int64_t limit)
{
    static const struct column columns[] = {{"at", COLUMN_TEXT}, {"id", COLUMN_TEXT},
            {"source", COLUMN_TEXT}, {"reason", COLUMN_TEXT}, {"bytes", COLUMN_NUMBER},
            {"cut", COLUMN_BOOL}, {"not_kept", COLUMN_NUMBER}, {"until", COLUMN_TEXT},
            {"peer", COLUMN_TEXT}};
    AUTO_TABLE struct table table = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    for (int row = 0; row < pg_rows(pg, 0); row++)
        add_row(pg, row, &table);
    return out_list(call, &table, limit);
}

static bool ask(
        const struct call *call, struct pg *pg, int64_t since_s, int64_t limit, struct err *err)
{
    struct slice source = slice_of(call->values[FLAG_SOURCE]);
    pg_add(pg, INBOX_REJECTED);
    pg_p_big(pg, since_s);
    pg_p_int(pg, (int32_t)limit + 1);
    pg_p_text(pg, source);
    pg_p_text(pg, slice_of(call->values[FLAG_REASON]));
    pg_add(pg, INBOX_SOURCE_KNOWN);
    pg_p_text(pg, source);
    if (!pg_fly(pg, context_soon(), err))
        return false;
    return !source.ptr || pg_bool(pg, 1, 0, 0) ||
           err_set(err, ERR_NOTFOUND, "no source has the name '%.80s'", (const char *)source.ptr);
}

int rejected_list(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    int64_t since_s = SINCE_S, limit = LIMIT;
    if (!flags_of_list(call, &since_s, &limit, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, inbox_statements, INBOX_COUNT, &err);
    if (!pg || !ask(call, pg, since_s, limit, &err))
        return out_fail(call, &err);
    return list_rows(call, pg, limit);
}
