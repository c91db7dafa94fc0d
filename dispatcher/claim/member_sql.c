#include "dispatcher/claim/member.h"
#include "dispatcher/dispatcher_sql.h"

typedef void begin_array(struct pg *pg);
typedef void add_element(struct pg *pg, const struct member *member);

struct column {
    begin_array *begin;
    add_element *element;
};

// Which members a statement is about.
struct choice {
    enum fate fate;
    bool rendered_only, gated_only;
};

static bool chosen(const struct member *member, struct choice choice)
{
    return member->fate == choice.fate && (!choice.rendered_only || member->rendered) &&
           (!choice.gated_only || member->at < GATE_COUNT);
}

static bool any(const struct member *members, size_t n, struct choice choice)
{
    for (size_t i = 0; i < n; i++)
        if (chosen(&members[i], choice))
            return true;
    return false;
}

static void add_column(struct pg *pg, const struct member *members, size_t n, struct choice choice,
        struct column column)
{
    column.begin(pg);
    for (size_t i = 0; i < n; i++)
        if (chosen(&members[i], choice))
            column.element(pg, &members[i]);
}

static void e_bucket(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, m->delivery->bucket);
}

static void e_notification(struct pg *pg, const struct member *m)
{
    pg_e_uuid(pg, m->delivery->notification);
}

static void e_channel(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, (int32_t)m->delivery->channel);
}

static void e_target(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->delivery->target));
}

static void e_redrive(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, m->delivery->redrive);
}

static void e_tries(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, m->delivery->tries);
}

static void e_next_try(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, m->delivery->tries + 1);
}

static void e_rendered(struct pg *pg, const struct member *m)
{
    pg_e_bool(pg, m->rendered);
}

static void e_provider(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->delivery->provider)); // NULL is NULL
}

static void e_content(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->content_json));
}

static void e_end(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, (int32_t)m->end);
}

static void e_reason(struct pg *pg, const struct member *m)
{
    pg_e_bytes(pg, slice_of(m->reason));
}

static void e_lane(struct pg *pg, const struct member *m)
{
    int lane = lane_of(m->delivery->channel, m->delivery->priority);
    pg_e_int(pg, m->hold ? -(m->hold * 100 + lane) : lane); // as pauses (0007_gates.sql) says
}

static void e_later(struct pg *pg, const struct member *m)
{
    pg_e_big(pg, m->later_ms);
}

// By how much its time for tries moves: what waits for a pause knows it only when that has ended.
static void e_waits(struct pg *pg, const struct member *m)
{
    pg_e_big(pg, m->hold ? 0 : m->later_ms);
}

// Every statement starts with the members' names.
static const struct column names[] = {
        {pg_p_ints, e_bucket},
        {pg_p_uuids, e_notification},
        {pg_p_ints, e_channel},
        {pg_p_texts, e_target},
        {pg_p_ints, e_redrive},
};

static void add_names(struct pg *pg, const struct member *members, size_t n, struct choice choice)
{
    for (size_t c = 0; c < ARRAY_LEN(names); c++)
        add_column(pg, members, n, choice, names[c]);
}

bool members_add_content(struct pg *pg, const struct member *members, size_t n)
{
    struct choice choice = {.fate = FATE_WIRE, .rendered_only = true};
    if (!any(members, n, choice))
        return false;
    pg_add(pg, SQL_CONTENT_PUT);
    add_names(pg, members, n, choice);
    add_column(pg, members, n, choice, (struct column){pg_p_texts, e_content});
    return true;
}

bool members_add_wire(struct pg *pg, const struct member *members, size_t n)
{
    struct choice choice = {.fate = FATE_WIRE};
    if (!any(members, n, choice))
        return false;
    pg_add(pg, SQL_WIRE);
    add_names(pg, members, n, choice);
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_tries});
    add_column(pg, members, n, choice, (struct column){pg_p_bools, e_rendered});
    add_column(pg, members, n, choice, (struct column){pg_p_texts, e_provider});
    return true;
}

bool members_add_ends(struct pg *pg, const struct member *members, size_t n)
{
    struct choice choice = {.fate = FATE_END};
    if (!any(members, n, choice))
        return false;
    pg_add(pg, SQL_FINISH);
    add_names(pg, members, n, choice);
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_tries});
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_end});
    add_column(pg, members, n, choice, (struct column){pg_p_texts, e_reason});
    return true;
}

bool members_add_later(struct pg *pg, const struct member *members, size_t n)
{
    struct choice choice = {.fate = FATE_LATER};
    if (!any(members, n, choice))
        return false;
    pg_add(pg, SQL_POSTPONE);
    add_names(pg, members, n, choice);
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_tries});
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_lane});
    add_column(pg, members, n, choice, (struct column){pg_p_bigs, e_later});
    return true;
}

bool members_add_held(struct pg *pg, const struct member *members, size_t n)
{
    struct choice choice = {.fate = FATE_LATER, .gated_only = true};
    if (!any(members, n, choice))
        return false;
    pg_add(pg, SQL_HOLD);
    add_names(pg, members, n, choice);
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_tries});
    add_column(pg, members, n, choice, (struct column){pg_p_bigs, e_waits});
    add_column(pg, members, n, choice, (struct column){pg_p_texts, e_reason});
    return true;
}

void members_add_claim(
        struct pg *pg, const struct member *members, size_t n, const struct key ids[2], int64_t ms)
{
    struct choice choice = {.fate = FATE_WIRE};
    pg_add(pg, SQL_CLAIM_PUT);
    pg_p_uuid(pg, ids[0]);
    pg_p_uuid(pg, ids[1]);
    pg_p_big(pg, ms);
    add_names(pg, members, n, choice);
    add_column(pg, members, n, choice, (struct column){pg_p_ints, e_next_try});
}

static struct member *nth_of(struct member *members, size_t n, enum fate fate, int nth)
{
    for (size_t i = 0; i < n; i++)
        if (members[i].fate == fate && --nth == 0)
            return &members[i];
    return NULL;
}

void members_confirm(
        const struct pg *pg, int call, struct member *members, size_t n, enum fate fate)
{
    for (int row = 0; row < pg_rows(pg, call); row++) {
        struct member *member = nth_of(members, n, fate, pg_int(pg, call, row, 0));
        if (member)
            member->confirmed = true;
    }
}
