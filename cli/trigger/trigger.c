#include "cli/trigger/trigger.h"

#include "cli/context.h"
#include "cli/fire_sql.h"
#include "cli/flags.h"
#include "cli/format.h"
#include "cli/out.h"
#include "cli/policy/active.h"
#include "cli/table.h"
#include "cli/trigger/body.h"
#include "cli/trigger/fire.h"
#include "receiver/arrival.h"

#include <stdio.h>

#define OUTPUT_MAX (4 << 20)

// Secrets of other sources may be missing; the one that is needed is asked for when signing.
static void load_secrets(const struct context *context, struct policy *policy)
{
    struct diag diag = {0};
    const char *dir = credentials_dir(context);
    if (dir && !secrets_load(policy, dir, SECRETS_OF_SOURCES, &diag))
        diag.errors++;
    diag_fini(&diag);
}

struct plan {
    char source[64];
    struct fire_wish wish;
    struct http_target target;
};

static bool read_counts(const struct call *call, struct plan *plan, struct err *err)
{
    int64_t copies = 1, parallel = 0;
    if (!flag_number(call, FLAG_COPIES, 1, HTTP_COPIES_MAX, &copies, err))
        return false;
    parallel = copies < HTTP_PARALLEL_MAX ? copies : HTTP_PARALLEL_MAX;
    if (!flag_number(call, FLAG_PARALLEL, 1, HTTP_PARALLEL_MAX, &parallel, err))
        return false;
    plan->wish.copies = (size_t)copies;
    plan->wish.parallel = (size_t)parallel;
    return true;
}

static bool read_plan(
        const struct call *call, const struct context *context, struct plan *plan, struct err *err)
{
    const char *colon = strchr(call->args[0], ':');
    const char *id = call->values[FLAG_ID], *order = call->values[FLAG_ORDER];
    if (!colon || (size_t)(colon - call->args[0]) >= sizeof plan->source)
        return err_set(err, ERR_INPUT, "'%.100s' is not SOURCE:TYPE", call->args[0]);
    if ((id && (!*id || strlen(id) > EVENT_ID_MAX)) ||
            (order && (!*order || strlen(order) > EVENT_ID_MAX)))
        return err_set(err, ERR_INPUT, "an id has 1 to %d bytes", EVENT_ID_MAX);
    for (size_t i = 0; i < call->n_sets; i++)
        if (!body_set_ok(call->sets[i], err))
            return false;
    const char *to = call->values[FLAG_TO_N];
    if (!to && context->host && context->host->receiver.n_listen > 0)
        to = context->host->receiver.listen[0];
    snprintf(
            plan->source, sizeof plan->source, "%.*s", (int)(colon - call->args[0]), call->args[0]);
    plan->wish = (struct fire_wish){.source = plan->source,
            .type = colon + 1,
            .order = order ? order : "1001",
            .event_id = id,
            .email = TRIGGER_EMAIL,
            .sets = call->sets,
            .n_sets = call->n_sets};
    if (!to)
        return err_set(err, ERR_INPUT, "which receiver? name it by --to http://host:port");
    return http_target_of(to, &plan->target, err) && read_counts(call, plan, err);
}

static void add_rows(const struct fire *fire, struct table *table)
{
    for (size_t i = 0; i < fire->n; i++) {
        const struct fire_row *row = &fire->rows[i];
        char age[FORMAT_MAX];
        bool known = row->outcome != EVENT_NONE;
        table_cell(table, slice_of(fire->event_id));
        table_cell_fmt(table, "%d", row->answer.status);
        table_cell(table, known ? slice_of(event_outcome_name((enum event_outcome)row->outcome))
                                : (struct slice){0});
        table_cell_fmt(table, "%.1f", (double)row->answer.took_us / 1000.0);
        if (known && row->age_us > 0)
            table_cell_fmt(table, "first seen %s ago", format_age(row->age_us, age));
        else
            table_cell(table, row->answer.why[0] ? slice_of(row->answer.why) : (struct slice){0});
    }
}

static size_t failed(const struct fire *fire)
{
    size_t n = 0;
    for (size_t i = 0; i < fire->n; i++)
        n += fire->rows[i].answer.status / 100 != 2;
    return n;
}

static bool has_status(const struct fire *fire, int status)
{
    for (size_t i = 0; i < fire->n; i++)
        if (fire->rows[i].answer.status == status)
            return true;
    return false;
}

// ", 2 parked": what was neither taken nor caught.
static void tell_others(const struct fire *fire, struct text *out)
{
    for (int outcome = EVENT_REPLAY; outcome <= EVENT_UNMAPPED; outcome++)
        if (fire_count(fire, outcome) > 0)
            text_fmt(out, ", %zu %s", fire_count(fire, outcome),
                    event_outcome_name((enum event_outcome)outcome));
}

static size_t count_others(const struct fire *fire)
{
    size_t n = 0;
    for (int outcome = EVENT_REPLAY; outcome <= EVENT_UNMAPPED; outcome++)
        n += fire_count(fire, outcome);
    return n;
}

static int show(const struct call *call, const struct fire *fire)
{
    static const struct column columns[] = {{"event", COLUMN_TEXT}, {"status", COLUMN_NUMBER},
            {"outcome", COLUMN_TEXT}, {"ms", COLUMN_NUMBER}, {"note", COLUMN_TEXT}};
    size_t accepted = fire_count(fire, EVENT_ACCEPTED), bad = failed(fire);
    size_t caught = fire_count(fire, EVENT_DUPLICATE) + fire_count(fire, EVENT_MISMATCH);
    AUTO_TABLE struct table table = {0};
    AUTO_TEXT struct text out = {0};
    AUTO_TEXT struct text rest = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    text_init(&out, OUTPUT_MAX);
    text_init(&rest, OUTPUT_MAX);
    add_rows(fire, &table);
    if (call_has(call, FLAG_JSON)) {
        text_fmt(&out,
                "{\"copies\":%zu,\"accepted\":%zu,\"caught\":%zu,\"other\":%zu,\"failed\":%zu,"
                "\"items\":",
                fire->n, accepted, caught, count_others(fire), bad);
        table_json_items(&table, &out);
        text_str(&out, "}\n");
    } else {
        table_text(&table, out_width(), &out);
    }
    int code = out_data(&out, bad == 0        ? EXIT_DONE
                              : bad < fire->n ? EXIT_PARTIAL
                                              : EXIT_UNAVAILABLE);
    tell_others(fire, &rest);
    if (bad < fire->n)
        text_fmt(&rest, "            next: %s story %s", out_pawl(call).text, fire->event_id);
    out_note(call, "%zu cop%s: %zu accepted, %zu caught at inbox%s", fire->n,
            fire->n == 1 ? "y" : "ies", accepted, caught, text_cstr(&rest));
    if (has_status(fire, 401))
        out_note(call, "401: the receiver has another secret; it reads the files with a new policy "
                       "version and at SIGHUP");
    return code;
}

static int fire_all(const struct call *call, const struct context *context, const struct plan *plan)
{
    struct err err = {0}, ignored;
    AUTO_FIRE struct fire fire = {0};
    if (!fire_load(&plan->wish, &fire, &err))
        return out_fail(call, &err);
    AUTO_PG struct pg *pg = context_connect(context, fire_statements, FIRE_COUNT, &ignored);
    bool asked = pg && fire_before(&fire, pg, 0, &ignored);
    fire_send(&fire, &plan->target, plan->wish.parallel);
    if (!asked || !fire_after(&fire, pg, 0, &ignored))
        out_note(call, "what became of them is not known: %s", ignored.msg);
    return show(call, &fire);
}

int trigger_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct plan plan = {0};
    struct err err = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!read_plan(call, &context, &plan, &err))
        return out_usage(call, &err);
    AUTO_POLICY struct policy *policy = policy_active(call, &context, &err);
    if (!policy)
        return out_fail(call, &err);
    load_secrets(&context, policy);
    plan.wish.policy = policy;
    return fire_all(call, &context, &plan);
}
