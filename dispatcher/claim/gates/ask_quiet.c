// Whether it is a quiet hour where the recipient is: time zones are the database's matter.
#include "dispatcher/claim/gates/questions.h"
#include "dispatcher/dispatcher_sql.h"

#include <stdio.h>

static void e_at(struct pg *pg, const struct member *m)
{
    pg_e_big(pg, m->facts.now_us);
}

static void e_zone(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->facts.zone));
}

static void e_from(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->facts.message->quiet_from));
}

static void e_to(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->facts.message->quiet_to));
}

void ask_quiet(struct pg *pg, const struct asking *asking)
{
    pg_add(pg, SQL_QUIET);
    asking_column(pg, asking, pg_p_bigs, e_at);
    asking_column(pg, asking, pg_p_texts, e_zone);
    asking_column(pg, asking, pg_p_texts, e_from);
    asking_column(pg, asking, pg_p_texts, e_to);
}

void hear_quiet(const struct pg *pg, int call, int row, struct member *member)
{
    struct gate_facts *facts = &member->facts;
    if (pg_null(pg, call, row, 1))
        return;
    struct slice wall = pg_bytes(pg, call, row, 2);
    facts->quiet_until_us = pg_big(pg, call, row, 1);
    snprintf(facts->quiet_wall, sizeof facts->quiet_wall, "%.*s", (int)wall.len,
            (const char *)wall.ptr);
}
