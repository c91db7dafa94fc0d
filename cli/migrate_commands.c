#include "cli/migrate_commands.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/migrate/migrate.h"
#include "cli/out.h"
#include "cli/up/cluster.h"

#define OUTPUT_MAX (16 << 20)
#define NUMBER_MAX 9999

static int finish(const struct call *call, int done, const struct text *out, const struct err *err)
{
    if (done == MIGRATE_FAILED) {
        out_data(out, EXIT_DONE); // what was applied before the failure
        return out_fail(call, err);
    }
    return out_data(out, done == MIGRATE_PENDING ? EXIT_NEGATIVE : EXIT_DONE);
}

struct owner {
    char conninfo[512];
};

// Migrations are the schema owner's. Elsewhere that is whom the connection names; the private
// cluster of `pawl up`, known by its socket beside the host file, has `pawl` as its owner.
static const char *as_owner(
        const struct call *call, const struct context *context, struct owner *owner)
{
    if (!context->host || call->values[FLAG_DATABASE] || getenv("PGUSER"))
        return context->database;
    AUTO_FREE char *dir = realpath(context->host->dir, NULL);
    const struct cluster cluster = {.dir = dir ? dir : ""};
    cluster_conninfo(&cluster, NULL, "pawl", owner->conninfo);
    if (strcmp(owner->conninfo, context->database) != 0)
        return context->database;
    cluster_conninfo(&cluster, "pawl", "pawl", owner->conninfo);
    return owner->conninfo;
}

// One thing done in the schema owner's name, and what it had to say.
static int as_asked(const struct call *call,
        int (*action)(const char *database, bool json, struct text *out, struct err *err))
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    struct owner owner;
    text_init(&out, OUTPUT_MAX);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    int done = action(as_owner(call, &context, &owner), call_has(call, FLAG_JSON), &out, &err);
    return finish(call, done, &out, &err);
}

static int up(const char *database, bool json, struct text *out, struct err *err)
{
    (void)json;
    return migrate_up(database, out, err);
}

static int check(const char *database, bool json, struct text *out, struct err *err)
{
    (void)json;
    return migrate_check(database, out, err);
}

int migrate_command_up(const struct call *call)
{
    return as_asked(call, up);
}

int migrate_command_list(const struct call *call)
{
    return as_asked(call, migrate_list);
}

int migrate_command_check(const struct call *call)
{
    return as_asked(call, check);
}

int migrate_command_sql(const struct call *call)
{
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    int64_t from = 0, to = 0;
    if (!flag_number(call, FLAG_FROM, 1, NUMBER_MAX, &from, &err) ||
            !flag_number(call, FLAG_TO_N, 1, NUMBER_MAX, &to, &err))
        return out_usage(call, &err);
    text_init(&out, OUTPUT_MAX);
    migrate_sql((int)from, (int)to, &out);
    return out_data(&out, EXIT_DONE);
}
