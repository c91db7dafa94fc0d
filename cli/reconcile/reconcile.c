#include "cli/reconcile/reconcile.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/reconcile/owed.h"
#include "cli/reconcile_sql.h"
#include "cli/shell.h"
#include "common/clock.h"
#include "common/json/scan.h"

#define OUTPUT_MAX (1 << 20)
#define SINCE_S (7 * 86400)
#define ONE_MS 65000 // a little more than reconcile/session.sql allows a statement
#define CANCELED "57014"

// What a statement is asked with, in this order.
enum { NOTHING = 0, SINCE = 1, KEEP = 2, OWED = 4, STEPS = 8, CAPS = 16 };

static const struct invariant {
    int statement;
    const char *name, *holds, *command;
    unsigned asks;
} invariants[] = {
#define INVARIANT(id, name, asks, holds, command) {RECONCILE_##id, name, holds, command, asks},
#include "cli/reconcile/invariants.def"
#undef INVARIANT
};

enum verdict { VERDICT_OK, VERDICT_BROKEN, VERDICT_UNJUDGED };
static const char *const verdict_words[] = {
        [VERDICT_OK] = "ok", [VERDICT_BROKEN] = "broken", [VERDICT_UNJUDGED] = "unjudged"};

// The columns of every answer.
enum { JUDGED, BROKEN, BEYOND, EXAMPLES, REMARK };

struct run {
    const struct call *call;
    struct pg *pg;
    struct owed owed;
    int64_t since_s;
    struct text out;
    size_t n, counts[ARRAY_LEN(verdict_words)];
};

static bool ask(struct run *run, const struct invariant *invariant, struct err *err)
{
    pg_add(run->pg, invariant->statement);
    if (invariant->asks & SINCE)
        pg_p_big(run->pg, run->since_s);
    if (invariant->asks & KEEP)
        pg_p_big(run->pg, run->owed.keep_keys_s);
    if (invariant->asks & OWED)
        owed_params(run->pg, &run->owed.messages);
    if (invariant->asks & STEPS)
        owed_params(run->pg, &run->owed.steps);
    if (invariant->asks & CAPS)
        owed_caps_params(run->pg, &run->owed);
    return pg_fly(run->pg, clock_mono_ms() + ONE_MS, err);
}

static struct slice remark_of(const struct pg *pg)
{
    return pg_null(pg, 0, 0, REMARK) ? SLICE("") : pg_bytes(pg, 0, 0, REMARK);
}

static void example(const struct run *run, const struct invariant *invariant, size_t i,
        struct text *ret_command)
{
    text_fmt(ret_command, "pawl %s ", invariant->command);
    shell_word(ret_command, pg_array_bytes(run->pg, 0, 0, EXAMPLES, i));
}

static void answer_text(
        struct run *run, const struct invariant *invariant, enum verdict verdict, const char *why)
{
    struct text *out = &run->out;
    text_fmt(out, "%-8s  %-18s  %s", verdict_words[verdict], invariant->name, invariant->holds);
    if (verdict == VERDICT_UNJUDGED) {
        text_fmt(out, ": %s\n", why);
        return;
    }
    long long judged = pg_big(run->pg, 0, 0, JUDGED), broken = pg_big(run->pg, 0, 0, BROKEN);
    if (broken)
        text_fmt(out, ": not so for %lld of %lld", broken, judged);
    else
        text_fmt(out, " (%lld)", judged);
    if (pg_big(run->pg, 0, 0, BEYOND))
        text_fmt(out, "; %lld can't be judged any more, what tells of them was emptied",
                (long long)pg_big(run->pg, 0, 0, BEYOND));
    struct slice remark = remark_of(run->pg);
    if (remark.len)
        text_fmt(out, "; %.*s", (int)remark.len, (const char *)remark.ptr);
    text_char(out, '\n');
    for (size_t i = 0; i < pg_array_len(run->pg, 0, 0, EXAMPLES); i++) {
        text_str(out, "          ");
        example(run, invariant, i, out);
        text_char(out, '\n');
    }
}

static void json_examples(struct run *run, const struct invariant *invariant)
{
    text_str(&run->out, ",\"examples\":[");
    for (size_t i = 0; i < pg_array_len(run->pg, 0, 0, EXAMPLES); i++) {
        AUTO_TEXT struct text command = {0};
        text_init(&command, 8192);
        example(run, invariant, i, &command);
        text_str(&run->out, i ? "," : "");
        json_quote(&run->out, text_slice(&command));
    }
    text_char(&run->out, ']');
}

static void answer_json(
        struct run *run, const struct invariant *invariant, enum verdict verdict, const char *why)
{
    struct text *out = &run->out;
    text_fmt(out, "%s{\"name\":\"%s\",\"verdict\":\"%s\",\"holds\":", run->n ? "," : "",
            invariant->name, verdict_words[verdict]);
    json_quote(out, slice_of(invariant->holds));
    text_str(out, ",\"remark\":");
    json_quote(out, verdict == VERDICT_UNJUDGED ? slice_of(why) : remark_of(run->pg));
    if (verdict != VERDICT_UNJUDGED) {
        text_fmt(out, ",\"judged\":%lld,\"broken\":%lld,\"out_of_reach\":%lld",
                (long long)pg_big(run->pg, 0, 0, JUDGED), (long long)pg_big(run->pg, 0, 0, BROKEN),
                (long long)pg_big(run->pg, 0, 0, BEYOND));
        json_examples(run, invariant);
    }
    text_char(out, '}');
}

// False when the database is gone; a statement that takes too long is a verdict.
static bool judge(struct run *run, const struct invariant *invariant, struct err *err)
{
    enum verdict verdict = VERDICT_UNJUDGED;
    if (ask(run, invariant, err))
        verdict = pg_big(run->pg, 0, 0, BROKEN) > 0 ? VERDICT_BROKEN : VERDICT_OK;
    else if (!pg_alive(run->pg) || strcmp(pg_sqlstate(run->pg), CANCELED) != 0)
        return false;
    const char *why = "it takes too long, ask for less by --since";
    if (call_has(run->call, FLAG_JSON))
        answer_json(run, invariant, verdict, why);
    else
        answer_text(run, invariant, verdict, why);
    run->n++;
    run->counts[verdict]++;
    return true;
}

static int finish(struct run *run)
{
    const size_t *counts = run->counts;
    if (call_has(run->call, FLAG_JSON))
        text_fmt(&run->out,
                "],\"next\":null,\"versions\":{\"unreadable\":%zu,\"older_left_out\":%s}}\n",
                run->owed.unreadable, run->owed.more ? "true" : "false");
    else
        text_fmt(&run->out, "%zu of %zu hold%s\n", counts[VERDICT_OK], run->n,
                counts[VERDICT_UNJUDGED] ? "; some took too long" : "");
    if (run->owed.unreadable)
        out_note(run->call, "%zu policy versions can't be read: what they owe was not judged",
                run->owed.unreadable);
    if (run->owed.more)
        out_note(run->call,
                "more than %d policy versions: what those before the newest %d owe was not judged; "
                "ask for less by --since",
                OWED_VERSIONS_MAX, OWED_VERSIONS_MAX);
    int code = counts[VERDICT_UNJUDGED] ? EXIT_LATER : EXIT_DONE;
    return out_data(&run->out, counts[VERDICT_BROKEN] ? EXIT_NEGATIVE : code);
}

static int judge_all(struct run *run)
{
    struct err err = {0};
    text_init(&run->out, OUTPUT_MAX);
    text_str(&run->out, call_has(run->call, FLAG_JSON) ? "{\"items\":[" : "");
    pg_add(run->pg, RECONCILE_SESSION);
    if (!pg_fly(run->pg, context_soon(), &err) ||
            !owed_load(run->pg, RECONCILE_VERSIONS, run->since_s, &run->owed, &err))
        return out_fail(run->call, &err);
    for (size_t i = 0; i < ARRAY_LEN(invariants); i++)
        if (!judge(run, &invariants[i], &err))
            return out_fail(run->call, &err);
    return finish(run);
}

int reconcile_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    struct run run = {.call = call, .since_s = SINCE_S};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!flag_duration(call, FLAG_SINCE, &run.since_s, &err))
        return out_usage(call, &err);
    AUTO_PG struct pg *pg = context_connect(&context, reconcile_statements, RECONCILE_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    run.pg = pg;
    code = judge_all(&run);
    owed_fini(&run.owed);
    text_fini(&run.out);
    return code;
}
