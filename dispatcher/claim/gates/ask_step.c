// What became of a message on the channel that its step names by `unless`.
#include "dispatcher/claim/gates/questions.h"
#include "dispatcher/dispatcher_sql.h"

static void e_bucket(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, m->delivery->bucket);
}

static void e_notification(struct pg *pg, const struct member *m)
{
    pg_e_uuid(pg, m->delivery->notification);
}

static void e_other(struct pg *pg, const struct member *m)
{
    const struct step *step = message_step(m->facts.message, m->delivery->channel);
    pg_e_int(pg, step ? (int32_t)step->unless_channel : 0);
}

void ask_step(struct pg *pg, const struct asking *asking)
{
    pg_add(pg, SQL_UNLESS);
    asking_column(pg, asking, pg_p_ints, e_bucket);
    asking_column(pg, asking, pg_p_uuids, e_notification);
    asking_column(pg, asking, pg_p_ints, e_other);
}

void hear_step(const struct pg *pg, int call, int row, struct member *member)
{
    struct other_channel *other = &member->facts.other;
    other->accepted = pg_bool(pg, call, row, 1);
    other->delivered = pg_bool(pg, call, row, 2);
    other->due = pg_bool(pg, call, row, 3);
    other->wire = pg_bool(pg, call, row, 4);
}
