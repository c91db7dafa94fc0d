#include "cli/policy/active.h"

#include "cli/out.h"
#include "cli/policy/policy.h"
#include "common/store/policy_store.h"

struct policy *policy_active(
        const struct call *call, const struct context *context, struct err *err)
{
    struct policy *policy = NULL;
    if (context->database)
        policy = policy_store_load_from(
                context->database, "pawl_operator", 0, &policy_knowledge, err);
    if (policy || !context->host)
        return policy;
    out_note(call, "the policy is read from its files: %s", err->msg);
    struct diag diag = {0};
    policy = policy_from_files(context->host, NULL, 0, NULL, &diag, err);
    if (!policy && diag.errors > 0)
        err_set(err, ERR_INPUT, "the policy has errors: see pawl policy check");
    diag_fini(&diag);
    return policy;
}

const char *credentials_dir(const struct context *context)
{
    const char *dir = context->host ? context->host->credentials : NULL;
    return dir ? dir : getenv("CREDENTIALS_DIRECTORY");
}
