#include "cli/run/run.h"

#include "cli/context.h"
#include "cli/out.h"
#include "dispatcher/main.h"
#include "receiver/main.h"

// The programs read the host file themselves; here it is only found, so that a missing one is told
// the same way everywhere.
int run_receiver(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    const struct receiver_options options = {.config = context.config};
    return receiver_main(&options);
}

int run_dispatcher(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    const struct dispatcher_options options = {.config = context.config};
    return dispatcher_main(&options);
}
