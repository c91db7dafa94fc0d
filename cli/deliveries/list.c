#include "cli/context.h"
#include "cli/deliveries/deliveries.h"
#include "cli/deliveries_sql.h"
#include "cli/flags.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/store/policy_store.h"
#include "dispatcher/delivery.h"

#define SINCE_S (7 * 86400)
#define LIMIT 50

static struct slice or_absent(const struct pg *pg, int row, int col)
{
    return pg_null(pg, 0, row, col) ? (struct slice){0} : pg_bytes(pg, 0, row, col);
}

static void add_row(const struct pg *pg, int row, struct table *table)
{
    char at[32], due[32], hex[KEY_HEX];
    AUTO_FREE char *address = format_recipient(pg_int(pg, 0, row, 2), pg_bytes(pg, 0, row, 7));
    key_hex(pg_uuid(pg, 0, row, 1), hex);
    table_cell(table, slice_of(clock_rfc3339(pg_big(pg, 0, row, 0), at)));
    table_cell(table, slice_of(hex));
    table_cell(table, slice_of(channel_name((enum channel_kind)pg_int(pg, 0, row, 2))));
    table_cell(table, or_absent(pg, row, 3));
    table_cell(table, slice_of(delivery_state_name((enum delivery_state)pg_int(pg, 0, row, 4))));
    table_cell_fmt(table, "%d", pg_int(pg, 0, row, 5));
    table_cell_fmt(table, "%d", pg_int(pg, 0, row, 6));
    table_cell(table, slice_of(address));
    table_cell(table, or_absent(pg, row, 8));
    table_cell(table, or_absent(pg, row, 9));
    table_cell(table, pg_null(pg, 0, row, 10)
                              ? (struct slice){0}
                              : slice_of(clock_rfc3339(pg_big(pg, 0, row, 10), due)));
}

static int show_rows(const struct call *call, const struct pg *pg, int64_t limit)
{
    static const struct column columns[] = {{"created_at", COLUMN_TEXT},
            {"notification", COLUMN_TEXT}, {"channel", COLUMN_TEXT}, {"type", COLUMN_TEXT},
            {"state", COLUMN_TEXT}, {"tries", COLUMN_NUMBER},
            {"possible_duplicates", COLUMN_NUMBER}, {"to", COLUMN_TEXT}, {"order", COLUMN_TEXT},
            {"reason", COLUMN_TEXT}, {"due_at", COLUMN_TEXT}};
    AUTO_TABLE struct table table = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    for (int row = 0; row < pg_rows(pg, 0); row++)
        add_row(pg, row, &table);
    return out_list(call, &table, limit);
}

// Of what was found nothing of, is there such a thing?
static bool exists(const struct call *call, const struct context *context, struct err *err)
{
    const char *type = call->values[FLAG_TYPE], *provider = call->values[FLAG_PROVIDER];
    if (!type && !provider)
        return true;
    AUTO_POLICY struct policy *policy =
            policy_store_load_from(context->database, "pawl_operator", 0, &policy_knowledge, err);
    return policy && names_known(policy, type, provider, err);
}

int deliveries_list(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    int64_t since_s = SINCE_S, limit = LIMIT;
    int states[STATES_MAX];
    size_t n_states = 0;
    if (!flags_of_list(call, &since_s, &limit, &err) || !flag_states(call, states, &n_states, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg =
            context_connect(&context, deliveries_statements, DELIVERIES_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, DELIVERIES_LIST);
    pg_p_big(pg, since_s);
    pg_p_ints(pg);
    for (size_t i = 0; i < n_states; i++)
        pg_e_int(pg, states[i]);
    pg_p_text(pg, slice_of(call->values[FLAG_TYPE]));
    pg_p_text(pg, slice_of(call->values[FLAG_PROVIDER]));
    pg_p_int(pg, (int32_t)limit + 1);
    if (!pg_fly(pg, context_soon(), &err) || (pg_rows(pg, 0) == 0 && !exists(call, &context, &err)))
        return out_fail(call, &err);
    return show_rows(call, pg, limit);
}
