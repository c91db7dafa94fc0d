#include "cli/context.h"
#include "cli/flags.h"
#include "cli/gates/gates.h"
#include "cli/gates_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/store/policy_store.h"

#include <stdio.h>

#define LIMIT 50
#define WHY_MAX 400
#define WORD_MAX 400

// Stored numbers of pauses.kind.
enum { PAUSE_ALL = 1, PAUSE_CHANNEL = 2, PAUSE_TYPE = 3, PAUSE_PROVIDER = 4 };
static const char *const prefixes[] = {[PAUSE_ALL] = "all",
        [PAUSE_CHANNEL] = "channel:",
        [PAUSE_TYPE] = "",
        [PAUSE_PROVIDER] = "provider:"};

struct what {
    int kind;
    const char *name;
};

static void read_what(const char *word, struct what *ret)
{
    *ret = (struct what){.kind = PAUSE_TYPE, .name = word};
    if (strcmp(word, "all") == 0)
        *ret = (struct what){.kind = PAUSE_ALL, .name = ""};
    else if (strncmp(word, "channel:", 8) == 0)
        *ret = (struct what){.kind = PAUSE_CHANNEL, .name = word + 8};
    else if (strncmp(word, "provider:", 9) == 0)
        *ret = (struct what){.kind = PAUSE_PROVIDER, .name = word + 9};
}

// A pause of what does not exist would hold nothing, in silence.
static bool check_what(
        const struct context *context, struct pg *pg, const struct what *what, struct err *err)
{
    if (what->kind == PAUSE_CHANNEL && channel_by_name(what->name) == CHANNEL_NONE)
        return err_set(err, ERR_NOTFOUND, "there is no channel '%.40s'", what->name);
    if (what->kind == PAUSE_TYPE) {
        pg_add(pg, GATES_MESSAGE_KNOWN);
        pg_p_text(pg, slice_of(what->name));
        if (!pg_fly(pg, context_soon(), err))
            return false;
        return pg_rows(pg, 0) > 0 ||
               err_set(err, ERR_NOTFOUND,
                       "there is no message '%.60s'; a channel is channel:NAME, a provider "
                       "provider:NAME",
                       what->name);
    }
    if (what->kind != PAUSE_PROVIDER)
        return true;
    AUTO_POLICY struct policy *policy =
            policy_store_load_from(context->database, "pawl_operator", 0, &policy_knowledge, err);
    if (!policy)
        return false;
    return policy_has_provider(policy, what->name) ||
           err_set(err, ERR_NOTFOUND, "the active policy has no provider '%.40s'", what->name);
}

static bool reason_of(const struct call *call, bool needed, const char **ret, struct err *err)
{
    const char *why = call->values[FLAG_REASON];
    *ret = why ? why : "";
    if ((needed && !**ret) || strlen(*ret) > WHY_MAX)
        return err_set(err, ERR_INPUT,
                "say why by --reason, in 1 to %d bytes: it is kept in the audit", WHY_MAX);
    return true;
}

static int said(const struct call *call, bool changed, const char *text)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, 1024);
    if (call_has(call, FLAG_JSON))
        text_fmt(&out, "{\"changed\":%s}\n", changed ? "true" : "false");
    else
        text_fmt(&out, "%s\n", text);
    return out_data(&out, EXIT_DONE);
}

int pause_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    struct what what;
    const char *why;
    int64_t for_s = 0;
    if (!reason_of(call, true, &why, &err) || !flag_duration(call, FLAG_FOR, &for_s, &err))
        return out_usage(call, &err);
    if (call_has(call, FLAG_FOR) && for_s == 0) {
        err_set(&err, ERR_INPUT, "--for 0 ends at once; without --for it holds until pawl resume");
        return out_usage(call, &err);
    }
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    read_what(call->args[0], &what);
    AUTO_PG struct pg *pg = context_connect(&context, gates_statements, GATES_COUNT, &err);
    if (!pg || !check_what(&context, pg, &what, &err))
        return out_fail(call, &err);
    pg_add(pg, GATES_PAUSE_PUT);
    pg_p_int(pg, what.kind);
    pg_p_text(pg, slice_of(what.name));
    pg_p_big(pg, for_s);
    pg_p_text(pg, slice_of(context_user()));
    pg_p_text(pg, slice_of(why));
    pg_p_text(pg, slice_of(call->args[0]));
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    bool before = pg_bool(pg, 0, 0, 0);
    out_note(call, "next: %s resume %s", out_pawl(call).text, call->args[0]);
    return said(
            call, true, before ? "it was paused already: reason and end are these now" : "paused");
}

int resume_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    struct what what;
    const char *why;
    if (!reason_of(call, false, &why, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    read_what(call->args[0], &what);
    AUTO_PG struct pg *pg = context_connect(&context, gates_statements, GATES_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, GATES_PAUSE_END);
    pg_p_int(pg, what.kind);
    pg_p_text(pg, slice_of(what.name));
    pg_p_text(pg, slice_of(context_user()));
    pg_p_text(pg, slice_of(why));
    pg_p_text(pg, slice_of(call->args[0]));
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    bool was = pg_int(pg, 0, 0, 0) > 0;
    // A pause may outlive what it names; where there was none, is there such a thing at all?
    if (!was && !check_what(&context, pg, &what, &err))
        return out_fail(call, &err);
    return said(call, was, was ? "resumed" : "it was not paused; see pawl pauses");
}

void pause_word(int kind, struct slice name, struct text *out)
{
    bool known = kind >= PAUSE_ALL && kind <= PAUSE_PROVIDER;
    text_str(out, known ? prefixes[kind] : "?");
    text_add(out, name);
}

static void add_row(const struct pg *pg, int row, struct table *table)
{
    char at[32];
    AUTO_TEXT struct text what = {0};
    text_init(&what, WORD_MAX);
    pause_word(pg_int(pg, 0, row, 0), pg_bytes(pg, 0, row, 1), &what);
    table_cell(table, text_slice(&what));
    table_cell(table, slice_of(pg_bool(pg, 0, row, 4) ? "paused" : "ended"));
    table_cell(table, slice_of(clock_rfc3339(pg_big(pg, 0, row, 2), at)));
    table_cell(table, pg_null(pg, 0, row, 3) ? (struct slice){0}
                                             : slice_of(clock_rfc3339(pg_big(pg, 0, row, 3), at)));
    table_cell_fmt(table, "%lld", (long long)pg_big(pg, 0, row, 7));
    table_cell(table, pg_bytes(pg, 0, row, 5));
    table_cell(table, pg_bytes(pg, 0, row, 6));
}

int pauses_command(const struct call *call)
{
    static const struct column columns[] = {{"what", COLUMN_TEXT}, {"state", COLUMN_TEXT},
            {"since", COLUMN_TEXT}, {"until", COLUMN_TEXT}, {"held", COLUMN_NUMBER},
            {"by", COLUMN_TEXT}, {"reason", COLUMN_TEXT}};
    AUTO_CONTEXT struct context context = {0};
    AUTO_TABLE struct table table = {0};
    struct err err = {0};
    int64_t limit = LIMIT;
    if (!flag_number(call, FLAG_LIMIT, 1, 1000, &limit, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, gates_statements, GATES_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, GATES_PAUSES);
    pg_p_int(pg, (int32_t)limit + 1);
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    table_init(&table, columns, ARRAY_LEN(columns));
    for (int row = 0; row < pg_rows(pg, 0); row++)
        add_row(pg, row, &table);
    return out_list(call, &table, limit);
}
