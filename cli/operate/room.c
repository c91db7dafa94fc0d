#include "cli/operate/room.h"

#include "cli/gates/gates.h"
#include "cli/operate_sql.h"
#include "common/text.h"
#include "dispatcher/claim/gates/caps.h"

#define TOLD_MAX 300

static void drop_caps(struct delivery *d)
{
    for (size_t i = 0; i < d->n_caps; i++)
        free(d->caps[i].name);
    free(d->caps);
}

// The caps that would hold it: only channel, address, order and recipient are read.
static struct delivery held_by(const struct act *act, const struct picked *p)
{
    const struct message *message = policy_message_by_id(act->policy, p->type);
    struct delivery d = {.channel = p->channel,
            .address = p->address,
            .order_id = p->order,
            .recipient = p->recipient};
    if (message)
        caps_of(message, &d);
    return d;
}

// `of` has the caps of each delivery.
#define EACH_CAP(begin, element)                                                                   \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i = 0; i < picks->n; i++)                                                      \
            for (const struct cap_hold *cap = of[i].caps; cap < of[i].caps + of[i].n_caps; cap++)  \
                element;                                                                           \
    } while (0)

static void ask_room(struct pg *pg, const struct picks *picks, const struct delivery *of)
{
    pg_add(pg, OPERATE_ROOM);
    EACH_CAP(pg_p_ints, pg_e_int(pg, (int32_t)i + 1));
    EACH_CAP(pg_p_ints, pg_e_int(pg, cap->bucket));
    EACH_CAP(pg_p_texts, pg_e_bytes(pg, slice_of(cap->name)));
    EACH_CAP(pg_p_ints, pg_e_int(pg, cap->most));
    EACH_CAP(pg_p_uuids, pg_e_uuid(pg, picks->rows[i].notification));
    EACH_CAP(pg_p_ints, pg_e_int(pg, (int32_t)picks->rows[i].channel));
}

static bool withholds(const struct delivery *d, struct slice name)
{
    for (size_t i = 0; i < d->n_caps; i++)
        if (slice_eq(name, slice_of(d->caps[i].name)))
            return d->caps[i].withhold;
    return false;
}

// One that withholds goes before one that defers. What follows a space is a hash of whom it is of.
static void tell_full(const struct pg *pg, int row, const struct delivery *d, struct picked *p)
{
    AUTO_TEXT struct text out = {0};
    struct slice name = pg_bytes(pg, 0, row, 1);
    bool withheld = withholds(d, name);
    if (p->held && !withheld)
        return;
    const unsigned char *space = memchr(name.ptr, ' ', name.len);
    text_init(&out, TOLD_MAX);
    text_fmt(&out, "%s by cap %.*s", withheld ? "withheld" : "deferred",
            (int)(space ? (size_t)(space - name.ptr) : name.len), (const char *)name.ptr);
    if (pg_bool(pg, 0, row, 2))
        text_fmt(&out, ", of which the one before holds a slot%s",
                p->state == DELIVERY_UNKNOWN ? " until it is resolved as not sent" : "");
    free(p->held);
    p->held = text_steal(&out);
}

static void ask_suppressed(struct pg *pg, const struct picks *picks)
{
    pg_add(pg, OPERATE_SUPPRESSED);
    pg_p_ints(pg);
    for (size_t i = 0; i < picks->n; i++)
        pg_e_int(pg, (int32_t)picks->rows[i].channel);
    pg_p_ints(pg);
    for (size_t i = 0; i < picks->n; i++)
        pg_e_int(pg, picks->rows[i].type);
    pg_p_texts(pg);
    for (size_t i = 0; i < picks->n; i++)
        pg_e_bytes(pg, slice_of(picks->rows[i].address));
}

// It goes before any cap, as at the gates.
static void tell_suppressed(const struct pg *pg, int row, struct picked *p)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, TOLD_MAX);
    text_fmt(&out, "withheld, since its address is suppressed (%s): pawl suppress remove ADDRESS",
            suppression_reason(pg_int(pg, 1, row, 1)));
    if (p->channel == CHANNEL_PUSH)
        text_str(&out, " --channel push");
    if (!pg_null(pg, 1, row, 2))
        text_fmt(&out, " --type %s", p->type_name);
    free(p->held);
    p->held = text_steal(&out);
}

bool room_look(const struct act *act, struct picks *picks, struct err *err)
{
    AUTO_FREE struct delivery *of = xcalloc(picks->n + 1, sizeof *of);
    for (size_t i = 0; i < picks->n; i++)
        of[i] = held_by(act, &picks->rows[i]);
    ask_room(act->pg, picks, of);
    ask_suppressed(act->pg, picks);
    bool ok = pg_fly(act->pg, context_soon(), err);
    for (int row = 0; ok && row < pg_rows(act->pg, 0); row++) {
        size_t i = (size_t)pg_int(act->pg, 0, row, 0) - 1;
        if (i < picks->n)
            tell_full(act->pg, row, &of[i], &picks->rows[i]);
    }
    for (int row = 0; ok && row < pg_rows(act->pg, 1); row++) {
        size_t i = (size_t)pg_int(act->pg, 1, row, 0) - 1;
        if (i < picks->n)
            tell_suppressed(act->pg, row, &picks->rows[i]);
    }
    for (size_t i = 0; i < picks->n; i++)
        drop_caps(&of[i]);
    return ok;
}
