// store_probe.c: calls the functions behind `pawl migrate` and `pawl policy` for tests/sql, without
// the command. Exit status as the function says, 2 for an error.
//   store_probe CONNINFO up | list | json | check | sql
//   store_probe CONNINFO apply NOTE FILE TEMPLATES_DIR | load VERSION ROLE | versions
#include <assert.h>
#include <stdio.h>

#include "cli/migrate/migrate.h"
#include "common/store/policy_store.h"

static int run_migrate(const char *conninfo, const char *verb, struct text *out, struct err *err)
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

static struct policy *read_policy(const char *path, const char *dir, struct err *err)
{
    struct policy_text *files = NULL, *templates = NULL;
    size_t n = 0, n_templates = 0;
    char *patterns[1] = {xstrdup(path)};
    bool ok = policy_read_files("/", patterns, 1, &files, &n, err) &&
              policy_read_templates(dir, &templates, &n_templates, err);
    free(patterns[0]);
    if (!ok)
        return NULL;
    struct diag diag = {0};
    struct text said AUTO_TEXT;
    text_init(&said, 1 << 20);
    struct policy *policy = policy_new(files, n, templates, n_templates, NULL, &diag);
    diag_print(&diag, &said);
    if (!policy) {
        fputs(text_cstr(&said), stdout);
        err_set(err, ERR_INPUT, "the policy has errors");
    }
    diag_fini(&diag);
    policy_texts_free(files, n);
    policy_texts_free(templates, n_templates);
    return policy;
}

static int apply(const char *conninfo, char **args, struct err *err)
{
    struct policy_stored stored;
    struct policy *policy = read_policy(args[1], args[2], err);
    bool ok = policy && policy_store_apply(conninfo, policy, args[0], "tester", &stored, err);
    policy_unref(policy);
    if (!ok)
        return MIGRATE_FAILED;
    printf("version %d %s\n", stored.version, stored.is_new ? "new" : "same");
    return MIGRATE_DONE;
}

static int load(const char *conninfo, char **args, struct err *err)
{
    struct policy *policy =
            policy_store_load_from(conninfo, args[1], (int)strtol(args[0], NULL, 10), NULL, err);
    if (!policy)
        return MIGRATE_FAILED;
    printf("version %d %s\n", policy->version, policy->sha256);
    for (size_t i = 0; i < policy->n_sources; i++)
        printf("source %d %s\n", policy->sources[i].id, policy->sources[i].name);
    for (size_t i = 0; i < policy->flow.n_states; i++)
        printf("state %d %s\n", policy->flow.states[i].id, policy->flow.states[i].name);
    for (size_t i = 0; i < policy->n_messages; i++)
        printf("message %d %s\n", policy->messages[i].id, policy->messages[i].name);
    policy_unref(policy);
    return MIGRATE_DONE;
}

static int versions(const char *conninfo, struct err *err)
{
    struct policy_version *list = NULL;
    size_t n = 0;
    if (!policy_store_list(conninfo, &list, &n, err))
        return MIGRATE_FAILED;
    for (size_t i = 0; i < n; i++)
        printf("version %d %s '%s' '%s' %d\n", list[i].version, list[i].sha256, list[i].note,
                list[i].author, list[i].applied_us > 1600000000000000);
    policy_versions_free(list, n);
    return MIGRATE_DONE;
}

static int run(int argc, char **argv, struct text *out, struct err *err)
{
    if (argc == 6 && strcmp(argv[2], "apply") == 0)
        return apply(argv[1], argv + 3, err);
    if (argc == 5 && strcmp(argv[2], "load") == 0)
        return load(argv[1], argv + 3, err);
    if (strcmp(argv[2], "versions") == 0)
        return versions(argv[1], err);
    return run_migrate(argv[1], argv[2], out, err);
}

int main(int argc, char **argv)
{
    assert(argc >= 3);
    struct text out AUTO_TEXT;
    struct err err = {0};
    text_init(&out, 1 << 20);
    int status = run(argc, argv, &out, &err);
    fputs(text_cstr(&out), stdout);
    if (status == MIGRATE_FAILED)
        printf("%s\n", err.msg);
    return status == MIGRATE_FAILED ? 2 : status;
}
