#include "cli/policy/policy.h"

#include "cli/flags.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/store/policy_store.h"

#include <errno.h>
#include <unistd.h>

#define OUTPUT_MAX (16 << 20)

#define AUTO_DIAG __attribute__((cleanup(diag_fini)))

static int no_files(const struct call *call)
{
    struct err err;
    err_set(&err, ERR_INPUT, "no policy files: name them, or a host file by --config");
    return out_usage(call, &err);
}

#define OPEN_TO_OTHERS "secret-mode"

// A file that is not here may be where the programs run; one that others can read is known to leak.
static void add_findings(struct diag *diag, const struct diag *secrets)
{
    for (size_t i = 0; i < secrets->n; i++)
        diag_file(diag,
                strcmp(secrets->rows[i].code, OPEN_TO_OTHERS) == 0 ? DIAG_ERROR : DIAG_WARNING,
                secrets->rows[i].file, secrets->rows[i].code, "%s", secrets->rows[i].text);
}

// Who may not look into the credentials' folder is told nothing of them; one that is not there is
// told once, not for each secret.
static void check_secrets(const struct host_config *host, struct policy *policy, struct diag *diag)
{
    AUTO_DIAG struct diag secrets = {0};
    const char *dir = host ? host->credentials : NULL;
    if (!policy || !dir)
        return;
    bool missing = access(dir, F_OK) != 0 && errno == ENOENT;
    if (!missing && access(dir, R_OK | X_OK) != 0)
        return;
    bool loaded = secrets_load(policy, dir, SECRETS_OF_ALL, &secrets);
    if (missing && !loaded)
        diag_file(diag, DIAG_WARNING, dir, "credentials",
                "there is no such folder, and the policy's secrets are to be in it: make it, or "
                "name another as 'credentials' in the host file");
    else
        add_findings(diag, &secrets); // a warning is told beside no error, too
}

static bool has_finding(const struct diag *diag, const char *code)
{
    for (size_t i = 0; i < diag->n; i++)
        if (strcmp(diag->rows[i].code, code) == 0)
            return true;
    return false;
}

// The findings are the answer of a check, so they go to stdout.
int policy_command_check(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_DIAG struct diag diag = {0};
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    // Files that are named need no host file: only one that is named, too, is read.
    bool reads_host = call->n_args == 0 || call_has(call, FLAG_CONFIG);
    int code = reads_host ? context_find(call, &context) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    if (call->n_args == 0 && !context.host)
        return no_files(call);
    AUTO_POLICY struct policy *policy = policy_from_files(
            context.host, call->args, call->n_args, call->values[FLAG_TEMPLATES], &diag, &err);
    if (!policy && diag.errors == 0)
        return out_fail(call, &err);
    check_secrets(context.host, policy, &diag);
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON))
        diag_json(&diag, &out);
    else
        diag_print(&diag, &out);
    out_note(call, "%zu error%s, %zu warning%s, %zu not active yet", diag.errors,
            diag.errors == 1 ? "" : "s", diag.warnings, diag.warnings == 1 ? "" : "s",
            diag.inactive);
    return out_data(&out, policy && diag.errors == 0 ? EXIT_DONE : EXIT_INVALID);
}

static int apply(
        const struct call *call, const struct context *context, const struct policy *policy)
{
    struct policy_stored stored = {0};
    struct err err = {0};
    const char *note = call_has(call, FLAG_NOTE) ? call->values[FLAG_NOTE] : "";
    if (!policy_store_apply(context->database, policy, note, context_user(), &stored, &err))
        return out_fail(call, &err);
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON))
        text_fmt(&out, "{\"version\":%d,\"changed\":%s}\n", stored.version,
                stored.is_new ? "true" : "false");
    else
        text_fmt(&out,
                stored.is_new ? "applied version %d\n"
                              : "nothing changed: version %d is the same\n",
                stored.version);
    if (stored.is_new)
        out_note(call, "next: %s policy show", out_pawl(call).text);
    return out_data(&out, EXIT_DONE);
}

int policy_command_apply(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_DIAG struct diag diag = {0};
    struct err err = {0};
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!context.host && call->n_args == 0)
        return no_files(call);
    AUTO_POLICY struct policy *policy = policy_from_files(
            context.host, call->args, call->n_args, call->values[FLAG_TEMPLATES], &diag, &err);
    if (!policy && diag.errors == 0)
        return out_fail(call, &err);
    check_secrets(context.host, policy, &diag);
    if (policy && has_finding(&diag, "no-templates")) {
        err_set(&err, ERR_INPUT,
                "nothing was applied: there are no templates, so no message could be "
                "rendered; name their directory by --templates");
        return out_fail_as(call, EXIT_INVALID, &err);
    }
    bool refused = !policy || diag.errors > 0;
    if (refused || (diag.n > 0 && !call_has(call, FLAG_JSON) && !call_has(call, FLAG_QUIET)))
        code = context_findings(call, &diag, EXIT_INVALID);
    return refused ? code : apply(call, &context, policy);
}

static bool version_of(const struct call *call, int *ret_version, struct err *err)
{
    *ret_version = 0;
    if (call->n_args == 0)
        return true;
    struct call one = *call;
    one.values[FLAG_LIMIT] = call->args[0];
    int64_t n = 0;
    if (!flag_number(&one, FLAG_LIMIT, 1, INT32_MAX, &n, NULL))
        return err_set(err, ERR_INPUT, "'%.60s' is not the number of a version", call->args[0]);
    *ret_version = (int)n;
    return true;
}

static void texts_json(const struct policy_text *texts, size_t n, struct text *out)
{
    static const struct column columns[] = {{"path", COLUMN_TEXT}, {"bytes", COLUMN_NUMBER}};
    AUTO_TABLE struct table table = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n; i++) {
        table_cell(&table, slice_of(texts[i].path));
        table_cell_fmt(&table, "%zu", texts[i].len);
    }
    table_json_items(&table, out);
}

int policy_command_show(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    int version;
    if (!version_of(call, &version, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_POLICY struct policy *policy = policy_store_load_from(
            context.database, "pawl_operator", version, &policy_knowledge, &err);
    if (!policy)
        return out_fail(call, &err);
    text_init(&out, OUTPUT_MAX);
    if (!call_has(call, FLAG_JSON)) {
        text_fmt(&out, "version %d  sha256 %s\n", policy->version, policy->sha256);
        policy_describe(policy, &out);
        return out_data(&out, EXIT_DONE);
    }
    text_fmt(&out, "{\"version\":%d,\"sha256\":\"%s\",\"files\":", policy->version, policy->sha256);
    texts_json(policy->files, policy->n_files, &out);
    text_str(&out, ",\"templates\":");
    texts_json(policy->templates, policy->n_templates, &out);
    text_str(&out, "}\n");
    return out_data(&out, EXIT_DONE);
}

int policy_command_list(const struct call *call)
{
    static const struct column columns[] = {{"version", COLUMN_NUMBER}, {"applied_at", COLUMN_TEXT},
            {"author", COLUMN_TEXT}, {"sha256", COLUMN_TEXT}, {"note", COLUMN_TEXT}};
    AUTO_CONTEXT struct context context = {0};
    AUTO_TABLE struct table table = {0};
    struct err err = {0};
    struct policy_version *rows = NULL;
    size_t n = 0;
    int64_t limit = 50;
    table_init(&table, columns, ARRAY_LEN(columns));
    if (!flag_number(call, FLAG_LIMIT, 1, 1000, &limit, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!policy_store_list(context.database, &rows, &n, &err))
        return out_fail(call, &err);
    for (size_t i = 0; i < n && (int64_t)i <= limit; i++) {
        char at[32];
        table_cell_fmt(&table, "%d", rows[i].version);
        table_cell(&table, slice_of(clock_rfc3339(rows[i].applied_us, at)));
        table_cell(&table, slice_of(rows[i].author));
        table_cell(&table, slice_of(rows[i].sha256));
        table_cell(&table, slice_of(rows[i].note));
    }
    policy_versions_free(rows, n);
    return out_list(call, &table, limit);
}
