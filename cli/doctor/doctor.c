#include "cli/doctor/doctor.h"

#include "cli/doctor/findings.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/json/scan.h"

#include <stdarg.h>
#include <stdio.h>

#define OUTPUT_MAX (4 << 20)
#define FINDINGS_MAX 1000
#define SAYS_MAX 1200

static const char *const verdict_words[] = {[FINDING_OK] = "ok",
        [FINDING_NOTE] = "note",
        [FINDING_WARN] = "warn",
        [FINDING_FAIL] = "fail"};

void findings_fini(struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        free(findings->rows[i].says);
        free(findings->rows[i].mend);
    }
    free(findings->rows);
    *findings = (struct findings){0};
}

void found(
        struct visit *visit, enum finding_verdict verdict, const char *check, const char *fmt, ...)
{
    struct findings *findings = &visit->findings;
    char says[SAYS_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(says, sizeof says, fmt, args);
    va_end(args);
    findings->fails += verdict == FINDING_FAIL;
    if (findings->n == FINDINGS_MAX)
        return;
    findings->rows = xrealloc(findings->rows, (findings->n + 1) * sizeof *findings->rows);
    findings->rows[findings->n++] = (struct finding){
            .verdict = verdict, .check = check, .says = xstrdup(says), .mend = xstrdup("")};
}

void mend(struct visit *visit, const char *fmt, ...)
{
    struct finding *last = &visit->findings.rows[visit->findings.n - 1];
    char command[SAYS_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(command, sizeof command, fmt, args);
    va_end(args);
    free(last->mend);
    last->mend = xstrdup(command);
}

void found_err(struct visit *visit, const char *check, const struct err *err)
{
    found(visit, FINDING_FAIL, check, "%s", err->msg);
}

static void in_text(const struct findings *findings, struct text *out)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *row = &findings->rows[i];
        text_fmt(out, "%-4s  %-11s  ", verdict_words[row->verdict], row->check);
        text_add_shown(out, slice_of(row->says));
        text_char(out, '\n');
        if (*row->mend) {
            text_str(out, "                   mend: ");
            text_add_shown(out, slice_of(row->mend));
            text_char(out, '\n');
        }
    }
}

static void in_json(const struct findings *findings, struct text *out)
{
    text_str(out, "{\"items\":[");
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *row = &findings->rows[i];
        text_fmt(out, "%s{\"check\":\"%s\",\"verdict\":\"%s\",\"says\":", i ? "," : "", row->check,
                verdict_words[row->verdict]);
        json_quote(out, slice_of(row->says));
        text_str(out, ",\"mend\":");
        json_quote(out, slice_of(row->mend));
        text_char(out, '}');
    }
    text_str(out, "],\"next\":null}\n");
}

static int tell(const struct call *call, const struct findings *findings)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON))
        in_json(findings, &out);
    else
        in_text(findings, &out);
    return out_data(&out, findings->fails ? EXIT_NEGATIVE : EXIT_DONE);
}

int doctor_command(const struct call *call)
{
    static void (*const visits[])(struct visit *) = {visit_database, visit_schema, visit_rights,
            visit_policy, visit_processes, visit_credentials, visit_attachments, visit_channels,
            visit_vacuum, visit_work, visit_pauses};
    AUTO_CONTEXT struct context context = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    struct visit visit = {.context = &context};
    for (size_t i = 0; i < ARRAY_LEN(visits); i++)
        visits[i](&visit);
    code = tell(call, &visit.findings);
    pg_close(visit.pg);
    policy_unref(visit.policy);
    findings_fini(&visit.findings);
    return code;
}
