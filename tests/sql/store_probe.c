// store_probe.c: calls the functions behind `pawl migrate` for tests/sql, without the command.
// Usage: store_probe CONNINFO up | list | json | check | sql; exit status as the function says, 2
// for an error.
#include <assert.h>
#include <stdio.h>

#include "cli/migrate/migrate.h"

static int run(const char *conninfo, const char *verb, struct text *out, struct err *err)
{
    if (strcmp(verb, "up") == 0)
        return migrate_up(conninfo, out, err);
    if (strcmp(verb, "list") == 0)
        return migrate_list(conninfo, false, out, err);
    if (strcmp(verb, "json") == 0)
        return migrate_list(conninfo, true, out, err);
    if (strcmp(verb, "check") == 0)
        return migrate_check(conninfo, out, err);
    assert(strcmp(verb, "sql") == 0);
    migrate_sql(0, 0, out);
    return MIGRATE_DONE;
}

int main(int argc, char **argv)
{
    assert(argc == 3);
    struct text out AUTO_TEXT;
    struct err err = {0};
    text_init(&out, 1 << 20);
    int status = run(argv[1], argv[2], &out, &err);
    fputs(text_cstr(&out), stdout);
    if (status == MIGRATE_FAILED)
        printf("%s\n", err.msg);
    return status == MIGRATE_FAILED ? 2 : status;
}
