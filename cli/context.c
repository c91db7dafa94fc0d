#include "cli/context.h"

#include "cli/out.h"
#include "cli/session_sql.h"
#include "cli/up/place.h"
#include "common/clock.h"
#include "common/template/template.h"
#include "dispatcher/send/providers.h"
#include "receiver/receipt/receipt_read.h"
#include "receiver/verify/handshake.h"
#include "receiver/verify/verify.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define CONNECT_MS 5000
#define STATEMENT_MS 10000
#define FLIGHT_MS 12000
#define FINDINGS_MAX (4 << 20)
#define SYSTEM_CONFIG "/etc/pawl/pawl.yaml"

void context_fini(struct context *context)
{
    host_config_free(context->host);
    free(context->found);
    *context = (struct context){0};
}

int context_findings(const struct call *call, const struct diag *diag, enum exit_code code)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, FINDINGS_MAX);
    if (call_has(call, FLAG_JSON))
        diag_json(diag, &out);
    else
        diag_print(diag, &out);
    fputs(text_cstr(&out), stderr);
    return (int)code;
}

static char *config_of_up(void)
{
    AUTO_FREE char *dir = place_known("up");
    size_t room = (dir ? strlen(dir) : 0) + sizeof "/pawl.yaml";
    AUTO_FREE char *path = xmalloc(room);
    snprintf(path, room, "%s/pawl.yaml", dir ? dir : "");
    return dir && access(path, R_OK) == 0 ? steal(&path) : NULL;
}

static void find_config(const struct call *call, struct context *context)
{
    const char *named = call->values[FLAG_CONFIG];
    const char *env = getenv("PAWL_CONFIG");
    if (!named && env && *env)
        named = env;
    if (!named && access(SYSTEM_CONFIG, R_OK) == 0)
        named = SYSTEM_CONFIG;
    if (!named)
        named = context->found = config_of_up();
    context->config = named;
}

int context_find(const struct call *call, struct context *ret_context)
{
    *ret_context = (struct context){.database = call->values[FLAG_DATABASE]};
    find_config(call, ret_context);
    if (!ret_context->config)
        return EXIT_DONE;
    if (call_has(call, FLAG_VERBOSE))
        out_note(call, "host file %s", ret_context->config);
    struct diag diag = {0};
    ret_context->host = host_config_new(ret_context->config, &diag);
    int code = EXIT_DONE;
    if (!ret_context->host)
        code = context_findings(call, &diag, EXIT_CONFIG);
    diag_fini(&diag);
    if (ret_context->host && !ret_context->database)
        ret_context->database = ret_context->host->database;
    return code;
}

int context_load(const struct call *call, struct context *ret_context)
{
    int code = context_find(call, ret_context);
    if (code != EXIT_DONE || ret_context->database)
        return code;
    struct err err;
    err_set(&err, ERR_INPUT, "no host file: name one by --config, or start with `pawl up`");
    return out_fail_as(call, EXIT_CONFIG, &err);
}

static bool template_ok(const char *src, size_t len, struct err *err)
{
    struct slice source = {(const unsigned char *)src, len};
    struct template *parsed = template_new("template", source, err);
    template_free(parsed);
    return parsed != NULL;
}

// With an outline that is JSON, other values may still make none of it.
static bool data_ok(const struct template *parsed, struct err *err)
{
    AUTO_TEXT struct text out = {0};
    AUTO_JSON_TREE struct json_tree tree = {0};
    struct err why = {0};
    text_init(&out, TEMPLATE_SOURCE_MAX);
    if (!template_outline(parsed, &out))
        return true;
    if (!json_tree_read(&tree, text_slice(&out), &why))
        return err_set(err, ERR_INPUT, "makes no JSON object: with 1 for each value %s", why.msg);
    return tree.nodes->kind == JSON_KIND_OBJECT ||
           err_set(err, ERR_INPUT, "makes JSON, but no object: begin it with '{'");
}

static bool template_part_ok(const char *src, size_t len, const char *part, struct err *err)
{
    struct slice source = {(const unsigned char *)src, len};
    struct template *parsed = template_new("template", source, NULL);
    bool ok = !parsed;
    if (parsed && strcmp(part, "subject") == 0)
        ok = template_one_line(parsed, err);
    else if (parsed)
        ok = strcmp(part, "data") != 0 || data_ok(parsed, err);
    template_free(parsed);
    return ok;
}

const struct policy_known policy_knowledge = {.scheme = scheme_known,
        .row = scheme_made,
        .scheme_row = scheme_known_row,
        .scheme_at = scheme_at,
        .template_ok = template_ok,
        .horizon_s = scheme_horizon_s,
        .signs_url = scheme_signs_url,
        .keys = scheme_keys,
        .receipts_of = receipt_provider_of,
        .receipts_channel = receipt_channel_of,
        .handshake_token = handshake_needs_token};

struct seeing {
    void (*seen)(void *ctx, struct slice name, int line, int column);
    void *ctx;
};

// A section may bring a value of its own into view, so what stands in one is not judged. A parent
// may have such a section around a block: there only names with a group (data.total) are judged,
// and so are the names of sections, since one of a group alone (data) is a fine section.
static bool is_judged(const struct template_name *name)
{
    bool section = name->use == TEMPLATE_SECTION || name->use == TEMPLATE_INVERTED;
    bool value = name->use == TEMPLATE_VALUE || name->use == TEMPLATE_RAW;
    bool grouped = name->name.len > 1 && memchr(name->name.ptr, '.', name->name.len) != NULL;
    return name->section.len == 0 && (value || section) && (grouped || (value && !name->passed));
}

static void see_value(void *ctx, const struct template_name *name)
{
    const struct seeing *seeing = ctx;
    if (is_judged(name))
        seeing->seen(seeing->ctx, name->name, (int)name->line, (int)name->col);
}

static void see_partial(void *ctx, const struct template_name *name)
{
    const struct seeing *seeing = ctx;
    if (name->use == TEMPLATE_PARTIAL || name->use == TEMPLATE_PARENT)
        seeing->seen(seeing->ctx, name->name, (int)name->line, (int)name->col);
}

static void see_names(const char *src, size_t len,
        void (*see)(void *ctx, const struct template_name *name), struct seeing *seeing)
{
    struct slice source = {(const unsigned char *)src, len};
    struct template *parsed = template_new("template", source, NULL);
    if (parsed)
        template_names(parsed, see, seeing);
    template_free(parsed);
}

static void template_values(const char *src, size_t len,
        void (*seen)(void *ctx, struct slice name, int line, int column), void *ctx)
{
    see_names(src, len, see_value, &(struct seeing){seen, ctx});
}

static void template_partials(const char *src, size_t len,
        void (*seen)(void *ctx, struct slice name, int line, int column), void *ctx)
{
    see_names(src, len, see_partial, &(struct seeing){seen, ctx});
}

const struct policy_known policy_knowledge_of_files = {.is_new = true,
        .scheme = scheme_known,
        .row = scheme_made,
        .scheme_row = scheme_known_row,
        .scheme_at = scheme_at,
        .template_ok = template_ok,
        .template_part_ok = template_part_ok,
        .template_values = template_values,
        .template_partials = template_partials,
        .horizon_s = scheme_horizon_s,
        .signs_url = scheme_signs_url,
        .keys = scheme_keys,
        .receipts_of = receipt_provider_of,
        .receipts_channel = receipt_channel_of,
        .key_window_s = driver_key_window_s,
        .handshake_token = handshake_needs_token};

struct pg *context_connect(
        const struct context *context, const struct pg_stmt *stmts, size_t n_stmts, struct err *err)
{
    const struct pg_options options = {.conninfo = context->database,
            .role = "pawl_operator",
            .application = "pawl",
            .stmts = stmts,
            .n_stmts = n_stmts,
            .connect_timeout_ms = CONNECT_MS,
            .statement_timeout_ms = STATEMENT_MS};
    AUTO_PG struct pg *pg = pg_connect(&options, err);
    if (!pg || !pg_prepare(pg, session_statements, SESSION_COUNT, context_soon(), err))
        return NULL;
    pg_add(pg, (int)n_stmts + SESSION_SESSION);
    return pg_fly(pg, context_soon(), err) ? steal(&pg) : NULL;
}

const char *context_user(void)
{
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_name : "";
}

int64_t context_soon(void)
{
    return clock_mono_ms() + FLIGHT_MS;
}

void auto_pg_(struct pg **pg)
{
    pg_close(*pg);
}
