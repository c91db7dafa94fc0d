#include "cli/reconcile/owed.h"

#include "cli/context.h"
#include "common/store/policy_store.h"

#define KEEP_KEYS_S (45 * 86400) // before any policy was applied

void owed_fini(struct owed *owed)
{
    free(owed->messages.rows);
    free(owed->steps.rows);
    for (size_t i = 0; i < owed->n_caps; i++)
        free(owed->caps[i].rule);
    free(owed->caps);
    *owed = (struct owed){0};
}

static void add(struct triples *triples, int32_t a, int32_t b, int32_t c)
{
    triples->rows = xrealloc(triples->rows, (triples->n + 1) * sizeof *triples->rows);
    triples->rows[triples->n][0] = a;
    triples->rows[triples->n][1] = b;
    triples->rows[triples->n][2] = c;
    triples->n++;
}

// As dispatcher/claim/gates/caps.h names a rule, without whom it counts for.
static void add_cap(
        struct owed *owed, int version, const struct message *message, const struct cap *cap)
{
    bool limit = cap >= message->limits && cap < message->limits + message->n_limits;
    AUTO_TEXT struct text rule;
    text_init(&rule, 512);
    text_fmt(&rule, "%s/%d/%lld/%s/%d", limit ? "limits" : message->name, cap->most,
            (long long)cap->in_s, cap->per, cap->across);
    owed->caps = xrealloc(owed->caps, (owed->n_caps + 1) * sizeof *owed->caps);
    owed->caps[owed->n_caps++] = (struct owed_cap){.policy = version,
            .message = message->id,
            .rule = text_steal(&rule),
            .most = cap->most,
            .in_s = cap->in_s,
            .across = cap->across,
            .by_order = strcmp(cap->per, "order") == 0};
}

static void add_policy(struct owed *owed, const struct policy *policy)
{
    for (size_t m = 0; m < policy->n_messages; m++) {
        const struct message *message = &policy->messages[m];
        if (message->when >= 0)
            add(&owed->messages, policy->version, policy->flow.states[message->when].id,
                    message->id);
        for (size_t s = 0; s < message->n_steps; s++)
            if (message->steps[s].active)
                add(&owed->steps, policy->version, message->id, (int32_t)message->steps[s].channel);
    }
}

static void add_caps(struct owed *owed, const struct policy *policy)
{
    for (size_t m = 0; m < policy->n_messages; m++) {
        const struct message *message = &policy->messages[m];
        for (size_t i = 0; i < message->n_caps; i++)
            add_cap(owed, policy->version, message, &message->caps[i]);
        for (size_t i = 0; i < message->n_limits; i++)
            add_cap(owed, policy->version, message, &message->limits[i]);
    }
}

static bool load_one(struct pg *pg, int base, int version, struct owed *owed, struct err *err)
{
    struct policy *policy = policy_store_load(pg, base, version, &policy_knowledge, err);
    if (!policy) {
        owed->unreadable++;
        return err->kind != ERR_TEMP;
    }
    add_policy(owed, policy);
    add_caps(owed, policy);
    policy_unref(policy);
    return true;
}

static bool load_active(struct pg *pg, int base, struct owed *owed, struct err *err)
{
    struct err why = {0};
    owed->keep_keys_s = KEEP_KEYS_S;
    struct policy *policy = policy_store_load(pg, base, 0, &policy_knowledge, &why);
    if (!policy)
        return why.kind != ERR_TEMP || err_set(err, why.kind, "%s", why.msg);
    owed->keep_keys_s = policy->keep_keys_s;
    policy_unref(policy);
    return true;
}

bool owed_load(struct pg *pg, int versions, int64_t since_s, struct owed *ret_owed, struct err *err)
{
    int base = 0;
    pg_add(pg, versions);
    pg_p_big(pg, since_s);
    pg_p_int(pg, OWED_VERSIONS_MAX + 1);
    if (!pg_fly(pg, context_soon(), err))
        return false;
    size_t n = (size_t)pg_rows(pg, 0);
    ret_owed->more = n > OWED_VERSIONS_MAX;
    n = ret_owed->more ? OWED_VERSIONS_MAX : n;
    AUTO_FREE int32_t *list = xcalloc(n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = pg_int(pg, 0, (int)i, 0);
    if (!policy_store_prepare(pg, &base, err) || !load_active(pg, base, ret_owed, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!load_one(pg, base, list[i], ret_owed, err))
            return false;
    return true;
}

void owed_params(struct pg *pg, const struct triples *triples)
{
    for (size_t col = 0; col < 3; col++) {
        pg_p_ints(pg);
        for (size_t i = 0; i < triples->n; i++)
            pg_e_int(pg, triples->rows[i][col]);
    }
}

#define CAPS(begin, put)                                                                           \
    do {                                                                                           \
        begin(pg);                                                                                 \
        for (size_t i_ = 0; i_ < owed->n_caps; i_++) {                                             \
            const struct owed_cap *cap = &owed->caps[i_];                                          \
            put;                                                                                   \
        }                                                                                          \
    } while (0)

void owed_caps_params(struct pg *pg, const struct owed *owed)
{
    CAPS(pg_p_ints, pg_e_int(pg, cap->policy));
    CAPS(pg_p_ints, pg_e_int(pg, cap->message));
    CAPS(pg_p_texts, pg_e_bytes(pg, slice_of(cap->rule)));
    CAPS(pg_p_bools, pg_e_bool(pg, cap->across));
    CAPS(pg_p_bools, pg_e_bool(pg, cap->by_order));
    CAPS(pg_p_ints, pg_e_int(pg, cap->most));
    CAPS(pg_p_bigs, pg_e_big(pg, cap->in_s));
}
