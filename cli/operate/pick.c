#include "cli/operate/pick.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/operate_sql.h"

#define SINCE_S (7 * 86400)

void picks_fini(struct picks *picks)
{
    for (size_t i = 0; i < picks->n; i++) {
        struct picked *p = &picks->rows[i];
        free(p->target);
        free(p->type_name);
        free(p->order);
        free(p->address);
        free(p->reason);
        free(p->recipient);
        free(p->held);
        free(p->why);
    }
    free(picks->rows);
    *picks = (struct picks){0};
}

// --- The filter

static bool read_channel(const struct call *call, struct filter *filter, struct err *err)
{
    const char *name = call->values[FLAG_CHANNEL];
    filter->channel = -1;
    if (!name)
        return true;
    filter->channel = (int)channel_by_name(name);
    return filter->channel != CHANNEL_NONE ||
           err_set(err, ERR_INPUT, "--channel '%.40s' is none of email, sms and push", name);
}

static bool any_filter(const struct call *call)
{
    static const enum flag flags[] = {FLAG_TYPE, FLAG_CHANNEL, FLAG_PROVIDER, FLAG_STATE,
            FLAG_SINCE, FLAG_UNTIL, FLAG_ORDER, FLAG_MAX};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (call_has(call, flags[i]))
            return true;
    return false;
}

static bool one_only(const struct call *call, struct err *err)
{
    static const enum flag flags[] = {
            FLAG_TYPE, FLAG_PROVIDER, FLAG_STATE, FLAG_SINCE, FLAG_UNTIL, FLAG_ORDER};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (call_has(call, flags[i]))
            return err_set(err, ERR_INPUT, "a notification or a filter, not both: --%s",
                    flag_rows[flags[i]].name);
    return true;
}

bool filter_read(const struct call *call, enum delivery_state fallback, struct filter *ret_filter,
        struct err *err)
{
    struct filter *f = ret_filter;
    *f = (struct filter){.since_s = SINCE_S,
            .max = PICK_MAX,
            .type = call->values[FLAG_TYPE],
            .provider = call->values[FLAG_PROVIDER],
            .order = call->values[FLAG_ORDER],
            .one = call->n_args > 0};
    if (!read_channel(call, f, err) || !flag_states(call, f->states, &f->n_states, err) ||
            !flag_duration(call, FLAG_SINCE, &f->since_s, err) ||
            !flag_duration(call, FLAG_UNTIL, &f->until_s, err) ||
            !flag_number(call, FLAG_MAX, 1, PICK_MAX_MOST, &f->max, err))
        return false;
    if (!f->one && !any_filter(call))
        return err_set(err, ERR_INPUT,
                "name a notification, or a filter: --type, --channel, --provider, --state, "
                "--order, --since, --until or --max");
    if (f->n_states == 0)
        f->states[f->n_states++] = (int)fallback;
    if (!f->one)
        return true;
    struct slice ref = slice_of(call->args[0]);
    if (!key_from_hex(ref, &f->id))
        f->id = key_notification(ref); // a once key: the id is its hash
    return one_only(call, err);
}

// --- The rows

static void ask_one(struct pg *pg, const struct filter *f)
{
    pg_add(pg, OPERATE_PICK_ONE);
    pg_p_ints(pg);
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        pg_e_int(pg, bucket);
    pg_p_uuid(pg, f->id);
    pg_p_int(pg, f->channel);
}

static void ask_many(struct pg *pg, const struct filter *f)
{
    pg_add(pg, OPERATE_PICK);
    pg_p_big(pg, f->since_s);
    pg_p_big(pg, f->until_s);
    pg_p_ints(pg);
    for (size_t i = 0; i < f->n_states; i++)
        pg_e_int(pg, f->states[i]);
    pg_p_int(pg, f->channel);
    pg_p_text(pg, slice_of(f->type));
    pg_p_text(pg, slice_of(f->order));
    pg_p_text(pg, slice_of(f->provider));
    pg_p_int(pg, (int32_t)f->max);
    pg_p_bool(pg, f->older);
}

static char *text_or_null(const struct pg *pg, int row, int col)
{
    return pg_null(pg, 0, row, col) ? NULL : slice_dup(pg_bytes(pg, 0, row, col));
}

static void read_row(const struct pg *pg, int row, struct picked *p)
{
    *p = (struct picked){.bucket = pg_int(pg, 0, row, 0),
            .notification = pg_uuid(pg, 0, row, 1),
            .channel = (enum channel_kind)pg_int(pg, 0, row, 2),
            .target = text_or_null(pg, row, 3),
            .redrive = pg_int(pg, 0, row, 4),
            .state = (enum delivery_state)pg_int(pg, 0, row, 5),
            .tries = pg_int(pg, 0, row, 6),
            .unknown_tries = pg_int(pg, 0, row, 7),
            .possible_duplicates = pg_int(pg, 0, row, 8),
            .type = pg_int(pg, 0, row, 9),
            .type_name = text_or_null(pg, row, 10),
            .order = text_or_null(pg, row, 11),
            .address = text_or_null(pg, row, 12),
            .reason = text_or_null(pg, row, 13),
            .sendable = pg_bool(pg, 0, row, 14),
            .latest = pg_bool(pg, 0, row, 15),
            .recipient = text_or_null(pg, row, 16)};
    p->now = p->state;
}

// dispatcher/order.h
static int by_key(const void *a, const void *b)
{
    const struct picked *x = a, *y = b;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    int order = memcmp(&x->notification, &y->notification, sizeof x->notification);
    if (order == 0)
        order = (int)x->channel - (int)y->channel;
    if (order == 0)
        order = strcmp(x->target, y->target);
    return order != 0 ? order : x->redrive - y->redrive;
}

bool picks_read(
        struct pg *pg, const struct filter *filter, struct picks *ret_picks, struct err *err)
{
    if (filter->one)
        ask_one(pg, filter);
    else
        ask_many(pg, filter);
    if (!pg_fly(pg, context_soon(), err))
        return false;
    int rows = pg_rows(pg, 0);
    if (filter->one && rows == 0)
        return err_set(err, ERR_NOTFOUND,
                "there is no delivery of this notification (32 hex digits, or its once key)");
    *ret_picks = (struct picks){.rows = xcalloc((size_t)rows + 1, sizeof(struct picked)),
            .n = (size_t)rows,
            .more = !filter->one && rows >= filter->max};
    for (int row = 0; row < rows; row++)
        read_row(pg, row, &ret_picks->rows[row]);
    qsort(ret_picks->rows, ret_picks->n, sizeof(struct picked), by_key);
    return true;
}
