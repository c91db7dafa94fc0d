// The flow's states, which step may follow which, and every place that names a state or a message.
#include "common/config/near.h"
#include "common/config/policy_made.h"

#include <stdio.h>

int policy_state_index(const struct policy *policy, const char *name)
{
    for (size_t i = 0; name && i < policy->flow.n_states; i++) {
        if (policy->flow.states[i].name && strcmp(policy->flow.states[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static int message_index(const struct policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->n_messages; i++) {
        const char *there = policy->messages[i].name;
        if (there && strcmp(there, name) == 0)
            return (int)i;
    }
    return -1;
}

void policy_report_unknown(const struct making *making, const void *slot, const char *what,
        const struct unknown *unknown)
{
    char code[32];
    const char *near = unknown->near, *all = near ? "" : unknown->all;
    snprintf(code, sizeof code, "unknown-%s", what);
    schema_diag(making->load, DIAG_ERROR, AT_SLOT(slot, NULL), code, "unknown %s '%s'%s%s%s%s%s",
            what, yaml_show(slice_of(unknown->name)).text, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "", *all ? "; there is " : "", all);
}

static void report_state(const struct making *making, const void *slot, const char *name)
{
    const struct flow *flow = &making->made->policy.flow;
    struct near near = {0};
    AUTO_TEXT struct text all;
    text_init(&all, LIST_MAX);
    for (size_t i = 0; i < flow->n_states; i++) {
        if (!flow->states[i].name)
            continue;
        near_offer(&near, name, flow->states[i].name);
        text_fmt(&all, "%s%s", all.len ? ", " : "", flow->states[i].name);
    }
    policy_report_unknown(
            making, slot, "state", &(struct unknown){name, near.best, text_cstr(&all)});
}

// The index of the state that *slot names; -1 and a finding when there is none.
static int find_state(const struct making *making, char *const *slot)
{
    int index = policy_state_index(&making->made->policy, *slot);
    if (index < 0 && *slot)
        report_state(making, slot, *slot);
    return index;
}

static void add_state(const struct making *making, char *const *slot)
{
    struct flow *flow = &making->made->policy.flow;
    if (policy_state_index(&making->made->policy, *slot) >= 0)
        schema_diag(making->load, DIAG_ERROR, AT_SLOT(slot, NULL), "duplicate-state",
                "state '%s' is named twice", *slot);
    flow->states[flow->n_states++].name = *slot ? xstrdup(*slot) : NULL;
}

static void check_count(const struct making *making, size_t n_states)
{
    if (n_states > FLOW_STATES_MAX)
        schema_diag(making->load, DIAG_ERROR, AT_SLOT(&making->made->path, NULL), "too-many-states",
                "orders has %zu states in path and aside; %d is the most", n_states,
                FLOW_STATES_MAX);
}

static void make_states(const struct making *making)
{
    struct policy_made *made = making->made;
    struct flow *flow = &made->policy.flow;
    check_count(making, made->n_path + made->n_aside);
    flow->states = xcalloc(made->n_path + made->n_aside, sizeof *flow->states);
    for (size_t i = 0; i < made->n_path; i++)
        add_state(making, &made->path[i]);
    flow->n_path = flow->n_states;
    for (size_t i = 0; i < made->n_aside; i++)
        add_state(making, &made->aside[i].state);
    flow->may = xcalloc(flow->n_states * flow->n_states, sizeof *flow->may);
    for (size_t i = 0; i + 1 < flow->n_path; i++)
        flow->may[i * flow->n_states + i + 1] = true;
}

static void allow_aside(const struct making *making, const struct aside_rule *rule)
{
    struct flow *flow = &making->made->policy.flow;
    int to = policy_state_index(&making->made->policy, rule->state);
    for (size_t i = 0; i < rule->n_from; i++) {
        int from = find_state(making, &rule->from[i]);
        if (from >= 0 && from == to)
            schema_diag(making->load, DIAG_ERROR, AT_SLOT(&rule->from[i], NULL), "flow",
                    "'%s' can't follow itself", rule->state);
        else if (from >= 0 && to >= 0)
            flow->may[(size_t)from * flow->n_states + (size_t)to] = true;
    }
}

// Marks the states that may be missed before `to`, which is on the path.
static void mark_missed(
        const struct making *making, const struct skip_rule *rule, int to, bool *missed)
{
    for (size_t i = 0; i < rule->n_missed; i++) {
        int state = find_state(making, &rule->missed[i]);
        if (state >= to)
            schema_diag(making->load, DIAG_ERROR, AT_SLOT(&rule->missed[i], NULL), "flow",
                    "'%s' does not come before '%s' on the path", rule->missed[i], rule->state);
        else if (state >= 0)
            missed[state] = true;
    }
}

static void warn_useless(const struct making *making, const struct skip_rule *rule, int to)
{
    const struct policy *policy = &making->made->policy;
    const struct flow *flow = &policy->flow;
    for (size_t i = 0; i < rule->n_missed; i++) {
        int state = policy_state_index(policy, rule->missed[i]);
        bool used = state > 0 && flow->may[(size_t)(state - 1) * flow->n_states + (size_t)to];
        if (used)
            continue;
        schema_diag(making->load, DIAG_WARNING, AT_SLOT(&rule->missed[i], NULL), "skip-useless",
                "'%s' can't be missed: %s", rule->missed[i],
                state == 0 ? "the path begins with it"
                           : "the steps between it and the state are not in the list");
    }
}

// A step to `to` may come from any state before it when all between the two may be missed.
static void allow_skip(const struct making *making, const struct skip_rule *rule)
{
    struct flow *flow = &making->made->policy.flow;
    int to = find_state(making, &rule->state);
    if (to >= 0 && (size_t)to >= flow->n_path)
        schema_diag(making->load, DIAG_ERROR, AT_SLOT(&rule->state, NULL), "flow",
                "skip is for states of the path; '%s' leaves it", rule->state);
    if (to < 0 || (size_t)to >= flow->n_path)
        return;
    AUTO_FREE bool *missed = xcalloc(flow->n_path, sizeof *missed);
    mark_missed(making, rule, to, missed);
    for (int from = to - 2; from >= 0 && missed[from + 1]; from--)
        flow->may[(size_t)from * flow->n_states + (size_t)to] = true;
    if (making->diag->errors == making->errors_before)
        warn_useless(making, rule, to);
}

static void mark_create(const struct making *making)
{
    struct policy_made *made = making->made;
    for (size_t i = 0; i < made->n_create; i++) {
        int state = find_state(making, &made->create[i]);
        if (state >= 0)
            made->policy.flow.states[state].create = true;
    }
    bool said = schema_where(making->load, &made->create) != NULL;
    if (made->policy.flow.n_states && made->n_create == 0 && !said)
        schema_diag(making->load, DIAG_WARNING, AT_SLOT(&made->path, NULL), "no-create",
                "orders.create names no state: no order can ever begin");
}

static void resolve(const struct making *making, const struct schema_ref *ref)
{
    const struct policy *policy = &making->made->policy;
    bool state = ref->kind == REF_STATE;
    *ref->slot = state ? policy_state_index(policy, ref->node->text)
                       : message_index(policy, ref->node->text);
    if (*ref->slot >= 0)
        return;
    if (state) {
        report_state(making, ref->slot, ref->node->text);
        return;
    }
    struct near near = {0};
    for (size_t i = 0; i < policy->n_messages; i++) {
        if (policy->messages[i].name)
            near_offer(&near, ref->node->text, policy->messages[i].name);
    }
    policy_report_unknown(
            making, ref->slot, "message", &(struct unknown){ref->node->text, near.best, ""});
}

// A path that is written and empty was told; that no state is known then need not be told as well.
static bool path_is_missing(const struct making *making)
{
    return making->made->policy.flow.n_path == 0 &&
           schema_where(making->load, &making->made->path) != NULL;
}

void policy_make_flow(const struct making *making)
{
    struct policy_made *made = making->made;
    make_states(making);
    bool missing = path_is_missing(making);
    for (size_t i = 0; i < made->n_aside && !missing; i++)
        allow_aside(making, &made->aside[i]);
    for (size_t i = 0; i < made->n_skip && !missing; i++)
        allow_skip(making, &made->skip[i]);
    if (!missing)
        mark_create(making);
    size_t n = 0;
    const struct schema_ref *refs = schema_refs(making->load, &n);
    for (size_t i = 0; i < n; i++) {
        if (!missing || refs[i].kind == REF_MESSAGE)
            resolve(making, &refs[i]);
    }
}
