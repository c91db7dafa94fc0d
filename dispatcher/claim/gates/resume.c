#include "dispatcher/claim/gates/resume.h"

#include "common/config/policy.h"
#include "common/log.h"
#include "dispatcher/dispatcher_sql.h"

enum { CALL_PAUSES = 1, CALL_RESUME }; // after BEGIN

struct resumer {
    struct pauses *pauses;
    const struct policy *(*sender)(void *user);
    void *user;
    int resumed; // by the last run
};

struct resumer *resumer_new(
        struct pauses *pauses, const struct policy *(*sender)(void *user), void *user)
{
    struct resumer *r = xcalloc(1, sizeof *r);
    *r = (struct resumer){.pauses = pauses, .sender = sender, .user = user};
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

// Pauses of providers that hold nothing on a channel, though they go on.
static void put_idle(const struct resumer *r, struct pg *pg, bool channels)
{
    const struct policy *policy = r->sender(r->user);
    pg_p_ints(pg);
    for (size_t i = 0; policy && i < r->pauses->n; i++) {
        const struct pause *pause = &r->pauses->rows[i];
        if (pause->kind != PAUSE_PROVIDER)
            continue;
        for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
            if (!pauses_holds_on(r->pauses, pause, &policy->channels[kind]))
                pg_e_int(pg, channels ? kind : pause->id);
    }
}

static enum work start(void *self, struct pg *pg, struct err *err)
{
    struct resumer *r = self;
    r->resumed = 0;
    pg_add_begin(pg);
    pg_add(pg, SQL_PAUSES);
    pg_add(pg, SQL_RESUME);
    pg_p_int(pg, RESUME_MAX);
    put_idle(r, pg, false);
    put_idle(r, pg, true);
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
