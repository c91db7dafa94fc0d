#include "cli/operate/act.h"
#include "cli/operate/operate.h"
#include "cli/operate_sql.h"

static bool foretell(const struct act *act, const struct picked *p, struct text *out)
{
    (void)act;
    if (p->state == DELIVERY_DUE) {
        text_str(out, p->unknown_tries > 0 ? "not tried again; unknown, since a try of it may have "
                                             "been taken"
                                           : "never sent");
        return true;
    }
    if (p->state == DELIVERY_WIRE)
        text_str(out, "it is on the wire");
    else
        text_fmt(out, "it has ended already: it is %s", delivery_state_name(p->state));
    return false;
}

static void add(const struct act *act, struct picked *const *rows, size_t n)
{
    struct pg *pg = act->pg;
    pg_add(pg, OPERATE_CANCEL);
    act_names(pg, rows, n);
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, rows[i]->tries);
    pg_p_text(pg, slice_of(act->who));
    pg_p_text(pg, slice_of(act->why));
}

static void take(const struct act *act, struct picked *const *rows, size_t n)
{
    act_mark(act->pg, 1, rows, n);
}

static bool already(const struct act *act, const struct picked *p)
{
    (void)act;
    return p->state == DELIVERY_CANCELLED;
}

int deliveries_cancel(const struct call *call)
{
    static const struct action action = {.verb = "cancel",
            .done = "cancelled",
            .fallback = DELIVERY_DUE,
            .foretell = foretell,
            .add = add,
            .take = take,
            .already = already};
    return act_run(&(struct act){.call = call}, &action);
}
