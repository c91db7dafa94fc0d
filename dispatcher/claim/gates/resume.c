#include "dispatcher/claim/gates/resume.h"

#include "common/config/policy.h"
#include "common/log.h"
#include "dispatcher/dispatcher_sql.h"

enum { CALL_PAUSES = 1, CALL_RESUME }; // after BEGIN

struct resumer {
    struct pauses *pauses;
    int resumed; // by the last run
};

struct resumer *resumer_new(struct pauses *pauses)
{
    struct resumer *r = xcalloc(1, sizeof *r);
    r->pauses = pauses;
    return r;
}

void resumer_free(struct resumer *r)
{
    free(r);
}

bool resumer_full(const struct resumer *r)
{
    return r->resumed >= RESUME_MAX;
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct resumer *r = self;
    r->resumed = 0;
    pg_add_begin(pg);
    pg_add(pg, SQL_PAUSES);
    pg_add(pg, SQL_RESUME);
    pg_p_int(pg, RESUME_MAX);
    pg_add(pg, SQL_PAUSES_DROP);
    pg_add_commit(pg);
    return pg_launch(pg, err) ? WORK_FLYING : WORK_FAILED;
}

static enum work next(void *self, struct pg *pg, struct err *err)
{
    struct resumer *r = self;
    (void)err;
    pauses_read(r->pauses, pg, CALL_PAUSES);
    for (int row = 0; row < pg_rows(pg, CALL_RESUME); row++) {
        int n = pg_int(pg, CALL_RESUME, row, 1);
        r->resumed += n;
        LOG(INFO, "pause.resumed", "what a pause held is due again",
                L_STR("channel", channel_name((enum channel_kind)pg_int(pg, CALL_RESUME, row, 0))),
                L_INT("deliveries", n));
    }
    return WORK_DONE;
}

static void fail(void *self, struct pg *pg)
{
    (void)self;
    (void)pg;
}

struct work_kind resumer_work(struct resumer *resumer)
{
    return (struct work_kind){
            .name = "resume", .self = resumer, .start = start, .next = next, .fail = fail};
}
