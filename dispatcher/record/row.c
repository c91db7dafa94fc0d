#include "dispatcher/record/row.h"

#include "dispatcher/dispatcher_sql.h"

static void e_bucket(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, row->delivery->bucket);
}

static void e_notification(struct pg *pg, const struct record_row *row)
{
    pg_e_uuid(pg, row->delivery->notification);
}

static void e_channel(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, (int32_t)row->delivery->channel);
}

static void e_target(struct pg *pg, const struct record_row *row)
{
    pg_e_bytes(pg, slice_of(row->delivery->target));
}

static void e_redrive(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, row->delivery->redrive);
}

static void e_step(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, row->delivery->tries);
}

static void e_state(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, (int32_t)row->decision->state);
}

static void e_wait(struct pg *pg, const struct record_row *row)
{
    if (row->decision->again || row->decision->look)
        pg_e_big(pg, row->decision->wait_ms);
    else
        pg_e_null(pg);
}

static void e_unknown_spent(struct pg *pg, const struct record_row *row)
{
    pg_e_bool(pg, row->decision->unknown_spent);
}

static void e_reason(struct pg *pg, const struct record_row *row)
{
    pg_e_said(pg, row->decision->reason);
}

static void e_outcome(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, (int32_t)row->delivery->result.outcome);
}

static void e_level(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, (int32_t)row->delivery->result.level);
}

static void e_code(struct pg *pg, const struct record_row *row)
{
    if (row->delivery->result.code)
        pg_e_int(pg, row->delivery->result.code);
    else
        pg_e_null(pg);
}

static void e_wire_ms(struct pg *pg, const struct record_row *row)
{
    int64_t ms = row->delivery->result.wire_ms;
    pg_e_int(pg, ms < INT32_MAX ? (int32_t)ms : INT32_MAX);
}

static void e_possible_duplicate(struct pg *pg, const struct record_row *row)
{
    pg_e_bool(pg, row->delivery->earlier_unknown > 0 &&
                          row->delivery->result.outcome != ATTEMPT_GIVEN_BACK);
}

static void e_enhanced(struct pg *pg, const struct record_row *row)
{
    pg_e_said(pg, row->delivery->result.enhanced);
}

static void e_detail(struct pg *pg, const struct record_row *row)
{
    pg_e_said(pg, row->delivery->result.detail);
}

static void e_provider_id(struct pg *pg, const struct record_row *row)
{
    pg_e_said(pg, row->delivery->result.provider_id);
}

static void e_free(struct pg *pg, const struct record_row *row)
{
    pg_e_bool(pg, row->decision->free);
}

static void e_passed_on(struct pg *pg, const struct record_row *row)
{
    pg_e_bool(pg, row->decision->passed_on);
}

static void e_settle(struct pg *pg, const struct record_row *row)
{
    if (row->decision->look)
        pg_e_big(pg, row->decision->settle_ms);
    else
        pg_e_null(pg);
}

static void e_claim(struct pg *pg, const struct record_row *row)
{
    pg_e_uuid(pg, row->delivery->claim);
}

// In the order of the statement's parameters.
static const struct column {
    void (*begin)(struct pg *pg);
    void (*element)(struct pg *pg, const struct record_row *row);
} columns[] = {
        {pg_p_ints, e_bucket},
        {pg_p_uuids, e_notification},
        {pg_p_ints, e_channel},
        {pg_p_texts, e_target},
        {pg_p_ints, e_redrive},
        {pg_p_ints, e_step},
        {pg_p_ints, e_state},
        {pg_p_bigs, e_wait},
        {pg_p_bools, e_unknown_spent},
        {pg_p_texts, e_reason},
        {pg_p_ints, e_outcome},
        {pg_p_ints, e_level},
        {pg_p_ints, e_code},
        {pg_p_ints, e_wire_ms},
        {pg_p_bools, e_possible_duplicate},
        {pg_p_texts, e_enhanced},
        {pg_p_texts, e_detail},
        {pg_p_texts, e_provider_id},
        {pg_p_bools, e_free},
        {pg_p_bools, e_passed_on},
        {pg_p_bigs, e_settle},
        {pg_p_uuids, e_claim},
};

void record_rows_add(struct pg *pg, const struct record_row *rows, size_t n)
{
    for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
        columns[c].begin(pg);
        for (size_t i = 0; i < n; i++)
            columns[c].element(pg, &rows[i]);
    }
}

static void e_suppress(struct pg *pg, const struct record_row *row)
{
    pg_e_int(pg, (int32_t)row->decision->suppress);
}

static void e_source(struct pg *pg, const struct record_row *row)
{
    const char *provider = row->delivery->provider;
    pg_e_said(pg, provider ? provider : channel_name(row->delivery->channel));
}

// In the order of suppress.sql's parameters.
static const struct column suppress_columns[] = {
        {pg_p_ints, e_bucket},
        {pg_p_uuids, e_notification},
        {pg_p_ints, e_channel},
        {pg_p_texts, e_target},
        {pg_p_ints, e_redrive},
        {pg_p_ints, e_step},
        {pg_p_ints, e_suppress},
        {pg_p_texts, e_source},
        {pg_p_texts, e_detail},
};

static void add_chosen(struct pg *pg, const struct column *list, size_t n_list,
        const struct record_row *rows, size_t n, bool (*chosen)(const struct record_row *row))
{
    for (size_t c = 0; c < n_list; c++) {
        list[c].begin(pg);
        for (size_t i = 0; i < n; i++)
            if (chosen(&rows[i]))
                list[c].element(pg, &rows[i]);
    }
}

static bool any(
        const struct record_row *rows, size_t n, bool (*chosen)(const struct record_row *row))
{
    for (size_t i = 0; i < n; i++)
        if (chosen(&rows[i]))
            return true;
    return false;
}

static bool suppresses(const struct record_row *row)
{
    return row->decision->suppress != 0;
}

bool record_rows_suppress(struct pg *pg, const struct record_row *rows, size_t n)
{
    if (!any(rows, n, suppresses))
        return false;
    pg_add(pg, SQL_SUPPRESS);
    add_chosen(pg, suppress_columns, ARRAY_LEN(suppress_columns), rows, n, suppresses);
    return true;
}

// It may have arrived, as one before it may have.
static bool may_be_late(const struct record_row *row)
{
    enum attempt_outcome outcome = row->delivery->result.outcome;
    return row->delivery->tries > 1 && (outcome == ATTEMPT_ACCEPTED || outcome == ATTEMPT_UNKNOWN);
}

void record_rows_late(struct pg *pg, const struct record_row *rows, size_t n)
{
    enum { KEY_COLUMNS = 6 }; // up to the step
    if (!any(rows, n, may_be_late))
        return;
    pg_add(pg, SQL_LATE);
    add_chosen(pg, columns, KEY_COLUMNS, rows, n, may_be_late);
}
