#include "cli/operate/operate.h"
#include "cli/operate/redrive.h"
#include "cli/operate_sql.h"
#include "cli/out.h"
#include "dispatcher/claim/gates/caps.h"

static bool open_to(const struct act *act, const struct picked *p)
{
    bool again = p->state == DELIVERY_DUE && p->unknown_tries > 0;
    return p->state == DELIVERY_UNKNOWN || (again && act->as_sent);
}

static bool foretell(const struct act *act, const struct picked *p, struct text *out)
{
    if (!open_to(act, p)) {
        if (p->state == DELIVERY_DUE && p->unknown_tries > 0)
            text_str(out, "it is tried again by itself; cancel it, if it should not be");
        else
            text_fmt(out, "its outcome is not unknown: it is %s", delivery_state_name(p->state));
        return false;
    }
    if (act->redrive)
        return redrive_foretell(act, p, true, out);
    text_str(out, act->as_sent ? "ends as accepted" : "ends as dead");
    return true;
}

// Two columns: where the slots are that each delivery may hold.
static void add_cap_buckets(struct pg *pg, struct picked *const *rows, size_t n)
{
    int of[BATCH_MAX][2];
    for (size_t i = 0; i < n; i++) {
        struct delivery d = {.channel = rows[i]->channel,
                .address = rows[i]->address,
                .order_id = rows[i]->order,
                .recipient = rows[i]->recipient};
        caps_buckets(&d, &of[i][0], &of[i][1]);
    }
    for (int column = 0; column < 2; column++) {
        pg_p_ints(pg);
        for (size_t i = 0; i < n; i++)
            pg_e_int(pg, of[i][column]);
    }
}

static void add(const struct act *act, struct picked *const *rows, size_t n)
{
    static const enum delivery_state dead = DELIVERY_DEAD;
    struct pg *pg = act->pg;
    pg_add(pg, OPERATE_SETTLE);
    act_names(pg, rows, n);
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, rows[i]->tries);
    pg_p_int(pg, (int32_t)(act->as_sent ? DELIVERY_ACCEPTED : DELIVERY_DEAD));
    pg_p_text(pg, slice_of(act->who));
    pg_p_text(pg, slice_of(act->why));
    pg_p_text(pg, slice_of(act->provider_id));
    add_cap_buckets(pg, rows, n);
    if (act->redrive)
        redrive_add(act, rows, n, &dead);
}

static void take(const struct act *act, struct picked *const *rows, size_t n)
{
    act_mark(act->pg, 1, rows, n);
    if (act->redrive) // another may have settled it the same way: it is sent anew nevertheless
        act_mark(act->pg, 2, rows, n);
}

static bool already(const struct act *act, const struct picked *p)
{
    if (!act->as_sent)
        return p->state == DELIVERY_DEAD && !act->redrive;
    return p->state == DELIVERY_ACCEPTED || p->state == DELIVERY_DELIVERED;
}

static const struct action action = {.verb = "resolve",
        .done = "resolved",
        .fallback = DELIVERY_UNKNOWN,
        .older = true, // a redrive of it says nothing of what became of it
        .foretell = foretell,
        .add = add,
        .take = take,
        .already = already};

int deliveries_resolve(const struct call *call)
{
    struct err err;
    const char *as = call->values[FLAG_AS];
    struct act act = {.call = call,
            .as_sent = as && strcmp(as, "sent") == 0,
            .redrive = call_has(call, FLAG_REDRIVE),
            .provider_id = call->values[FLAG_PROVIDER_ID]};
    if (!as || (!act.as_sent && strcmp(as, "not-sent") != 0))
        err_set(&err, ERR_INPUT, "say what became of it: --as sent or --as not-sent");
    else if (act.as_sent && act.redrive)
        err_set(&err, ERR_INPUT, "--redrive goes with --as not-sent");
    else if (act.provider_id && (!act.as_sent || strlen(act.provider_id) > 128))
        err_set(&err, ERR_INPUT, "--provider-id goes with --as sent, and has 128 bytes at most");
    else
        return act_run(&act, &action);
    return out_usage(call, &err);
}
