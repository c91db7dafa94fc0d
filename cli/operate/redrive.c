#include "cli/operate/redrive.h"

#include "cli/operate/operate.h"
#include "cli/operate/room.h"
#include "cli/operate_sql.h"
#include "dispatcher/send/providers.h"

static const struct step *step_of(const struct message *message, enum channel_kind channel)
{
    for (size_t i = 0; message && i < message->n_steps; i++)
        if (message->steps[i].channel == channel)
            return &message->steps[i];
    return NULL;
}

// The policy of the day must still have this message on this channel.
static bool may_be(const struct act *act, const struct picked *p, struct text *out)
{
    const struct message *message = policy_message_by_id(act->policy, p->type);
    if (p->state == DELIVERY_DUE || p->state == DELIVERY_WIRE)
        text_fmt(out, "it has no end yet: it is %s", delivery_state_name(p->state));
    else if (!p->latest)
        text_fmt(out, "there is a later redrive of it%s",
                act->redrive ? "; resolve without --redrive settles it" : "");
    else if (!p->sendable)
        text_str(out, "the values that it was made of are gone (keep)");
    else if (!message)
        text_fmt(out, "the active policy has no message '%s'", p->type_name);
    else if (!step_of(message, p->channel) || !act->policy->channels[p->channel].active)
        text_fmt(out, "the active policy does not send '%s' by %s", p->type_name,
                channel_name(p->channel));
    else
        return true;
    return false;
}

static void cannot_tell(const struct act *act, enum channel_kind channel, struct text *out)
{
    const struct provider *provider = channel_provider(&act->policy->channels[channel]);
    const char *name = provider ? provider->driver_name : NULL;
    const struct driver_row *driver = driver_find(channel, name);
    if (!driver)
        return;
    if (driver->key)
        text_fmt(out, ": it has a key of its own, so %s can't recognise a repeat", name);
    else
        text_fmt(out, ": %s can't recognise a repeat", strcmp(name, "smtp") == 0 ? "SMTP" : name);
}

bool redrive_foretell(
        const struct act *act, const struct picked *p, bool not_sent, struct text *out)
{
    if (!may_be(act, p, out))
        return false;
    bool arrived = p->state == DELIVERY_ACCEPTED || p->state == DELIVERY_DELIVERED ||
                   p->state == DELIVERY_COMPLAINED;
    bool doubtful = p->state == DELIVERY_UNKNOWN || p->unknown_tries > 0;
    if (arrived || (doubtful && !not_sent)) {
        text_str(out, arrived ? "reaches the customer a second time"
                              : "may reach the customer a second time");
        cannot_tell(act, p->channel, out);
    } else if (p->state == DELIVERY_REFUSED || p->state == DELIVERY_BOUNCED) {
        text_str(out, "it did not arrive; it may be refused again");
    } else {
        text_str(out, "it did not arrive");
    }
    if (p->reason)
        text_fmt(out, " (%.150s)", p->reason);
    return true;
}

static void put_ms(struct pg *pg, int64_t seconds)
{
    if (seconds > 0)
        pg_e_big(pg, seconds * 1000);
    else
        pg_e_null(pg);
}

#define EACH(begin, element)                                                                       \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            const struct message *m = policy_message_by_id(act->policy, rows[i]->type);            \
            (void)m;                                                                               \
            element;                                                                               \
        }                                                                                          \
    } while (0)

void redrive_add(const struct act *act, struct picked *const *rows, size_t n,
        const enum delivery_state *state)
{
    struct pg *pg = act->pg;
    pg_add(pg, OPERATE_REDRIVE);
    act_names(pg, rows, n);
    EACH(pg_p_ints, pg_e_int(pg, (int32_t)(state ? *state : rows[i]->state)));
    EACH(pg_p_ints, pg_e_int(pg, rows[i]->tries));
    EACH(pg_p_ints, pg_e_int(pg, (int32_t)m->delivery));
    EACH(pg_p_ints, pg_e_int(pg, lane_of(rows[i]->channel, m->priority)));
    EACH(pg_p_bigs, put_ms(pg, m->expires_s));
    EACH(pg_p_bigs, put_ms(pg, m->retry_for_s));
    pg_p_text(pg, slice_of(act->who));
    pg_p_int(pg, act->policy->version);
    pg_p_text(pg, slice_of(act->why));
}

static bool foretell(const struct act *act, const struct picked *p, struct text *out)
{
    return redrive_foretell(act, p, false, out);
}

static void add(const struct act *act, struct picked *const *rows, size_t n)
{
    redrive_add(act, rows, n, NULL);
}

static void take(const struct act *act, struct picked *const *rows, size_t n)
{
    act_mark(act->pg, 1, rows, n);
}

int deliveries_redrive(const struct call *call)
{
    static const struct action action = {.verb = "redrive",
            .done = "sent anew",
            .fallback = DELIVERY_DEAD,
            .asks_for_one = true,
            .look = room_look,
            .foretell = foretell,
            .add = add,
            .take = take};
    return act_run(&(struct act){.call = call}, &action);
}
