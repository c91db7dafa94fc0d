// Takes the slots of the caps that hold a delivery, or says until when it can't have them.
#include "dispatcher/claim/gates/caps.h"
#include "dispatcher/claim/gates/questions.h"
#include "dispatcher/dispatcher_sql.h"

enum { COL_MEMBER, COL_PLACE, COL_WHY, COL_RANK, COL_HELD, COL_FREE };

enum { WHY_FULL = 1, FREE_MAX = 64 };

// One element for each cap of each member that asks.
static void column(struct pg *pg, const struct asking *asking, void (*begin)(struct pg *pg),
        void (*element)(struct pg *pg, const struct delivery *delivery, size_t cap))
{
    begin(pg);
    for (size_t i = 0; i < asking->n; i++) {
        const struct delivery *d = asking->members[i].delivery;
        bool asks = asking->members[i].asking & (1u << asking->gate);
        for (size_t cap = 0; asks && cap < d->n_caps; cap++)
            element(pg, d, cap);
    }
}

static void e_bucket(struct pg *pg, const struct delivery *d, size_t cap)
{
    pg_e_int(pg, d->caps[cap].bucket);
}

static void e_name(struct pg *pg, const struct delivery *d, size_t cap)
{
    pg_e_bytes(pg, slice_of(d->caps[cap].name));
}

static void e_most(struct pg *pg, const struct delivery *d, size_t cap)
{
    pg_e_int(pg, d->caps[cap].most);
}

static void e_in(struct pg *pg, const struct delivery *d, size_t cap)
{
    pg_e_big(pg, d->caps[cap].in_ms);
}

static void e_place(struct pg *pg, const struct delivery *d, size_t cap)
{
    (void)d;
    pg_e_int(pg, (int32_t)cap);
}

static void e_of_bucket(struct pg *pg, const struct delivery *d, size_t cap)
{
    (void)cap;
    pg_e_int(pg, d->bucket);
}

static void e_notification(struct pg *pg, const struct delivery *d, size_t cap)
{
    (void)cap;
    pg_e_uuid(pg, d->notification);
}

static void e_channel(struct pg *pg, const struct delivery *d, size_t cap)
{
    (void)cap;
    pg_e_int(pg, (int32_t)d->channel);
}

static void e_redrive(struct pg *pg, const struct delivery *d, size_t cap)
{
    (void)cap;
    pg_e_int(pg, d->redrive);
}

static void e_fresh(struct pg *pg, const struct delivery *d, size_t cap)
{
    (void)cap;
    pg_e_bool(pg, d->tries == 0);
}

// The number, from 1, of the member among those that ask.
static void members(struct pg *pg, const struct asking *asking)
{
    int32_t number = 0;
    pg_p_ints(pg);
    for (size_t i = 0; i < asking->n; i++) {
        bool asks = asking->members[i].asking & (1u << asking->gate);
        number += asks;
        for (size_t cap = 0; asks && cap < asking->members[i].delivery->n_caps; cap++)
            pg_e_int(pg, number);
    }
}

static uint32_t random_of(const struct delivery *delivery, int64_t now_us)
{
    uint32_t random;
    memcpy(&random, delivery->notification.bytes, sizeof random);
    return random ^ (uint32_t)now_us;
}

void ask_cap(struct pg *pg, const struct asking *asking)
{
    uint32_t salt = 0;
    for (size_t i = 0; i < asking->n; i++) {
        const struct member *member = &asking->members[i];
        if (!(member->asking & (1u << asking->gate)))
            continue;
        caps_of(member->facts.message, member->delivery);
        salt = random_of(member->delivery, member->facts.now_us) % 1000;
    }
    pg_add(pg, SQL_CAP_TAKE);
    members(pg, asking);
    column(pg, asking, pg_p_ints, e_place);
    column(pg, asking, pg_p_ints, e_bucket);
    column(pg, asking, pg_p_texts, e_name);
    column(pg, asking, pg_p_ints, e_most);
    column(pg, asking, pg_p_bigs, e_in);
    column(pg, asking, pg_p_ints, e_of_bucket);
    column(pg, asking, pg_p_uuids, e_notification);
    column(pg, asking, pg_p_ints, e_channel);
    column(pg, asking, pg_p_ints, e_redrive);
    column(pg, asking, pg_p_bools, e_fresh);
    pg_p_int(pg, (int32_t)salt);
    pg_add(pg, SQL_CAP_SETTLE); // after all waits for slots: it locks what it finds, in no order
    column(pg, asking, pg_p_ints, e_bucket);
    column(pg, asking, pg_p_texts, e_name);
}

// The free times stand in the first row of a cap alone.
static int64_t wait_of(const struct pg *pg, int call, int row, const struct member *member,
        const struct cap_hold *cap)
{
    int64_t free_ms[FREE_MAX];
    int rank = pg_int(pg, call, row, COL_RANK), first = row - rank;
    size_t n = pg_null(pg, call, first, COL_FREE) ? 0 : pg_array_len(pg, call, first, COL_FREE);
    for (size_t i = 0; i < n && i < FREE_MAX; i++)
        free_ms[i] = pg_array_big(pg, call, first, COL_FREE, i);
    struct cap_room room = {.most = cap->most,
            .in_ms = cap->in_ms,
            .held = pg_int(pg, call, row, COL_HELD),
            .free_ms = free_ms,
            .n_free = n < FREE_MAX ? n : FREE_MAX};
    return cap_wait_ms(&room, (size_t)rank, random_of(member->delivery, member->facts.now_us));
}

// One cap that it does not get. A try after the first is never withheld: it has had its slot.
void hear_cap(const struct pg *pg, int call, int row, struct member *member)
{
    struct shut_cap *shut = &member->facts.cap;
    const struct cap_hold *cap = &member->delivery->caps[pg_int(pg, call, row, COL_PLACE)];
    bool full = pg_int(pg, call, row, COL_WHY) == WHY_FULL;
    int64_t wait_ms = full ? wait_of(pg, call, row, member, cap) : CAP_AGAIN_MS;
    if (full && cap->withhold && member->delivery->tries == 0)
        shut->withheld_by = cap;
    if (wait_ms > shut->wait_ms)
        *shut = (struct shut_cap){shut->withheld_by, full ? cap : shut->deferred_by, wait_ms};
}
