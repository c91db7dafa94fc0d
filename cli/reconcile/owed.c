#include "cli/reconcile/owed.h"

#include "cli/context.h"
#include "common/store/policy_store.h"

#define KEEP_KEYS_S (45 * 86400) // before any policy was applied

void owed_fini(struct owed *owed)
{
    free(owed->messages.rows);
    free(owed->steps.rows);
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

static bool load_one(struct pg *pg, int base, int version, struct owed *owed, struct err *err)
{
    struct policy *policy = policy_store_load(pg, base, version, &policy_knowledge, err);
    if (!policy) {
        owed->unreadable++;
        return err->kind != ERR_TEMP;
    }
    add_policy(owed, policy);
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
    if (!pg_fly(pg, context_soon(), err))
        return false;
    size_t n = (size_t)pg_rows(pg, 0);
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
