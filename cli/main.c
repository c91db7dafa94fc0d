#include "cli/commands.h"
#include "cli/help.h"
#include "cli/out.h"
#include "cli/parse.h"

#include <signal.h>

static int show_help(const struct call *call)
{
    AUTO_TEXT struct text out = {0};
    if (!call->command) // of all, or of a group such as `policy`
        return help_run(call);
    text_init(&out, 1 << 16);
    help_command(call->command, &out);
    return out_data(&out, EXIT_DONE);
}

int main(int argc, char **argv)
{
    static struct call call; // large, and only one
    struct err err = {0};
    signal(SIGPIPE, SIG_IGN); // a reader that goes away is an error of the write
    if (!parse_call(argc, argv, &call, &err))
        return out_usage(&call, &err);
    if (call_has(&call, FLAG_HELP))
        return show_help(&call);
    if (call.command)
        return call.command->run(&call);
    if (call_has(&call, FLAG_VERSION))
        return help_version(&call);
    err_set(&err, ERR_INPUT, "which command? see pawl help");
    return out_usage(&call, &err);
}
