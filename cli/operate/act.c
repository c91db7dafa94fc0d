#include "cli/operate/act.h"

#include "cli/flags.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/operate/ask.h"
#include "cli/operate_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/json/scan.h"
#include "common/store/policy_store.h"

#include <stdio.h>

#define BATCH_TRIES 5 // of one that met a deadlock
#define SHOWN 50
#define WHY_MAX 400
#define OUTPUT_MAX (64 << 20)

void act_names(struct pg *pg, struct picked *const *rows, size_t n)
{
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, rows[i]->bucket);
    pg_p_uuids(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_uuid(pg, rows[i]->notification);
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, (int32_t)rows[i]->channel);
    pg_p_texts(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_bytes(pg, slice_of(rows[i]->target));
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, rows[i]->redrive);
}

void act_mark(const struct pg *pg, int call, struct picked *const *rows, size_t n)
{
    for (int row = 0; row < pg_rows(pg, call); row++) {
        size_t i = (size_t)pg_int(pg, call, row, 0) - 1;
        if (i < n)
            rows[i]->done = true;
    }
}

// --- What would happen

static size_t judge(const struct act *act, const struct action *action, struct picks *picks)
{
    size_t n = 0;
    for (size_t i = 0; i < picks->n; i++) {
        AUTO_TEXT struct text why = {0};
        struct picked *p = &picks->rows[i];
        text_init(&why, WHY_MAX);
        p->taken = action->foretell(act, p, &why);
        p->why = xstrdup(text_cstr(&why));
        n += p->taken;
    }
    return n;
}

static void add_row(struct table *table, const struct picked *p, const char *then, const char *held)
{
    char hex[KEY_HEX];
    AUTO_FREE char *address = format_masked(slice_of(p->address));
    key_hex(p->notification, hex);
    table_cell(table, slice_of(hex));
    table_cell(table, slice_of(channel_name(p->channel)));
    table_cell_fmt(table, "%d", p->redrive);
    table_cell(table, slice_of(p->type_name));
    table_cell(table, slice_of(p->order));
    table_cell(table, slice_of(address));
    table_cell(table, slice_of(delivery_state_name(p->state)));
    table_cell_fmt(table, "%d", p->tries);
    table_cell_fmt(table, "%d", p->possible_duplicates);
    table_cell_fmt(table, "%s%s%s", then, held, held[0] ? p->held : "");
}

static const char *outcome_of(const struct action *action, const struct picked *p, bool told)
{
    if (!told || !p->taken)
        return p->why;
    if (!p->answered && !p->done)
        return "not known: the command was cut off; run it again";
    return p->done ? action->done : "not done: it changed meanwhile";
}

// What leads over to `held`; empty where nothing would hold it.
static const char *held_of(const struct picked *p, bool told)
{
    if (!p->held || !p->taken || (told && !p->done))
        return "";
    return told ? ", but will be " : "; now it would be ";
}

static void fill_table(
        const struct action *action, const struct picks *picks, bool told, struct table *table)
{
    static const struct column columns[] = {{"notification", COLUMN_TEXT}, {"channel", COLUMN_TEXT},
            {"redrive", COLUMN_NUMBER}, {"type", COLUMN_TEXT}, {"order", COLUMN_TEXT},
            {"to", COLUMN_TEXT}, {"state", COLUMN_TEXT}, {"tries", COLUMN_NUMBER},
            {"possible_duplicates", COLUMN_NUMBER}, {"outcome", COLUMN_TEXT}};
    table_init(table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < picks->n; i++)
        add_row(table, &picks->rows[i], outcome_of(action, &picks->rows[i], told),
                held_of(&picks->rows[i], told));
}

// The first rows, with what would happen, on stderr.
static void show_first(const struct action *action, const struct picks *picks)
{
    AUTO_TABLE struct table table = {0};
    AUTO_TEXT struct text out = {0};
    struct picks first = {.rows = picks->rows, .n = picks->n < SHOWN ? picks->n : SHOWN};
    fill_table(action, &first, false, &table);
    text_init(&out, OUTPUT_MAX);
    table_text(&table, 0, &out);
    fputs(text_cstr(&out), stderr);
    if (picks->n > SHOWN)
        fprintf(stderr, "... and %zu more\n", picks->n - SHOWN);
}

// --- Doing it

static bool fly_batch(const struct act *act, const struct action *action,
        struct picked *const *rows, size_t n, struct err *err)
{
    struct pg *pg = act->pg;
    pg_add_begin(pg);
    action->add(act, rows, n);
    pg_add_commit(pg);
    if (pg_fly(pg, context_soon(), err)) {
        action->take(act, rows, n);
        return true;
    }
    (void)pg_rollback(pg);
    return false;
}

static bool do_batch(const struct act *act, const struct action *action, struct picked *const *rows,
        size_t n, struct err *err)
{
    for (int i = 1; i < BATCH_TRIES; i++) {
        if (fly_batch(act, action, rows, n, err))
            return true;
        if (!pg_alive(act->pg) || pg_failure_of(act->pg) != PGF_AGAIN)
            return false;
    }
    return fly_batch(act, action, rows, n, err);
}

static bool do_all(const struct act *act, const struct action *action, const struct picks *picks,
        size_t wanted, struct err *err)
{
    struct picked *rows[BATCH_MAX];
    size_t n = 0, gone = 0;
    for (size_t i = 0; i < picks->n; i++) {
        if (picks->rows[i].taken)
            rows[n++] = &picks->rows[i];
        if (n == 0 || (n < BATCH_MAX && i + 1 < picks->n))
            continue;
        if (!do_batch(act, action, rows, n, err))
            return false;
        for (size_t k = 0; k < n; k++)
            rows[k]->answered = true;
        gone += n;
        n = 0;
        if (wanted > BATCH_MAX)
            out_note(act->call, "%zu of %zu", gone, wanted);
    }
    return true;
}

// --- What became of it

static void summary(const struct action *action, size_t done, const struct picks *picks, bool dry,
        struct text *out)
{
    size_t left = picks->n - done;
    text_fmt(out, "%zu %s%s", done, dry ? "would be " : "", action->done);
    if (left > 0)
        text_fmt(out, ", %zu left as they are", left);
    text_str(out, picks->more ? "; there may be more: --max bounds it\n" : "\n");
}

static int tell(
        const struct act *act, const struct action *action, const struct picks *picks, bool dry)
{
    AUTO_TABLE struct table table = {0};
    AUTO_TEXT struct text out = {0};
    size_t done = 0;
    for (size_t i = 0; i < picks->n; i++)
        done += dry ? picks->rows[i].taken : picks->rows[i].done;
    fill_table(action, picks, !dry, &table);
    text_init(&out, OUTPUT_MAX);
    if (call_has(act->call, FLAG_JSON)) {
        text_str(&out, "{\"items\":");
        table_json_items(&table, &out);
        text_fmt(&out, ",\"next\":null,\"done\":%zu,\"left\":%zu,\"more\":%s,\"dry_run\":%s}\n",
                done, picks->n - done, picks->more ? "true" : "false", dry ? "true" : "false");
    } else {
        table_text(&table, out_width(), &out);
        summary(action, done, picks, dry, &out);
    }
    return out_data(&out, done < picks->n && !dry ? EXIT_PARTIAL : EXIT_DONE);
}

// A single notification of which nothing fits: already so, or refused.
static int nothing_fits(
        const struct act *act, const struct action *action, const struct picks *picks)
{
    struct err err;
    const struct picked *last = &picks->rows[picks->n - 1];
    if (action->already && action->already(act, last)) {
        out_note(act->call, "already so: it is %s", delivery_state_name(last->state));
        return EXIT_DONE;
    }
    err_set(&err, ERR_CONFLICT, "%.200s", last->why);
    return out_fail(act->call, &err);
}

// Of a single notification what does not fit is not news: an older redrive, another channel.
static void drop_unfit(struct picks *picks)
{
    struct picks kept = {.rows = xcalloc(picks->n + 1, sizeof(struct picked))};
    struct picks rest = {.rows = xcalloc(picks->n + 1, sizeof(struct picked))};
    for (size_t i = 0; i < picks->n; i++) {
        struct picks *to = picks->rows[i].taken ? &kept : &rest;
        to->rows[to->n++] = picks->rows[i];
    }
    picks_fini(&rest);
    free(picks->rows);
    *picks = kept;
}

static int several(const struct act *act, const struct action *action, size_t n)
{
    struct err err;
    err_set(&err, ERR_CONFLICT, "there are %zu deliveries to %s: name one by --channel, or --yes",
            n, action->verb);
    return out_fail(act->call, &err);
}

static int with_picks(const struct act *act, const struct action *action,
        const struct filter *filter, struct picks *picks)
{
    struct err err = {0};
    bool dry = call_has(act->call, FLAG_DRY_RUN);
    size_t n = judge(act, action, picks);
    if (filter->one && n == 0)
        return nothing_fits(act, action, picks);
    if (filter->one)
        drop_unfit(picks);
    if (picks->n == 0 && !names_known(act->policy, filter->type, filter->provider, &err))
        return out_fail(act->call, &err);
    if (dry || n == 0)
        return tell(act, action, picks, dry);
    bool yes = call_has(act->call, FLAG_YES);
    if (filter->one && n > 1 && !action->asks_for_one && !yes)
        return several(act, action, n);
    if ((!filter->one || action->asks_for_one) && !yes) {
        if (ask_possible(act->call))
            show_first(action, picks);
        int code = ask_yes(act->call, "%s %zu of %zu%s?", action->verb, n, picks->n,
                picks->more ? " (--max; there may be more)" : "");
        if (code != EXIT_DONE)
            return code;
    }
    if (!do_all(act, action, picks, n, &err)) {
        tell(act, action, picks, false);
        return out_fail(act->call, &err);
    }
    return tell(act, action, picks, false);
}

int act_run(struct act *act, const struct action *action)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_PICKS struct picks picks = {0};
    struct filter filter;
    struct err err = {0};
    const struct call *call = act->call;
    act->why = call->values[FLAG_REASON];
    act->who = context_user();
    if (!act->why || !act->why[0] || strlen(act->why) > WHY_MAX) {
        err_set(&err, ERR_INPUT, "say why by --reason, in 1 to %d bytes: it is kept in the audit",
                WHY_MAX);
        return out_usage(call, &err);
    }
    if (!filter_read(call, action->fallback, &filter, &err))
        return out_usage(call, &err);
    filter.older = action->older;
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, operate_statements, OPERATE_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    AUTO_POLICY struct policy *policy =
            policy_store_load_from(context.database, "pawl_operator", 0, &policy_knowledge, &err);
    act->pg = pg;
    act->policy = policy;
    if (!policy || !picks_read(pg, &filter, &picks, &err) ||
            (action->look && !action->look(act, &picks, &err)))
        return out_fail(call, &err);
    return with_picks(act, action, &filter, &picks);
}
