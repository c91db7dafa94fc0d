#include "cli/inbox/inbox.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/inbox_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/json/scan.h"
#include "receiver/arrival.h"

#include <stdio.h>

#define OUTPUT_MAX (64 << 20)
#define SINCE_S (7 * 86400)
#define LIMIT 50

static struct slice or_absent(const struct pg *pg, int row, int col)
{
    return pg_null(pg, 0, row, col) ? (struct slice){0} : pg_bytes(pg, 0, row, col);
}

static const char *outcome_of(const struct pg *pg, int row, int col)
{
    return event_outcome_name((enum event_outcome)pg_int(pg, 0, row, col));
}

static int list_rows(const struct call *call, const struct pg *pg, int64_t limit)
{
    static const struct column columns[] = {{"at", COLUMN_TEXT}, {"event", COLUMN_TEXT},
            {"source", COLUMN_TEXT}, {"type", COLUMN_TEXT}, {"outcome", COLUMN_TEXT},
            {"order", COLUMN_TEXT}, {"reason", COLUMN_TEXT}, {"bytes", COLUMN_NUMBER}};
    AUTO_TABLE struct table table = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        char at[32];
        table_cell(&table, slice_of(clock_rfc3339(pg_big(pg, 0, row, 0), at)));
        for (int col = 1; col <= 3; col++)
            table_cell(&table, or_absent(pg, row, col));
        table_cell(&table, slice_of(outcome_of(pg, row, 4)));
        table_cell(&table, or_absent(pg, row, 5));
        table_cell(&table, or_absent(pg, row, 6));
        table_cell_fmt(&table, "%d", pg_int(pg, 0, row, 7));
    }
    return out_list(call, &table, limit);
}

int inbox_list(const struct call *call)
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
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, INBOX_LIST);
    pg_p_big(pg, since_s);
    pg_p_int(pg, (int32_t)limit + 1);
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    return list_rows(call, pg, limit);
}

// --- One event

static const struct {
    const char *name;
    int col;
} parts[] = {{"event", 1}, {"source", 2}, {"scope", 3}, {"type", 4}, {"order", 6}, {"reason", 7},
        {"secret", 8}};

static void show_text(const struct pg *pg, int row, struct text *out)
{
    char at[32];
    text_fmt(out, "%-9s %s\n", "received", clock_rfc3339(pg_big(pg, 0, row, 0), at));
    text_fmt(out, "%-9s %s\n", "outcome", outcome_of(pg, row, 5));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct slice value = or_absent(pg, row, parts[i].col);
        if (value.len > 0)
            text_fmt(out, "%-9s %.*s\n", parts[i].name, (int)value.len, (const char *)value.ptr);
    }
    text_char(out, '\n');
    text_add_shown(out, or_absent(pg, row, 9));
    text_char(out, '\n');
    text_add_shown(out, pg_bytes(pg, 0, row, 10));
    text_char(out, '\n');
}

static void show_json(const struct pg *pg, int row, struct text *out)
{
    char at[32];
    text_fmt(out, "%s{\"received_at\":\"%s\",\"outcome\":\"%s\"", row ? "," : "",
            clock_rfc3339(pg_big(pg, 0, row, 0), at), outcome_of(pg, row, 5));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct slice value = or_absent(pg, row, parts[i].col);
        text_fmt(out, ",\"%s\":", parts[i].name);
        if (value.ptr)
            json_quote(out, value);
        else
            text_str(out, "null");
    }
    text_str(out, ",\"headers\":");
    json_quote(out, or_absent(pg, row, 9));
    text_str(out, ",\"body\":");
    json_quote(out, pg_bytes(pg, 0, row, 10));
    text_char(out, '}');
}

static int show_rows(const struct call *call, const struct pg *pg)
{
    AUTO_TEXT struct text out = {0};
    bool json = call_has(call, FLAG_JSON);
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_RAW) || call_has(call, FLAG_HEADERS)) {
        text_add(&out, or_absent(pg, 0, call_has(call, FLAG_RAW) ? 10 : 9));
        return out_data(&out, EXIT_DONE);
    }
    text_str(&out, json ? "{\"items\":[" : "");
    for (int row = 0; row < pg_rows(pg, 0); row++) {
        if (json)
            show_json(pg, row, &out);
        else
            show_text(pg, row, &out);
    }
    text_str(&out, json ? "],\"next\":null}\n" : "");
    return out_data(&out, EXIT_DONE);
}

static bool ask_show(const struct call *call, struct pg *pg, struct err *err)
{
    char number[300];
    snprintf(number, sizeof number, "#%.290s", call->args[0]);
    pg_add(pg, INBOX_SHOW);
    pg_p_ints(pg);
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        pg_e_int(pg, bucket);
    pg_p_texts(pg);
    pg_e_bytes(pg, slice_of(call->args[0]));
    pg_e_bytes(pg, slice_of(number));
    if (!pg_fly(pg, context_soon(), err))
        return false;
    return pg_rows(pg, 0) > 0 ||
           err_set(err, ERR_NOTFOUND, "no kept body has the event id '%.120s'", call->args[0]);
}

int inbox_show(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, inbox_statements, INBOX_COUNT, &err);
    if (!pg || !ask_show(call, pg, &err))
        return out_fail(call, &err);
    return show_rows(call, pg);
}
