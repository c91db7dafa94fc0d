// Messages: the once key, the steps, the ladder, and who may be exempt.
#include "common/config/policy_made.h"

#include "common/config/near.h"

#define SAY(level, slot, beside, code, ...)                                                        \
    schema_diag(making->load, level, AT_SLOT(slot, beside), code, __VA_ARGS__)

enum { ONCE_ORDER = 1, ONCE_EVENT = 2 };

static bool template_ok(const struct making *making, const char *source, struct err *err)
{
    return !making->known->template_ok || making->known->template_ok(source, strlen(source), err);
}

static struct slice trimmed(const char *start, const char *end)
{
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    return (struct slice){(const unsigned char *)start, (size_t)(end - start)};
}

static void once_error(
        const struct making *making, const struct message *message, struct slice name)
{
    SAY(DIAG_ERROR, &message->once, NULL, "once-field",
            "once: {{%s}} may change or is no plain name; only {{order.id}} and {{event.id}} make "
            "a "
            "key that never does",
            yaml_show(name).text);
}

// Which of the unchanging names this one is; 0 = none.
static int once_field(struct slice name)
{
    if (slice_eq(name, SLICE("order.id")))
        return ONCE_ORDER;
    return slice_eq(name, SLICE("event.id")) ? ONCE_EVENT : 0;
}

// The next name from *at on; moves *at behind its opening.
bool policy_next_name(const char **at, struct slice *ret_name)
{
    const char *open = strstr(*at, "{{"), *end = open ? strstr(open, "}}") : NULL;
    if (!end)
        return false; // the template check has told it, or the next test does
    *ret_name = trimmed(open + 2, end);
    *at = open + 2;
    return true;
}

// Which of the unchanging names the once key uses; findings for all others.
static int once_fields(const struct making *making, const struct message *message)
{
    int used = 0;
    struct slice name;
    for (const char *at = message->once; policy_next_name(&at, &name);) {
        int field = once_field(name);
        if (!field)
            once_error(making, message, name);
        used |= field;
    }
    return used;
}

static bool once_is_key(const struct message *message)
{
    int used = 0;
    struct slice name;
    for (const char *at = message->once; at && message->name && policy_next_name(&at, &name);) {
        int field = once_field(name);
        if (!field)
            return false;
        used |= field;
    }
    return used != 0;
}

bool policy_notified_without_order(const struct policy *policy, int message)
{
    for (size_t i = 0; i < policy->n_sources; i++) {
        for (size_t j = 0; j < policy->sources[i].n_events; j++) {
            const struct event_rule *rule = &policy->sources[i].events[j];
            if (rule->notify == message && !rule->order)
                return true;
        }
    }
    return false;
}

static void check_once(const struct making *making, const struct message *message, int index)
{
    struct err err = {0};
    if (!message->once)
        return;
    if (!template_ok(making, message->once, &err)) {
        SAY(DIAG_ERROR, &message->once, NULL, "template", "once: %s", err.msg);
        return;
    }
    int used = once_fields(making, message);
    bool by_move = schema_where(making->load, &message->when) != NULL;
    if (by_move && !(used & ONCE_ORDER))
        SAY(DIAG_ERROR, &message->once, NULL, "once-field",
                "once: must contain {{order.id}}, or one order's message stops all others'");
    if (!by_move && !(used & ONCE_EVENT))
        SAY(DIAG_ERROR, &message->once, NULL, "once-field",
                "once: must contain {{event.id}}, since no move of an order sends this message");
    if ((used & ONCE_ORDER) && policy_notified_without_order(&making->made->policy, index))
        SAY(DIAG_ERROR, &message->once, NULL, "once-field",
                "once: {{order.id}} is not there for an event that notifies without an order");
}

static bool starts(struct slice text, struct slice with)
{
    return text.len >= with.len && memcmp(text.ptr, with.ptr, with.len) == 0;
}

static bool ends(struct slice text, struct slice with)
{
    struct slice tail = {text.ptr + text.len - with.len, with.len};
    return text.len >= with.len && starts(tail, with);
}

// What stands before the first name, and behind the last one.
static void once_edges(const char *once, struct slice *ret_head, struct slice *ret_tail)
{
    struct slice all = slice_of(once);
    const char *open = strstr(once, "{{"), *close = once;
    *ret_head = open ? (struct slice){all.ptr, (size_t)(open - once)} : all;
    for (const char *end = strstr(once, "}}"); end; end = strstr(end + 2, "}}"))
        close = end + 2;
    *ret_tail = slice_of(close);
}

// The names in between may be anything: only the edges tell two keys apart for sure.
static bool once_may_meet(const char *a, const char *b)
{
    struct slice a_head, a_tail, b_head, b_tail;
    once_edges(a, &a_head, &a_tail);
    once_edges(b, &b_head, &b_tail);
    return (starts(a_head, b_head) || starts(b_head, a_head)) &&
           (ends(a_tail, b_tail) || ends(b_tail, a_tail));
}

// A key that two messages can make would stop the one that comes second. A template that is no key
// was told already.
static void check_once_own(const struct making *making, size_t index)
{
    const struct message *message = &making->made->policy.messages[index];
    for (size_t i = 0; i < index && once_is_key(message); i++) {
        const struct message *other = &making->made->policy.messages[i];
        if (!once_is_key(other) || !once_may_meet(message->once, other->once))
            continue;
        SAY(DIAG_ERROR, &message->once, &other->once, "once-shared",
                "once: may make a key of message '%s' too; begin it with this message's own words",
                other->name);
        return;
    }
}

// accepted(push) / delivered(push) of a step before this one.
static void check_unless(const struct making *making, const struct message *message, size_t at)
{
    struct step *step = &message->steps[at];
    const char *unless = message->steps[at].unless;
    const char *open = strchr(unless, '(');
    size_t n = open ? (size_t)(open - unless) : 0, len = strlen(unless);
    struct slice verb = {(const unsigned char *)unless, n};
    bool known = slice_eq(verb, SLICE("accepted")) || slice_eq(verb, SLICE("delivered"));
    bool earlier = false;
    for (size_t i = 0; open && i < at; i++) {
        const char *name = channel_name(message->steps[i].channel);
        struct slice inside = {(const unsigned char *)open + 1, len - n - 2};
        if (len < n + 2 || !slice_eq(inside, slice_of(name)))
            continue;
        earlier = true;
        step->unless_channel = message->steps[i].channel;
        step->unless_delivered = slice_eq(verb, SLICE("delivered"));
    }
    if (!known || unless[len - 1] != ')')
        SAY(DIAG_ERROR, &message->steps[at].unless, NULL, "unless",
                "unless: '%s' is neither accepted(CHANNEL) nor delivered(CHANNEL)",
                yaml_show(slice_of(unless)).text);
    else if (!earlier)
        SAY(DIAG_ERROR, &message->steps[at].unless, NULL, "unless",
                "unless: '%s' names no earlier step of this message",
                yaml_show(slice_of(unless)).text);
}

static void check_step(const struct making *making, const struct message *message, size_t at)
{
    struct step *step = &message->steps[at];
    if (step->channel == CHANNEL_NONE)
        return;
    const struct channel *channel = &making->made->policy.channels[step->channel];
    const char *name = channel_name(step->channel);
    if (!channel->configured)
        SAY(DIAG_ERROR, &step->channel, NULL, "no-channel", "channel '%s' is not in channels",
                name);
    else if (!channel->active)
        SAY(DIAG_INACTIVE, &step->channel, NULL, "inactive",
                "not active yet: send: this step makes no delivery, since channel '%s' does not "
                "run",
                name);
    for (size_t i = 0; i < at; i++) {
        if (message->steps[i].channel == step->channel)
            SAY(DIAG_ERROR, &step->channel, NULL, "duplicate-step",
                    "channel '%s' is there twice: one delivery a channel is made", name);
    }
    if (step->unless)
        check_unless(making, message, at);
    step->active = channel->active;
}

static void check_times(const struct making *making, const struct message *message)
{
    int64_t for_ms = message->retry_for_s * 1000;
    for (size_t i = 0; i < message->n_wait && for_ms; i++) {
        if (message->wait_ms[i] > for_ms)
            SAY(DIAG_WARNING, &message->wait_ms[i], NULL, "retry-wait",
                    "retry.wait: this rung is longer than retry.for and is never reached");
    }
    if (message->expires_s && message->retry_for_s > message->expires_s)
        SAY(DIAG_WARNING, &message->retry_for_s, &message->expires_s, "retry-for",
                "retry.for is longer than expires: the message expires first");
}

// What is in doubt is tried again only while its provider knows the key: dispatcher/record.
static void check_window(const struct making *making, const struct message *message, int kind)
{
    const struct channel *channel = &making->made->policy.channels[kind];
    int64_t least = message->retry_for_s;
    if (message->expires_s && message->expires_s < least)
        least = message->expires_s;
    for (size_t i = 0; i < channel->n_providers; i++) {
        const char *driver = channel->providers[i].driver_name;
        int64_t window = driver ? making->known->key_window_s((enum channel_kind)kind, driver) : 0;
        if (window == 0 || least <= window)
            continue;
        SAY(DIAG_WARNING, &message->retry_for_s, NULL, "key-window",
                "retry.for: %s recognises a repeat for %d h only: a delivery in doubt is not tried "
                "again after that, and stays unknown",
                driver, (int)(window / 3600));
        return;
    }
}

static void check_windows(const struct making *making, const struct message *message)
{
    if (message->delivery != AT_LEAST_ONCE || !making->known->key_window_s)
        return;
    for (size_t i = 0; i < message->n_steps; i++)
        check_window(making, message, (int)message->steps[i].channel);
}

static void check_quiet(const struct making *making, const struct message *message)
{
    if (!message->quiet_from || !message->quiet_to)
        return;
    if (strcmp(message->quiet_from, message->quiet_to) == 0)
        SAY(DIAG_ERROR, &message->quiet_from, &message->quiet_to, "quiet",
                "quiet: from and to are the same time: that is no hour, or all of them");
}

static void check_steps_times(const struct making *making, const struct message *message)
{
    for (size_t i = 0; i < message->n_steps; i++)
        if (message->expires_s && message->steps[i].after_s >= message->expires_s)
            SAY(DIAG_ERROR, &message->steps[i].after_s, &message->expires_s, "after",
                    "after: the message has expired by then");
}

static void check_message(const struct making *making, struct message *message, int index)
{
    check_once(making, message, index);
    check_once_own(making, (size_t)index);
    for (size_t i = 0; i < message->n_steps; i++)
        check_step(making, message, i);
    check_times(making, message);
    check_windows(making, message);
    check_steps_times(making, message);
    check_quiet(making, message);
}

static void mark_exempt(const struct making *making, char *const *name)
{
    struct policy *policy = &making->made->policy;
    struct near near = {0};
    bool found = *name == NULL;
    for (size_t i = 0; i < policy->n_messages && *name; i++) {
        struct message *message = &policy->messages[i];
        if (!message->name)
            continue;
        bool same = strcmp(message->name, *name) == 0;
        message->exempt |= same;
        found |= same;
        near_offer(&near, *name, message->name);
    }
    if (!found)
        policy_report_unknown(making, name, "message", &(struct unknown){*name, near.best, ""});
}

static void check_unsubscribe(const struct making *making, const struct message *message)
{
    bool mails = false;
    for (size_t i = 0; i < message->n_steps; i++)
        mails |= message->steps[i].channel == CHANNEL_EMAIL;
    if (message->unsubscribe && !mails)
        SAY(DIAG_ERROR, &message->unsubscribe, &message->name, "unsubscribe",
                "unsubscribe: message '%s' is not sent by email, which alone carries the link",
                message->name);
    if (message->unsubscribe && !making->made->policy.unsubscribe.url)
        SAY(DIAG_ERROR, &message->unsubscribe, &message->name, "unsubscribe",
                "unsubscribe: the policy does not say where the link leads and what signs it: add "
                "`unsubscribe: { url: .., secrets: [credential:..] }`");
}

void policy_check_messages(const struct making *making)
{
    struct policy_made *made = making->made;
    struct policy *policy = &made->policy;
    for (size_t i = 0; i < policy->n_messages; i++) {
        struct message *message = &policy->messages[i];
        if (!message->name)
            continue;
        message->timezone = policy->timezone;
        check_unsubscribe(making, message);
        check_message(making, message, (int)i);
    }
    for (size_t i = 0; i < made->n_exempt; i++)
        mark_exempt(making, &made->exempt[i]);
}
