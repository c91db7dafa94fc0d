// What starts a program, or makes it load again: systemd, or the `pawl up` whose host file it is.
#include "cli/doctor/findings.h"
#include "cli/shell.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define DIR_MAX 4096
#define SQL_MAX 500

// The folder of `pawl up`, as a word of a shell, where the host file is one that it wrote: its lock
// is beside it, and taken while it runs.
static bool is_of_up(const char *config, struct text *dir, bool *ret_runs)
{
    const char *slash = config ? strrchr(config, '/') : NULL;
    AUTO_TEXT struct text lock;
    text_init(&lock, DIR_MAX);
    text_fmt(&lock, "%.*s/lock", slash ? (int)(slash - config) : 1, slash ? config : ".");
    AUTO_CLOSE int fd = config ? open(text_cstr(&lock), O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    *ret_runs = flock(fd, LOCK_SH | LOCK_NB) != 0;
    shell_word(dir, (struct slice){text_slice(&lock).ptr, lock.len - strlen("/lock")});
    return true;
}

void mend_program(struct visit *visit, enum remedy remedy, const char *unit)
{
    static const char *const verbs[] = {
            [REMEDY_START] = "start", [REMEDY_RESTART] = "restart", [REMEDY_RELOAD] = "reload"};
    AUTO_TEXT struct text dir;
    bool runs = false;
    text_init(&dir, DIR_MAX);
    if (!is_of_up(visit->context->config, &dir, &runs))
        mend(visit, "systemctl %s %s; journalctl -u %s -n 20", verbs[remedy], unit, unit);
    else if (!runs)
        mend(visit, "pawl up --dir %s", text_cstr(&dir));
    else if (remedy == REMEDY_RELOAD)
        mend(visit, "kill -HUP $(cat %s/lock)", text_cstr(&dir));
    else
        mend(visit, "kill $(cat %s/lock); pawl up --dir %s", text_cstr(&dir), text_cstr(&dir));
}

void mend_sql(struct visit *visit, const char *fmt, ...)
{
    AUTO_TEXT struct text dir, command, database;
    bool runs;
    char arguments[SQL_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(arguments, sizeof arguments, fmt, args);
    va_end(args);
    text_init(&dir, DIR_MAX);
    text_init(&command, DIR_MAX);
    text_init(&database, DIR_MAX);
    text_fmt(&command, "psql %s", arguments);
    if (is_of_up(visit->context->config, &dir, &runs)) {
        text_fmt(&database, "%s user=pawl", visit->context->database);
        text_str(&command, " -d ");
        shell_word(&command, text_slice(&database));
    }
    mend(visit, "%s", text_cstr(&command));
}
