// Caps, limits and collapse ids: what would never hold, or could not be asked for.
#include "common/config/policy_made.h"

#define SAY(level, slot, beside, code, ...)                                                        \
    schema_diag(making->load, level, AT_SLOT(slot, beside), code, __VA_ARGS__)

enum { COLLAPSE_MAX = 200 }; // bytes, as written; it is part of an index

static bool by_order(const struct cap *cap)
{
    return cap->per && strcmp(cap->per, "order") == 0;
}

static bool same_rule(const struct cap *a, const struct cap *b)
{
    return a->most == b->most && a->in_s == b->in_s && a->across == b->across &&
           by_order(a) == by_order(b);
}

static void check_twins(const struct making *making, const struct cap *caps, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (same_rule(&caps[i], &caps[at]))
            SAY(DIAG_WARNING, &caps[at].most, &caps[at].in_s, "same-cap",
                    "the same cap is there already");
}

static void check_cap(const struct making *making, const struct message *message, size_t at)
{
    const struct cap *cap = &message->caps[at];
    int index = (int)(message - making->made->policy.messages);
    if (by_order(cap) && policy_notified_without_order(&making->made->policy, index))
        SAY(DIAG_ERROR, &cap->per, &cap->most, "cap-order",
                "cap: per order, but an event notifies this message without an order");
    if (!cap->withhold && message->expires_s && cap->in_s > message->expires_s)
        SAY(DIAG_WARNING, &cap->in_s, &message->expires_s, "cap-expires",
                "cap: what is deferred may expire before this time is over");
    check_twins(making, message->caps, at);
}

// The names of a collapse id: all of them are always there, so that it never fails to be made.
static bool collapse_field(struct slice name)
{
    static const char *const names[] = {"order.id", "order.state", "event.type"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_eq(name, slice_of(names[i])))
            return true;
    return false;
}

static void check_collapse(const struct making *making, const struct message *message)
{
    bool has_order = false;
    struct slice name;
    int index = (int)(message - making->made->policy.messages);
    for (const char *at = message->collapse; policy_next_name(&at, &name);) {
        has_order |= slice_eq(name, SLICE("order.id"));
        if (!collapse_field(name))
            SAY(DIAG_ERROR, &message->collapse, NULL, "collapse-field",
                    "collapse: {{%s}} is none of order.id, order.state, event.type",
                    yaml_show(name).text);
    }
    if (!has_order)
        SAY(DIAG_ERROR, &message->collapse, NULL, "collapse-field",
                "collapse: must contain {{order.id}}: only messages of one order replace another");
    else if (policy_notified_without_order(&making->made->policy, index))
        SAY(DIAG_ERROR, &message->collapse, NULL, "collapse-field",
                "collapse: {{order.id}} is not there for an event that notifies without an order");
    if (strlen(message->collapse) > COLLAPSE_MAX)
        SAY(DIAG_ERROR, &message->collapse, NULL, "collapse-long", "collapse: longer than %d bytes",
                COLLAPSE_MAX);
}

static void check_message(const struct making *making, const struct message *message)
{
    struct err err = {0};
    const char *collapse = message->collapse;
    bool parsed = !collapse || !making->known->template_ok ||
                  making->known->template_ok(collapse, strlen(collapse), &err);
    if (!parsed)
        SAY(DIAG_ERROR, &message->collapse, NULL, "template", "collapse: %s", err.msg);
    else if (collapse)
        check_collapse(making, message);
    for (size_t i = 0; i < message->n_caps; i++)
        check_cap(making, message, i);
}

void policy_check_caps(const struct making *making)
{
    const struct policy_made *made = making->made;
    for (size_t i = 0; i < made->policy.n_messages; i++)
        if (made->policy.messages[i].name)
            check_message(making, &made->policy.messages[i]);
    for (size_t i = 0; i < made->policy.n_messages; i++) {
        struct message *message = &making->made->policy.messages[i];
        message->limits = message->exempt ? NULL : made->policy.limits;
        message->n_limits = message->exempt ? 0 : made->policy.n_limits;
    }
    for (size_t i = 0; i < made->policy.n_limits; i++)
        check_twins(making, made->policy.limits, i);
    if (made->n_exempt > 0 && made->policy.n_limits == 0)
        SAY(DIAG_WARNING, &made->exempt[0], NULL, "exempt",
                "exempt: there are no limits to be exempt from");
}
