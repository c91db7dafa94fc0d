#include "cli/context.h"
#include "cli/keys/advise.h"
#include "cli/keys/keys.h"
#include "cli/keys_sql.h"
#include "cli/out.h"
#include "cli/policy/active.h"
#include "cli/table.h"
#include "common/clock.h"

static struct secret_use use_of(
        const struct pg *pg, const struct source *source, const struct secret *secret)
{
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        if (slice_eq(pg_bytes(pg, 0, row, 0), slice_of(source->name)) &&
                slice_eq(pg_bytes(pg, 0, row, 1), slice_of(secret->credential)))
            return (struct secret_use){
                    pg_big(pg, 0, row, 2) / 1000000, pg_big(pg, 0, row, 3) / 1000000};
    }
    return (struct secret_use){0, 0};
}

static void add_time(struct table *table, int64_t at_s)
{
    char at[32];
    table_cell(table, at_s ? slice_of(clock_rfc3339(at_s * 1000000, at)) : (struct slice){NULL, 0});
}

static void add_source(const struct pg *pg, const struct source *source, struct table *table)
{
    AUTO_FREE struct secret_use *uses = xcalloc(source->n_secrets + 1, sizeof *uses);
    int64_t now_s = clock_now_s();
    for (size_t i = 0; i < source->n_secrets; i++)
        uses[i] = use_of(pg, source, &source->secrets[i]);
    for (size_t i = 0; i < source->n_secrets; i++) {
        const struct secret *secret = &source->secrets[i];
        struct secret_advice advice = secret_advise(source, uses, i, now_s);
        table_cell(table, slice_of(source->name));
        table_cell(table, slice_of(secret->credential));
        table_cell(table, slice_of(advice.state));
        add_time(table, secret->from);
        add_time(table, secret->until);
        add_time(table, uses[i].last_s);
        table_cell(table, slice_of(advice.safe_to_drop ? "true" : "false"));
        table_cell(table, slice_of(advice.says));
        table_cell(table, secret->note ? slice_of(secret->note) : (struct slice){NULL, 0});
    }
}

static int show(const struct call *call, const struct pg *pg, const struct policy *policy)
{
    static const struct column columns[] = {{"source", COLUMN_TEXT}, {"secret", COLUMN_TEXT},
            {"state", COLUMN_TEXT}, {"from", COLUMN_TEXT}, {"until", COLUMN_TEXT},
            {"last_used", COLUMN_TEXT}, {"safe_to_drop", COLUMN_BOOL}, {"says", COLUMN_TEXT},
            {"note", COLUMN_TEXT}};
    const char *only = call->values[FLAG_SOURCE];
    AUTO_TABLE struct table table = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < policy->n_sources; i++) {
        if (!only || strcmp(policy->sources[i].name, only) == 0)
            add_source(pg, &policy->sources[i], &table);
    }
    return out_table(call, &table);
}

static bool known_source(const struct call *call, const struct policy *policy, struct err *err)
{
    const char *name = call->values[FLAG_SOURCE];
    return !name || policy_source(policy, slice_of(name)) ||
           err_set(err, ERR_NOTFOUND, "the policy has no source '%.60s'", name);
}

int keys_list(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_POLICY struct policy *policy = policy_active(call, &context, &err);
    if (!policy || !known_source(call, policy, &err))
        return out_fail(call, &err);
    AUTO_PG struct pg *pg = context_connect(&context, keys_statements, KEYS_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, KEYS_USES);
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    return show(call, pg, policy);
}
