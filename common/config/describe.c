// The effective policy in words, for `pawl policy show`.
#include "common/config/policy.h"

static const char *state_name(const struct policy *policy, int state)
{
    return state >= 0 ? policy->flow.states[state].name : "-";
}

static void add_time(struct text *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (seconds % units[i].seconds != 0)
            continue;
        text_fmt(out, "%lld%c", (long long)(seconds / units[i].seconds), units[i].unit);
        return;
    }
}

static void describe_rule(
        const struct policy *policy, const struct event_rule *rule, struct text *out)
{
    text_fmt(out, "    %s", rule->type);
    if (rule->to >= 0)
        text_fmt(out, " moves to %s", state_name(policy, rule->to));
    for (size_t i = 0; i < rule->n_map; i++)
        text_fmt(out, "%s%s moves to %s", i ? ", " : ": ", rule->map[i].value,
                state_name(policy, rule->map[i].to));
    if (rule->notify >= 0)
        text_fmt(out, " notifies %s", policy->messages[rule->notify].name);
    text_char(out, '\n');
}

static void describe_source(
        const struct policy *policy, const struct source *source, struct text *out)
{
    text_fmt(out, "  %s (scheme %s, %zu secret%s)%s\n", source->name, source->scheme,
            source->n_secrets, source->n_secrets == 1 ? "" : "s",
            source->active ? "" : ", not active yet");
    for (size_t i = 0; i < source->n_events; i++)
        describe_rule(policy, &source->events[i], out);
}

static void describe_flow(const struct flow *flow, struct text *out)
{
    if (flow->n_states == 0)
        return;
    text_str(out, "orders\n");
    for (size_t to = 0; to < flow->n_states; to++) {
        text_fmt(out, "  %s%s", flow->states[to].name,
                to < flow->n_path ? "" : " (leaves the path)");
        const char *lead = " after ";
        for (size_t from = 0; from < flow->n_states; from++) {
            if (!flow->may[from * flow->n_states + to])
                continue;
            text_fmt(out, "%s%s", lead, flow->states[from].name);
            lead = ", ";
        }
        text_fmt(out, "%s\n", flow->states[to].create ? "; may create the order" : "");
    }
    text_str(out, "  an early event waits ");
    add_time(out, flow->park_s);
    text_char(out, '\n');
}

static void describe_channel(const struct channel *channel, struct text *out)
{
    if (!channel->configured)
        return;
    text_fmt(out, "  %s by", channel_name(channel->kind));
    for (size_t i = 0; i < channel->n_providers; i++) {
        const struct provider *provider = &channel->providers[i];
        text_fmt(out, "%s %s", i ? ", then" : "", provider->driver_name);
        if (provider->driver == DRIVER_HTTP && provider->url)
            text_fmt(out, " at %s", provider->url);
        if (provider->driver == DRIVER_SMTP)
            text_fmt(out, " %s (%s)", provider->url,
                    provider->plain      ? "no TLS, this machine"
                    : provider->starttls ? "STARTTLS"
                                         : "TLS");
    }
    text_fmt(out, "%s\n", channel->active ? "" : ", not active yet");
}

static void describe_retry(const struct message *message, struct text *out)
{
    if (message->retry_for_s == 0) {
        text_str(out, "    one try");
    } else {
        text_fmt(out, "    tried again on %zu rungs, +-%d%%, for ", message->n_wait,
                message->jitter_percent);
        add_time(out, message->retry_for_s);
    }
    if (message->expires_s) {
        text_str(out, "; expires after ");
        add_time(out, message->expires_s);
    }
    text_char(out, '\n');
}

static void describe_message(
        const struct policy *policy, const struct message *message, struct text *out)
{
    text_fmt(out, "  %s", message->name);
    if (message->when >= 0)
        text_fmt(out, " when an order moves to %s", state_name(policy, message->when));
    text_fmt(out, ", %s, once per \"%s\"\n",
            message->delivery == AT_MOST_ONCE ? "at most once" : "at least once", message->once);
    text_str(out, "    by");
    for (size_t i = 0; i < message->n_steps; i++)
        text_fmt(out, "%s %s%s", i ? "," : "", channel_name(message->steps[i].channel),
                message->steps[i].active ? "" : " (not active yet)");
    text_char(out, '\n');
    for (size_t i = 0; i < message->n_attachments; i++)
        text_fmt(out, "    with the file \"%s\"\n", message->attachments[i]);
    describe_retry(message, out);
}

void policy_describe(const struct policy *policy, struct text *out)
{
    text_fmt(out, "policy %.12s", policy->sha256);
    if (policy->version)
        text_fmt(out, ", version %d", policy->version);
    text_str(out, "\nkeeps keys ");
    add_time(out, policy->keep_keys_s);
    text_str(out, ", bodies ");
    add_time(out, policy->keep_bodies_s);
    text_fmt(out, "; locale %s, time zone %s\nsources\n", policy->locale, policy->timezone);
    for (size_t i = 0; i < policy->n_sources; i++)
        describe_source(policy, &policy->sources[i], out);
    describe_flow(&policy->flow, out);
    text_str(out, "channels\n");
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        describe_channel(&policy->channels[kind], out);
    text_str(out, "messages\n");
    for (size_t i = 0; i < policy->n_messages; i++)
        describe_message(policy, &policy->messages[i], out);
}
