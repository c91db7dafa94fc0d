// Whether a newer message of its collapse id took a delivery's place, or an older one is on the
// wire.
#include "dispatcher/claim/gates/questions.h"
#include "dispatcher/dispatcher_sql.h"

enum { COL_MEMBER, COL_CHANNEL, COL_STATE };

void ask_newer(struct pg *pg, const struct asking *asking)
{
    pg_add(pg, SQL_COLLAPSE);
    asking_names(pg, asking);
}

void hear_newer(const struct pg *pg, int call, int row, struct member *member)
{
    bool ended = pg_int(pg, call, row, COL_STATE) >= 0;
    member->facts.newer.ended |= ended;
    member->facts.newer.waits |= !ended;
}
