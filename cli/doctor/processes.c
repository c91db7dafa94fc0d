// The policy that is active, and the processes that should work by it.
#include "cli/doctor/findings.h"
#include "cli/doctor_work_sql.h"
#include "cli/http_post.h"
#include "common/json/scan.h"
#include "common/store/policy_store.h"

#include <stdio.h>

#define ADMIN_TIMEOUT_MS 2000
#define ADMIN_ANSWER_MAX (4 << 20)
#define WHY_MAX 400
#define RELOAD_S 10.0 // the programs ask each second which version is active
#define BREAKER_OPEN_SAYS "gets none for now" // dispatcher/health.c, of a provider

// Each program's admin listener is on a neighbouring port of the one that the host file names.
static const char *const programs[] = {"receiver", "dispatcher"};

// Was the active version applied so lately that not every process can have it?
static bool is_new(struct visit *visit)
{
    struct err err = {0};
    int statement = (int)pg_stmt_count(visit->pg);
    if (!pg_prepare(
                visit->pg, &doctor_work_statements[DOCTOR_WORK_APPLIED], 1, context_soon(), &err))
        return false;
    pg_add(visit->pg, statement);
    pg_p_int(visit->pg, visit->active);
    return pg_fly(visit->pg, context_soon(), &err) && pg_rows(visit->pg, 0) > 0 &&
           pg_double(visit->pg, 0, 0, 0) < RELOAD_S;
}

void visit_policy(struct visit *visit)
{
    struct err err = {0};
    int base = 0;
    if (!visit->pg || !pg_alive(visit->pg))
        return;
    if (policy_store_prepare(visit->pg, &base, &err) &&
            policy_store_active(visit->pg, base, &visit->active, &err))
        visit->policy = policy_store_load(visit->pg, base, 0, &policy_knowledge, &err);
    visit->active_is_new = pg_alive(visit->pg) && visit->active && is_new(visit);
    if (visit->policy) {
        found(visit, FINDING_OK, "policy", "version %d is active", visit->policy->version);
        return;
    }
    found_err(visit, "policy", &err);
    mend(visit, "pawl policy apply");
}

// The version whose `pawl_policy_info` is 1; 0 = none is in use yet, or the text says nothing.
static int version_in(const char *metrics)
{
    static const char name[] = "\npawl_policy_info{version=\"";
    for (const char *at = strstr(metrics, name); at; at = strstr(at + 1, name)) {
        char *end;
        long version = strtol(at + sizeof name - 1, &end, 10);
        if (strncmp(end, "\"} 1", 4) == 0)
            return (int)version;
    }
    return 0;
}

static bool get(
        const char *address, const char *path, struct text *body, struct http_answer *answer)
{
    struct http_target target;
    struct err err;
    const struct http_request request = {
            .method = "GET", .path = path, .timeout_ms = ADMIN_TIMEOUT_MS};
    text_init(body, ADMIN_ANSWER_MAX);
    if (!http_target_of(address, &target, &err))
        return false;
    http_exchange_read(&target, &request, answer, body);
    return answer->status != 0;
}

static void mend_unit(struct visit *visit, enum remedy remedy, const char *program)
{
    char unit[32];
    snprintf(unit, sizeof unit, "pawl-%s", program);
    mend_program(visit, remedy, unit);
}

static void judge_version(struct visit *visit, const char *program, int version)
{
    int active = visit->active;
    if (version == active || !active) {
        found(visit, FINDING_OK, "processes", "the %s works by policy version %d", program,
                version);
        return;
    }
    if (visit->active_is_new) {
        found(visit, FINDING_NOTE, "processes",
                "the %s has not read policy version %d yet: that was applied less than %.0f s ago",
                program, active, RELOAD_S);
        mend(visit, "sleep %.0f; pawl doctor", RELOAD_S);
        return;
    }
    if (version)
        found(visit, FINDING_FAIL, "processes", "the %s works by policy version %d, %d is active",
                program, version, active);
    else
        found(visit, FINDING_FAIL, "processes", "the %s has no policy yet", program);
    mend_unit(visit, REMEDY_RELOAD, program);
}

// "NAME: what it says" of a check that is not ok.
static void add_check(struct json_token check, struct text *out)
{
    static const char *const pointers[] = {"/ok", "/name", "/detail"};
    struct json_result parts[ARRAY_LEN(pointers)];
    struct err err;
    if (!json_find(check.raw, pointers, ARRAY_LEN(pointers), parts, &err) ||
            parts[0].token.kind != JSON_KIND_FALSE)
        return;
    text_str(out, out->len ? "; " : "");
    if (!json_text(parts[1].token, out, &err) || !text_str(out, ": ") ||
            !json_text(parts[2].token, out, &err))
        text_str(out, "..");
}

static void failing_checks(const struct text *answer, struct text *out)
{
    static const char *const pointers[] = {"/checks"};
    struct json_result checks;
    struct json_token check;
    struct err err;
    size_t at = 0;
    const char *body = strstr(text_cstr(answer), "\r\n\r\n");
    if (!body || !json_find(slice_of(body + 4), pointers, 1, &checks, &err) ||
            checks.token.kind != JSON_KIND_ARRAY)
        return;
    while (json_next(checks.token, &at, NULL, &check))
        add_check(check, out);
}

static void judge_ready(struct visit *visit, const char *program, const char *address)
{
    AUTO_TEXT struct text ready = {0};
    AUTO_TEXT struct text why = {0};
    struct http_answer answer = {0};
    if (!get(address, "/readyz", &ready, &answer))
        return;
    text_init(&why, WHY_MAX);
    failing_checks(&ready, &why);
    if (answer.status != 200)
        found(visit, FINDING_FAIL, "processes", "the %s is not ready: %s", program,
                text_cstr(&why));
    else if (why.len)
        found(visit, FINDING_WARN, "processes", "not all of the %s is well: %s", program,
                text_cstr(&why));
    else
        return;
    if (strstr(text_cstr(&why), BREAKER_OPEN_SAYS))
        mend_unit(visit, REMEDY_RELOAD, program); // has it asked at once
    else
        mend(visit, "curl -s http://%s/readyz", address);
}

// The admin listener has a thread of its own, which answers for loops that stand still.
static void judge_alive(struct visit *visit, const char *program, const char *address)
{
    AUTO_TEXT struct text alive = {0};
    struct http_answer answer = {0};
    if (!get(address, "/livez", &alive, &answer) || answer.status == 200)
        return;
    found(visit, FINDING_FAIL, "processes", "the %s hangs: a loop of it does not turn", program);
    mend_unit(visit, REMEDY_RESTART, program);
}

struct process {
    const char *program;
    char address[300];
    struct text metrics;
    struct http_answer answer;
};

static void judge_process(
        struct visit *visit, const struct process *process, enum finding_verdict absent)
{
    const char *program = process->program, *why = process->answer.why;
    if (!process->answer.reached) {
        found(visit, absent, "processes", "no %s here: %s", program, why);
        mend_unit(visit, REMEDY_START, program);
    } else if (process->answer.status == 0) {
        found(visit, FINDING_FAIL, "processes", "the %s hangs: %s", program, why);
        mend_unit(visit, REMEDY_RESTART, program);
    } else {
        judge_version(visit, program, version_in(text_cstr(&process->metrics)));
        judge_ready(visit, program, process->address);
        judge_alive(visit, program, process->address);
    }
}

void visit_processes(struct visit *visit)
{
    const struct host_config *host = visit->context->host;
    if (!host || host->admin.n_listen == 0)
        return;
    const char *listen = host->admin.listen[0], *colon = strrchr(listen, ':');
    long port = colon ? strtol(colon + 1, NULL, 10) : 0;
    if (port <= 0)
        return;
    struct process processes[ARRAY_LEN(programs)] = {0};
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct process *process = &processes[i];
        process->program = programs[i];
        snprintf(process->address, sizeof process->address, "%.*s:%ld", (int)(colon - listen),
                listen, port + (long)i);
        (void)get(process->address, "/metrics", &process->metrics, &process->answer);
        any |= process->answer.reached;
    }
    // A host may run one of both only. With none of them nothing that is promised happens here.
    enum finding_verdict absent = visit->active && !any ? FINDING_FAIL : FINDING_WARN;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        judge_process(visit, &processes[i], absent);
        text_fini(&processes[i].metrics);
    }
}
