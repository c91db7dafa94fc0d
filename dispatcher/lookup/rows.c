#include "dispatcher/lookup/round.h"

void look_names_add(struct pg *pg, const struct look *looks, size_t n)
{
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, looks[i].bucket);
    pg_p_uuids(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_uuid(pg, looks[i].notification);
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, (int32_t)looks[i].channel);
    pg_p_texts(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_bytes(pg, slice_of(looks[i].target));
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, looks[i].redrive);
    pg_p_ints(pg);
    for (size_t i = 0; i < n; i++)
        pg_e_int(pg, looks[i].tries);
}

#define EACH(begin, element)                                                                       \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            const struct look *look = &looks[i];                                                   \
            element;                                                                               \
        }                                                                                          \
    } while (0)

static void e_wait(struct pg *pg, const struct look_decision *decision)
{
    if (decision->again || decision->state == DELIVERY_DUE)
        pg_e_big(pg, decision->wait_ms);
    else
        pg_e_null(pg);
}

static void e_code(struct pg *pg, int code)
{
    if (code)
        pg_e_int(pg, code);
    else
        pg_e_null(pg);
}

void look_rows_add(struct pg *pg, const struct look *looks, size_t n)
{
    look_names_add(pg, looks, n);
    EACH(pg_p_ints, pg_e_int(pg, (int32_t)look->result.outcome));
    EACH(pg_p_ints, pg_e_int(pg, (int32_t)look->decision.state));
    EACH(pg_p_bigs, e_wait(pg, &look->decision));
    EACH(pg_p_bools, pg_e_bool(pg, look->decision.again));
    EACH(pg_p_texts, pg_e_said(pg, look->decision.reason));
    EACH(pg_p_ints, e_code(pg, look->result.code));
    EACH(pg_p_texts, pg_e_said(pg, look->result.detail));
    EACH(pg_p_texts, pg_e_said(pg, look->result.provider_id));
}
