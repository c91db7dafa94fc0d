#include "dispatcher/policies.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/store/policy_store.h"

#include <stdio.h>

struct kept {
    int version; // 0 = free
    struct policy *policy;
    struct templates *templates;
    struct render_context context;
    int64_t broken_until_ms; // policy is NULL: not asked for again before
    uint64_t used;
};

struct policies {
    struct policies_options options;
    struct kept kept[POLICIES_KEPT];
    struct policy *sender;
    int store; // base of the store's statements on the present connection
    uint64_t tick;
};

struct policies *policies_new(const struct policies_options *options)
{
    struct policies *p = xcalloc(1, sizeof *p);
    p->options = *options;
    return p;
}

static void drop(struct kept *kept)
{
    templates_free(kept->templates);
    policy_unref(kept->policy);
    *kept = (struct kept){0};
}

void policies_free(struct policies *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < POLICIES_KEPT; i++)
        drop(&p->kept[i]);
    policy_unref(p->sender);
    free(p);
}

bool policies_connected(struct policies *p, struct pg *pg, struct err *err)
{
    return policy_store_prepare(pg, &p->store, err);
}

const struct policy *policies_sender(const struct policies *p)
{
    return p->sender;
}

static struct kept *find(struct policies *p, int version)
{
    for (size_t i = 0; i < POLICIES_KEPT; i++)
        if (p->kept[i].version == version)
            return &p->kept[i];
    return NULL;
}

const struct render_context *policies_rules(struct policies *p, int version, bool *ret_broken)
{
    struct kept *kept = find(p, version);
    *ret_broken = kept && !kept->policy && clock_mono_ms() < kept->broken_until_ms;
    if (!kept || !kept->policy)
        return NULL;
    kept->used = ++p->tick;
    return &kept->context;
}

// The slot of this version, else a free one, else the one unused for longest; empty.
static struct kept *make_room(struct policies *p, int version)
{
    struct kept *best = find(p, version);
    for (size_t i = 0; !best && i < POLICIES_KEPT; i++)
        if (p->kept[i].version == 0)
            best = &p->kept[i];
    if (!best) {
        best = &p->kept[0];
        for (size_t i = 1; i < POLICIES_KEPT; i++)
            if (p->kept[i].used < best->used)
                best = &p->kept[i];
    }
    drop(best);
    return best;
}

static void keep(struct policies *p, struct policy *policy, struct templates *templates)
{
    struct kept *kept = make_room(p, policy->version);
    *kept = (struct kept){.version = policy->version,
            .policy = policy,
            .templates = templates,
            .context = {.policy = policy, .templates = templates},
            .used = ++p->tick};
}

static void keep_broken(struct policies *p, int version, const struct err *err)
{
    struct kept *kept = make_room(p, version);
    *kept = (struct kept){.version = version,
            .broken_until_ms = clock_mono_ms() + POLICIES_BROKEN_MS,
            .used = ++p->tick};
    LOG(ERROR, "policy.broken", "a policy version can't be loaded: what it made waits",
            L_INT("version", version), L_STR("error", err->msg));
}

// NULL + err; the policy stays the cache's.
static struct policy *load_and_keep(struct policies *p, struct pg *pg, int version, struct err *err)
{
    struct policy *policy = policy_store_load(pg, p->store, version, p->options.known, err);
    if (!policy)
        return NULL;
    struct templates *templates = templates_new(policy, err);
    if (!templates) {
        policy_unref(policy);
        return NULL;
    }
    keep(p, policy, templates);
    return policy;
}

bool policies_load(struct policies *p, struct pg *pg, int version, struct err *err)
{
    if (load_and_keep(p, pg, version, err))
        return true;
    if (pg_alive(pg))
        keep_broken(p, version, err);
    return false;
}

static void auto_diag_fini(struct diag *diag)
{
    diag_fini(diag);
}

static bool load_secrets(struct policies *p, struct policy *policy, struct err *err)
{
    __attribute__((cleanup(auto_diag_fini))) struct diag diag = {0};
    if (secrets_load(policy, p->options.credentials, SECRETS_OF_CHANNELS, &diag))
        return true;
    const char *why = "a credential is missing";
    for (size_t i = 0; i < diag.n; i++)
        if (diag.rows[i].level == DIAG_ERROR)
            why = diag.rows[i].text;
    return err_set(err, ERR_FATAL, "policy version %d: %s", policy->version, why);
}

static void show_active(int version, double value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", version);
    series_set(metric(METRIC_POLICY_INFO, text, NULL), value);
}

bool policies_refresh(struct policies *p, struct pg *pg, struct err *err)
{
    int version = 0;
    if (!policy_store_active(pg, p->store, &version, err))
        return false;
    if (version == 0)
        return err_set(err, ERR_NOTFOUND, "no policy was applied yet");
    // Always anew: the copy in memory is shared with the sender of before.
    struct policy *policy = load_and_keep(p, pg, version, err);
    if (!policy || !load_secrets(p, policy, err))
        return false;
    if (p->sender)
        show_active(p->sender->version, 0);
    policy_unref(p->sender);
    p->sender = policy_ref(policy);
    show_active(version, 1);
    LOG(INFO, "policy.loaded", "this policy version is in use", L_INT("version", version));
    if (policy->inactive[0])
        LOG(WARNING, "policy.inactive", "this policy says what does not run yet",
                L_STR("not_active_yet", policy->inactive));
    return true;
}
