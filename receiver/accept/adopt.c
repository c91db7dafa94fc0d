#include "receiver/accept/adopt.h"

#include "common/log.h"
#include "common/store/policy_store.h"
#include "receiver/accept/accept_sql.h"

void adopt_none(struct worker *worker)
{
    once_keys_free(worker->once);
    policy_unref(worker->policy);
    worker->once = NULL;
    worker->policy = NULL;
}

static void log_findings(const struct diag *diag)
{
    for (size_t i = 0; i < diag->n; i++)
        if (diag->rows[i].level != DIAG_INACTIVE)
            LOG(WARNING, "policy.finding", diag->rows[i].text);
}

// A source whose secret can't be read stays without it, and answers 503; the others work on.
static void load_secrets(struct worker *worker, struct policy *policy)
{
    struct diag diag = {0};
    if (!secrets_load(policy, worker->options->credentials, SECRETS_OF_SOURCES, &diag))
        LOG0(ERROR, "policy.secrets", "some secrets could not be loaded");
    log_findings(&diag);
    diag_fini(&diag);
}

static bool adopt(struct worker *worker, struct policy *policy, struct err *err)
{
    struct once_keys *once = once_keys_new(policy, err);
    if (!once) {
        policy_unref(policy);
        return false;
    }
    adopt_none(worker);
    worker->policy = policy;
    worker->once = once;
    worker->txn.version = policy->version;
    return true;
}

// Takes what another thread has loaded already, else loads from the database and shares it.
bool adopt_active(struct worker *worker, bool fresh, struct err *err)
{
    struct policy *shared = policy_box_get(worker->options->policies);
    if (!fresh && shared && shared->version == worker->txn.version &&
            (!worker->policy || shared != worker->policy))
        return adopt(worker, shared, err);
    policy_unref(shared);
    struct policy *policy =
            policy_store_load(worker->txn.pg, ACCEPT_COUNT, 0, &worker->options->known, err);
    if (!policy)
        return false;
    load_secrets(worker, policy);
    policy_box_put(worker->options->policies, policy_ref(policy));
    LOG(INFO, "policy.loaded", "policy loaded", L_INT("policy_version", policy->version));
    if (policy->inactive[0])
        LOG(WARNING, "policy.inactive", "this policy says what does not run yet",
                L_STR("not_active_yet", policy->inactive));
    return adopt(worker, policy, err);
}

// What another thread has loaded is newer or as new: a source that only it knows is served by all.
void adopt_shared(struct worker *worker)
{
    struct err err = {0};
    struct policy *shared = policy_box_get(worker->options->policies);
    if (!shared || shared == worker->policy || shared->version < worker->policy->version)
        policy_unref(shared);
    else if (!adopt(worker, shared, &err))
        LOG(ERROR, "policy.adopt", err.msg);
}
