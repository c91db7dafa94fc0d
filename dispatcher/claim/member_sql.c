#include "dispatcher/claim/claim.h"
#include "dispatcher/claim/member.h"
#include "dispatcher/dispatcher_sql.h"

struct choice {
    enum fate fate;
    bool stored_only, rendered_only, gated_only;
};

static bool chosen(const struct member *member, const void *how)
{
    const struct choice *choice = how;
    return member->fate == choice->fate && (!choice->stored_only || member->stored) &&
           (!choice->rendered_only || member->rendered) &&
           (!choice->gated_only || member->at < GATE_COUNT);
}

static bool any(const struct members *of)
{
    for (size_t i = 0; i < of->n; i++)
        if (of->is(&of->list[i], of->how))
            return true;
    return false;
}

void members_column(struct pg *pg, const struct members *of, struct member_column column)
{
    column.begin(pg);
    for (size_t i = 0; i < of->n; i++)
        if (of->is(&of->list[i], of->how))
            column.element(pg, &of->list[i]);
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

static void e_content_slot(struct pg *pg, const struct member *m)
{
    pg_e_int(pg, m->content_slot);
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
static const struct member_column names[] = {
        {pg_p_ints, e_bucket},
        {pg_p_uuids, e_notification},
        {pg_p_ints, e_channel},
        {pg_p_texts, e_target},
        {pg_p_ints, e_redrive},
};

void members_names(struct pg *pg, const struct members *of)
{
    for (size_t c = 0; c < ARRAY_LEN(names); c++)
        members_column(pg, of, names[c]);
}

// A statement on those of a choice: their names, then these columns. False: there is none of them.
static bool add(struct pg *pg, int statement, const struct members *of,
        const struct member_column *columns, size_t n)
{
    if (!any(of))
        return false;
    pg_add(pg, statement);
    members_names(pg, of);
    for (size_t c = 0; c < n; c++)
        members_column(pg, of, columns[c]);
    return true;
}

static const struct choice with_content = {.fate = FATE_WIRE, .stored_only = true};

bool members_ask_content(struct pg *pg, const struct member *members, size_t n, int64_t max)
{
    static const struct member_column columns[] = {{pg_p_ints, e_content_slot}};
    bool any = add(pg, SQL_CONTENT, &(struct members){members, n, chosen, &with_content}, columns,
            ARRAY_LEN(columns));
    if (any)
        pg_p_big(pg, max);
    return any;
}

size_t members_read_content(const struct pg *pg, int call, struct member *members, size_t n)
{
    int nth = 0, row = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (!chosen(&members[i], &with_content))
            continue;
        nth++;
        bool there = row < pg_rows(pg, call) && pg_int(pg, call, row, 0) == nth;
        struct slice json = there ? pg_bytes(pg, call, row++, 1) : (struct slice){NULL, 0};
        member_read_content(&members[i], json);
        bytes += json.len;
    }
    return bytes;
}

bool members_add_content(struct pg *pg, const struct member *members, size_t n)
{
    static const struct choice choice = {.fate = FATE_WIRE, .rendered_only = true};
    static const struct member_column columns[] = {{pg_p_texts, e_content}};
    return add(pg, SQL_CONTENT_PUT, &(struct members){members, n, chosen, &choice}, columns,
            ARRAY_LEN(columns));
}

static const struct choice on_the_wire = {.fate = FATE_WIRE};

bool members_add_wire(struct pg *pg, const struct member *members, size_t n)
{
    static const struct member_column columns[] = {
            {pg_p_ints, e_tries}, {pg_p_bools, e_rendered}, {pg_p_texts, e_provider}};
    return add(pg, SQL_WIRE, &(struct members){members, n, chosen, &on_the_wire}, columns,
            ARRAY_LEN(columns));
}

bool members_add_ends(struct pg *pg, const struct member *members, size_t n)
{
    static const struct choice choice = {.fate = FATE_END};
    static const struct member_column columns[] = {
            {pg_p_ints, e_tries}, {pg_p_ints, e_end}, {pg_p_texts, e_reason}};
    return add(pg, SQL_FINISH, &(struct members){members, n, chosen, &choice}, columns,
            ARRAY_LEN(columns));
}

bool members_add_later(struct pg *pg, const struct member *members, size_t n)
{
    static const struct choice choice = {.fate = FATE_LATER};
    static const struct member_column columns[] = {
            {pg_p_ints, e_tries}, {pg_p_ints, e_lane}, {pg_p_bigs, e_later}};
    return add(pg, SQL_POSTPONE, &(struct members){members, n, chosen, &choice}, columns,
            ARRAY_LEN(columns));
}

bool members_add_held(struct pg *pg, const struct member *members, size_t n)
{
    static const struct choice choice = {.fate = FATE_LATER, .gated_only = true};
    static const struct member_column columns[] = {
            {pg_p_ints, e_tries}, {pg_p_bigs, e_waits}, {pg_p_texts, e_reason}};
    return add(pg, SQL_HOLD, &(struct members){members, n, chosen, &choice}, columns,
            ARRAY_LEN(columns));
}

void members_add_claim(
        struct pg *pg, const struct member *members, size_t n, const struct key ids[2], int64_t ms)
{
    const struct members of = {members, n, chosen, &on_the_wire};
    pg_add(pg, SQL_CLAIM_PUT);
    pg_p_uuid(pg, ids[0]);
    pg_p_uuid(pg, ids[1]);
    pg_p_big(pg, ms);
    members_names(pg, &of);
    members_column(pg, &of, (struct member_column){pg_p_ints, e_next_try});
}

void members_confirm(
        const struct pg *pg, int call, struct member *members, size_t n, enum fate fate)
{
    struct member *asked[CLAIM_MAX];
    int n_asked = 0;
    for (size_t i = 0; i < n; i++)
        if (members[i].fate == fate)
            asked[n_asked++] = &members[i];
    for (int row = 0; row < pg_rows(pg, call); row++) {
        int nth = pg_int(pg, call, row, 0);
        if (nth >= 1 && nth <= n_asked)
            asked[nth - 1]->confirmed = true;
    }
}
