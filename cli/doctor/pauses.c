// What a person holds back, and how much waits for it.
#include "cli/doctor/findings.h"
#include "cli/gates/gates.h"
#include "cli/gates_sql.h"
#include "cli/shell.h"

#define PAUSES_MAX 100
#define WORD_MAX 400

static void judge(struct visit *visit, int row)
{
    const struct pg *pg = visit->pg;
    AUTO_TEXT struct text what = {0};
    AUTO_TEXT struct text word = {0};
    text_init(&what, WORD_MAX);
    text_init(&word, WORD_MAX);
    pause_word(pg_int(pg, 0, row, 0), pg_bytes(pg, 0, row, 1), &what);
    shell_word(&word, text_slice(&what));
    struct slice author = pg_bytes(pg, 0, row, 5), why = pg_bytes(pg, 0, row, 6);
    found(visit, FINDING_WARN, "pauses", "%s is paused and holds %lld deliveries (%.*s: %.*s)",
            text_cstr(&what), (long long)pg_big(pg, 0, row, 7), (int)author.len,
            (const char *)author.ptr, (int)why.len, (const char *)why.ptr);
    mend(visit, "pawl resume %s", text_cstr(&word));
}

void visit_pauses(struct visit *visit)
{
    struct err err = {0};
    if (!visit->pg || !pg_alive(visit->pg))
        return;
    int statement = (int)pg_stmt_count(visit->pg);
    if (!pg_prepare(visit->pg, &gates_statements[GATES_PAUSES], 1, context_soon(), &err)) {
        found_err(visit, "pauses", &err);
        mend(visit, "pawl migrate up");
        return;
    }
    pg_add(visit->pg, statement);
    pg_p_int(visit->pg, PAUSES_MAX);
    if (!pg_fly(visit->pg, context_soon(), &err)) {
        found_err(visit, "pauses", &err);
        return;
    }
    size_t before = visit->findings.n;
    for (int row = 0; row < pg_rows(visit->pg, 0); row++)
        if (pg_bool(visit->pg, 0, row, 4))
            judge(visit, row);
    if (visit->findings.n == before)
        found(visit, FINDING_OK, "pauses", "nothing is paused");
}
