#include "cli/operate/ask.h"

#include "cli/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

bool ask_possible(const struct call *call)
{
    return isatty(STDIN_FILENO) && !call_has(call, FLAG_NO_INPUT) && !call_has(call, FLAG_JSON);
}

int ask_yes(const struct call *call, const char *fmt, ...)
{
    char question[160], answer[16] = "";
    struct err err;
    if (call_has(call, FLAG_YES))
        return EXIT_DONE;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(question, sizeof question, fmt, ap);
    va_end(ap);
    if (!ask_possible(call)) {
        err_set(&err, ERR_INPUT, "%s Say so by --yes; --dry-run shows what would happen", question);
        return out_fail_as(call, EXIT_UNCONFIRMED, &err);
    }
    fprintf(stderr, "%s [y/N] ", question);
    bool yes = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
    if (yes)
        return EXIT_DONE;
    err_set(&err, ERR_INPUT, "nothing was done");
    return out_fail_as(call, EXIT_UNCONFIRMED, &err);
}
