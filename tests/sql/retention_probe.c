// retention_probe.c: runs passes of retention (dispatcher/retention/sweep.h) for tests/sql, one for
// each line on stdin.
//   retention_probe CONNINFO VERSION KEYS_S BODIES_S PARK_S
// Says "ready", then "done" after each pass, or why it failed; a line "metrics" shows the metrics.
#include <stdio.h>

#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/retention/sweep.h"

static int64_t number(const char *text)
{
    return strtoll(text, NULL, 10);
}

static void show_metrics(void)
{
    struct text out AUTO_TEXT;
    text_init(&out, 1 << 20);
    if (metrics_write(&out))
        fputs(text_cstr(&out), stdout);
}

static bool answer(struct sweep *sweep, const struct keep *keep, const char *line)
{
    struct err err = {0};
    bool ok = true;
    if (strcmp(line, "metrics\n") == 0)
        show_metrics();
    else
        ok = sweep_pass(sweep, keep, &err);
    puts(ok ? "done" : err.msg);
    return ok;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct sweep sweep = {0};
    if (argc != 6)
        return 2;
    const struct keep keep = {.version = (int)number(argv[2]),
            .keys_s = number(argv[3]),
            .bodies_s = number(argv[4]),
            .park_s = number(argv[5])};
    log_init("retention_probe", false, LOG_LVL_WARNING);
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool ok = sweep_open(&sweep, argv[1], &err);
    puts(ok ? "ready" : err.msg);
    char line[64];
    while (ok && fgets(line, sizeof line, stdin))
        ok = answer(&sweep, &keep, line);
    sweep_close(&sweep);
    return ok ? 0 : 1;
}
