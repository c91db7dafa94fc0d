#include "cli/names.h"

#include "common/config/near.h"

static bool unknown(const char *kind, const char *name, const struct near *near, struct err *err)
{
    return err_set(err, ERR_NOTFOUND,
            "there is none, and the active policy has no %s '%.60s'%s%.60s%s", kind, name,
            near->best ? "; did you mean '" : "", near->best ? near->best : "",
            near->best ? "'?" : "");
}

static bool message_known(const struct policy *policy, const char *name, struct near *near)
{
    for (size_t i = 0; i < policy->n_messages; i++) {
        if (strcmp(policy->messages[i].name, name) == 0)
            return true;
        near_offer(near, name, policy->messages[i].name);
    }
    return false;
}

static bool provider_known(const struct policy *policy, const char *name, struct near *near)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        for (size_t i = 0; i < policy->channels[kind].n_providers; i++)
            near_offer(near, name, policy->channels[kind].providers[i].name);
    return policy_has_provider(policy, name);
}

bool names_known(
        const struct policy *policy, const char *type, const char *provider, struct err *err)
{
    struct near near = {0};
    if (type && !message_known(policy, type, &near))
        return unknown("message", type, &near, err);
    near = (struct near){0};
    return !provider || provider_known(policy, provider, &near) ||
           unknown("provider", provider, &near, err);
}
