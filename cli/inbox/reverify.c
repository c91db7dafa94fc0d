// Requests that are authentic after all go through the receiver's own code: its verify, its
// reading, its transaction, its login.
#include "cli/inbox/reverify.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/inbox/again.h"
#include "cli/out.h"
#include "cli/reverify_sql.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/log.h"
#include "receiver/accept/worker.h"
#include "receiver/door.h"
#include "receiver/published.h"
#include "receiver/verify/verify.h"

#define OUTPUT_MAX (16 << 20)
#define SINCE_S (7 * 86400)
#define DEADLINE_MS 10000
#define CONNECT_MS 5000
#define ROWS_MAX 1000000
#define KEYS_WAIT_MS 10000 // for the keys of all requests together
enum { PAGE = 64 };

struct totals {
    int64_t requests, admitted, refused, cut, failed;
    struct again_outcomes events;
};

struct reverify {
    const struct call *call;
    bool dry;
    int64_t since_s, left; // requests that may still be looked at
    struct accept_options options;
    struct worker worker;
    struct published *published; // keys that providers publish
    size_t body_max;
    int64_t wait_ms;
    struct pg *pg; // reads while the worker's connection writes
    struct table table;
    struct totals totals;
};

static bool connect_as_receiver(struct reverify *reverify, struct err *err)
{
    const struct pg_options options = {.conninfo = reverify->options.conninfo,
            .role = "pawl_receiver",
            .application = "pawl reverify",
            .stmts = reverify_statements,
            .n_stmts = REVERIFY_COUNT,
            .connect_timeout_ms = CONNECT_MS,
            .statement_timeout_ms = DEADLINE_MS};
    reverify->pg = pg_connect(&options, err);
    if (!reverify->pg)
        return false;
    if (!worker_ready(&reverify->worker))
        return err_set(err, ERR_TEMP, "the receiver's part could not start: see the line above");
    published_watch(reverify->published, reverify->worker.policy);
    return true;
}

static bool ask_page(
        struct reverify *reverify, int source_id, const struct again *last, struct err *err)
{
    struct pg *pg = reverify->pg;
    pg_add(pg, REVERIFY_KEPT_REQUESTS);
    pg_p_big(pg, reverify->since_s);
    pg_p_int(pg, source_id);
    pg_p_big(pg, last->received_us);
    pg_p_uuid(pg, last->id);
    pg_p_int(pg, reverify->left < PAGE ? (int32_t)reverify->left : PAGE);
    return pg_fly(pg, clock_mono_ms() + DEADLINE_MS, err);
}

// Hands what is authentic to accept, as one batch in the order it came.
static void admit(struct reverify *reverify, struct again page[], size_t n)
{
    struct arrival *first = NULL, **link = &first;
    for (size_t i = 0; i < n; i++) {
        if (!page[i].arrival)
            continue;
        page[i].arrival->deadline_ms = clock_mono_ms() + DEADLINE_MS;
        *link = page[i].arrival;
        link = &page[i].arrival->next;
    }
    if (first && !reverify->dry)
        worker_process(&reverify->worker, first);
}

static void write_admitted(
        struct reverify *reverify, const struct arrival *arrival, struct text *out)
{
    struct again_outcomes outcomes = {0};
    if (reverify->dry) {
        text_str(out, "would be admitted");
        reverify->totals.admitted++;
    } else if (arrival->answer == ANSWER_UNAVAILABLE || arrival->answer == ANSWER_UNREADABLE) {
        text_str(out, arrival->answer == ANSWER_UNREADABLE ? "unreadable" : "not stored");
        reverify->totals.failed++;
    } else {
        again_count(arrival, &outcomes);
        again_count(arrival, &reverify->totals.events);
        again_write(&outcomes, out);
        reverify->totals.admitted++;
    }
}

static void write_refused(struct reverify *reverify, const struct again *again, struct text *out)
{
    if (!again->now) {
        text_str(out, "its body is cut: it has to be sent again");
        reverify->totals.cut++;
        return;
    }
    text_str(out, again->hidden ? "still refused (a secret that it carried is not kept)"
                                : "still refused");
    reverify->totals.refused++;
}

static void add_row(struct reverify *reverify, const struct again *again)
{
    char at[32], hex[KEY_HEX];
    AUTO_TEXT struct text outcome;
    text_init(&outcome, TABLE_CELL_MAX);
    reverify->totals.requests++;
    if (again->arrival)
        write_admitted(reverify, again->arrival, &outcome);
    else
        write_refused(reverify, again, &outcome);
    key_hex(again->id, hex);
    table_cell(&reverify->table, slice_of(clock_rfc3339(again->received_us, at)));
    table_cell(&reverify->table, slice_of(hex));
    table_cell(&reverify->table, slice_of(again->before));
    table_cell(&reverify->table, slice_of(again->now ? again->now : "not verified"));
    table_cell(&reverify->table, text_slice(&outcome));
}

// One page of this source's requests; *ret_n tells how many there were.
static bool run_page(struct reverify *reverify, const struct source *source, struct again *last,
        size_t *ret_n, struct err *err)
{
    struct again page[PAGE];
    if (!ask_page(reverify, source->id, last, err))
        return false;
    size_t n = (size_t)pg_rows(reverify->pg, 0);
    const struct again_how how = {source, reverify->body_max, &reverify->wait_ms};
    for (size_t i = 0; i < n; i++)
        again_verify(reverify->pg, (int)i, &how, &page[i]);
    admit(reverify, page, n);
    for (size_t i = 0; i < n; i++) {
        add_row(reverify, &page[i]);
        arrival_free(page[i].arrival);
        page[i].arrival = NULL;
        *last = page[i];
    }
    *ret_n = n;
    return true;
}

// The policy may be replaced while a page is admitted, so the page's own is held.
static bool run_next(struct reverify *reverify, struct again *last, size_t *ret_n, struct err *err)
{
    const char *name = reverify->call->values[FLAG_SOURCE];
    struct policy *policy = policy_ref(reverify->worker.policy);
    const struct source *source = policy_source(policy, slice_of(name));
    bool ok = source ? run_page(reverify, source, last, ret_n, err)
                     : err_set(err, ERR_NOTFOUND, "the policy has no source '%.80s'", name);
    policy_unref(policy);
    return ok;
}

static bool run_all(struct reverify *reverify, struct err *err)
{
    struct again last = {0};
    size_t n = PAGE;
    while (n == PAGE && reverify->left > 0) {
        if (!run_next(reverify, &last, &n, err))
            return false;
        reverify->left -= (int64_t)n;
    }
    return true;
}

static void totals_json(const struct totals *totals, bool dry, struct text *out)
{
    text_fmt(out,
            "{\"requests\":%lld,\"%s\":%lld,\"refused\":%lld,\"cut\":%lld,\"failed\":%lld,"
            "\"events\":{",
            (long long)totals->requests, dry ? "would_be_admitted" : "admitted",
            (long long)totals->admitted, (long long)totals->refused, (long long)totals->cut,
            (long long)totals->failed);
    for (int i = EVENT_ACCEPTED; i < AGAIN_OUTCOMES; i++)
        text_fmt(out, "%s\"%s\":%zu", i > EVENT_ACCEPTED ? "," : "",
                event_outcome_name((enum event_outcome)i), totals->events.n[i]);
    text_str(out, "}}");
}

static void totals_text(const struct totals *totals, bool dry, struct text *out)
{
    text_fmt(out, "%lld kept requests: %lld %s", (long long)totals->requests,
            (long long)totals->admitted, dry ? "would be admitted" : "admitted");
    if (totals->admitted > 0 && !dry) {
        text_str(out, " (");
        again_write(&totals->events, out);
        text_char(out, ')');
    }
    text_fmt(out, ", %lld still refused", (long long)totals->refused);
    if (totals->cut > 0)
        text_fmt(out, ", %lld cut", (long long)totals->cut);
    if (totals->failed > 0)
        text_fmt(out, ", %lld could not be stored", (long long)totals->failed);
    text_char(out, '\n');
}

static int tell(const struct reverify *reverify)
{
    AUTO_TEXT struct text out;
    text_init(&out, OUTPUT_MAX);
    if (call_has(reverify->call, FLAG_JSON)) {
        text_str(&out, "{\"items\":");
        table_json_items(&reverify->table, &out);
        text_str(&out, ",\"next\":null,\"totals\":");
        totals_json(&reverify->totals, reverify->dry, &out);
        text_str(&out, "}\n");
    } else {
        table_text(&reverify->table, out_width(), &out);
        totals_text(&reverify->totals, reverify->dry, &out);
    }
    if (reverify->totals.requests > TABLE_ROWS_MAX)
        out_note(reverify->call, "the first %d of them are listed; the totals are of all",
                TABLE_ROWS_MAX);
    return out_data(&out, reverify->totals.failed > 0 ? EXIT_PARTIAL : EXIT_DONE);
}

static bool read_flags(struct reverify *reverify, struct err *err)
{
    reverify->since_s = SINCE_S;
    reverify->left = ROWS_MAX;
    reverify->wait_ms = KEYS_WAIT_MS;
    if (!call_has(reverify->call, FLAG_SOURCE))
        return err_set(err, ERR_INPUT, "name the source: --source NAME");
    return flag_duration(reverify->call, FLAG_SINCE, &reverify->since_s, err) &&
           flag_number(reverify->call, FLAG_LIMIT, 1, ROWS_MAX, &reverify->left, err);
}

static int run(struct reverify *reverify, const struct context *context)
{
    static const struct column columns[] = {{"at", COLUMN_TEXT}, {"id", COLUMN_TEXT},
            {"before", COLUMN_TEXT}, {"now", COLUMN_TEXT}, {"outcome", COLUMN_TEXT}};
    struct err err = {0};
    reverify->options = (struct accept_options){.conninfo = context->database,
            .credentials = context->host->credentials,
            .known = policy_knowledge,
            .pointers = door_pointers,
            .policies = policy_box_new(),
            .deadline_ms = DEADLINE_MS};
    reverify->body_max = context->host->receiver.body_max;
    worker_init(&reverify->worker, &reverify->options);
    reverify->worker.run_again = true; // by an earlier run
    table_init(&reverify->table, columns, ARRAY_LEN(columns));
    reverify->published = published_start(context->host, &err);
    if (reverify->published)
        door_use(published_keys(reverify->published));
    bool ok = reverify->published && connect_as_receiver(reverify, &err) && run_all(reverify, &err);
    int code = ok || reverify->totals.requests > 0 ? tell(reverify) : EXIT_DONE;
    if (!ok)
        code = out_fail(reverify->call, &err);
    table_fini(&reverify->table);
    pg_close(reverify->pg);
    door_use(NULL);
    published_stop(reverify->published);
    worker_fini(&reverify->worker);
    policy_box_free(reverify->options.policies);
    return code;
}

int reverify_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct reverify reverify = {.call = call, .dry = call_has(call, FLAG_DRY_RUN)};
    struct err err = {0};
    if (!read_flags(&reverify, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!context.host) {
        err_set(&err, ERR_FATAL, "the secrets are where the host file says: name one by --config");
        return out_fail(call, &err);
    }
    log_init("reverify", false, call_has(call, FLAG_VERBOSE) ? LOG_LVL_INFO : LOG_LVL_WARNING);
    return run(&reverify, &context);
}
