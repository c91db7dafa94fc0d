// What no event ever comes to: messages of states that none leads to, and channels that none gives
// an address of.
#include "common/config/policy_made.h"

#define SAY(slot, beside, code, ...)                                                               \
    schema_diag(making->load, DIAG_WARNING, AT_SLOT(slot, beside), code, __VA_ARGS__)

struct asking {
    const struct message *message;
    int index; // of the message
    const char *contact;
};

typedef bool rule_test(const struct asking *asking, const struct event_rule *rule);

static bool any_rule(const struct policy *policy, rule_test *is_so, const struct asking *asking)
{
    for (size_t i = 0; i < policy->n_sources; i++) {
        for (size_t j = 0; j < policy->sources[i].n_events; j++) {
            if (is_so(asking, &policy->sources[i].events[j]))
                return true;
        }
    }
    return false;
}

static bool notifies(const struct asking *asking, const struct event_rule *rule)
{
    return rule->notify == asking->index;
}

static bool leads(const struct asking *asking, const struct event_rule *rule)
{
    for (size_t i = 0; i < rule->n_map; i++) {
        if (rule->map[i].to == asking->message->when)
            return true;
    }
    return rule->to == asking->message->when;
}

// What events of an order said of the customer is kept with it, so that any of them may be the one.
static bool gives(const struct asking *asking, const struct event_rule *rule)
{
    bool of_order = asking->message->when >= 0 && rule->order;
    for (size_t i = 0; (of_order || notifies(asking, rule)) && i < rule->n_contact; i++) {
        if (rule->contact[i].name && strcmp(rule->contact[i].name, asking->contact) == 0)
            return true;
    }
    return false;
}

static void check_addresses(const struct making *making, const struct asking *of)
{
    static const char *const contacts[CHANNEL_COUNT] = {
            [CHANNEL_EMAIL] = "email", [CHANNEL_SMS] = "phone", [CHANNEL_PUSH] = "push"};
    const struct message *message = of->message;
    for (size_t i = 0; i < message->n_steps; i++) {
        enum channel_kind channel = message->steps[i].channel;
        const struct asking asking = {message, of->index, contacts[channel]};
        if (!any_rule(&making->made->policy, gives, &asking))
            SAY(&message->steps[i].channel, &message->name, "no-address",
                    "%s of message '%s' goes to nobody: no event of it gives `contact: { %s: .. }`",
                    channel_name(channel), message->name, asking.contact);
    }
}

static void check_message(const struct making *making, const struct asking *asking)
{
    const struct policy *policy = &making->made->policy;
    const struct message *message = asking->message;
    bool when = schema_where(making->load, &message->when) != NULL;
    bool notified = any_rule(policy, notifies, asking);
    if (!when && !notified)
        SAY(&message->name, NULL, "never-sent",
                "message '%s' is never sent: it has no 'when' and no event notifies it",
                message->name);
    // Who asks what events mean must know that they are as they should be.
    else if (making->diag->errors != making->errors_before)
        return;
    else if (!notified && !any_rule(policy, leads, asking))
        SAY(&message->when, &message->name, "never-sent",
                "message '%s' is never sent: no event leads to state '%s'", message->name,
                policy->flow.states[message->when].name);
    else
        check_addresses(making, asking);
}

void policy_check_reach(const struct making *making)
{
    const struct policy *policy = &making->made->policy;
    for (size_t i = 0; i < policy->n_messages; i++) {
        const struct asking asking = {&policy->messages[i], (int)i, NULL};
        if (policy->messages[i].name)
            check_message(making, &asking);
    }
}
