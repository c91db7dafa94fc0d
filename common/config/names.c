// Lookups by name and by stored number.
#include "common/config/policy.h"

// FNV-1a: the names are the admin's, so that nobody can choose them to fall together.
static uint32_t hash_of(struct slice name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ name.ptr[i]) * 16777619u;
    return hash ^ hash >> 15;
}

// A policy's names are shorter (VALUE_NAME_MAX); one made by hand is compared where it stands.
static struct source_name short_name(struct slice name)
{
    struct source_name copy = {.len = SOURCE_NAME_MAX + 1};
    if (name.len <= SOURCE_NAME_MAX) {
        copy.len = (uint8_t)name.len;
        memcpy(copy.of, name.ptr, name.len);
    }
    return copy;
}

// Open addressing; at least half of the slots stay empty, so that each search ends.
void policy_index(struct policy *policy)
{
    policy->n_slots = 2;
    while (policy->n_slots < 2 * policy->n_sources)
        policy->n_slots *= 2;
    policy->by_name = xcalloc(policy->n_slots, sizeof *policy->by_name);
    policy->names = xcalloc(policy->n_sources + 1, sizeof *policy->names);
    for (size_t i = 0; i < policy->n_sources; i++) {
        struct slice name = slice_of(policy->sources[i].name);
        uint32_t hash = hash_of(name);
        size_t at = hash & (policy->n_slots - 1);
        while (policy->by_name[at].nth)
            at = (at + 1) & (policy->n_slots - 1);
        policy->by_name[at] = (struct source_slot){hash, (uint32_t)i + 1};
        policy->names[i] = short_name(name);
    }
}

static bool is_named(const struct policy *policy, size_t i, struct slice name)
{
    const struct source_name *held = &policy->names[i];
    if (held->len > SOURCE_NAME_MAX)
        return slice_eq(slice_of(policy->sources[i].name), name);
    return slice_eq((struct slice){(const unsigned char *)held->of, held->len}, name);
}

static const struct source *find_indexed(const struct policy *policy, struct slice name)
{
    uint32_t hash = hash_of(name);
    size_t at = hash & (policy->n_slots - 1);
    for (struct source_slot slot; (slot = policy->by_name[at]).nth != 0;) {
        __builtin_prefetch(&policy->sources[slot.nth - 1]);
        if (slot.hash == hash && is_named(policy, slot.nth - 1, name))
            return &policy->sources[slot.nth - 1];
        at = (at + 1) & (policy->n_slots - 1);
    }
    return NULL;
}

// One that was not made by policy_new() has no index.
const struct source *policy_source(const struct policy *policy, struct slice name)
{
    if (policy->by_name)
        return find_indexed(policy, name);
    for (size_t i = 0; i < policy->n_sources; i++) {
        if (slice_eq(slice_of(policy->sources[i].name), name))
            return &policy->sources[i];
    }
    return NULL;
}

const struct event_rule *source_rule(const struct source *source, struct slice type)
{
    for (size_t i = 0; i < source->n_events; i++) {
        if (slice_eq(slice_of(source->events[i].type), type))
            return &source->events[i];
    }
    return NULL;
}

const struct step *message_step(const struct message *message, enum channel_kind channel)
{
    for (size_t i = 0; i < message->n_steps; i++)
        if (message->steps[i].channel == channel)
            return &message->steps[i];
    return NULL;
}

const struct message *policy_message_by_id(const struct policy *policy, int id)
{
    for (size_t i = 0; i < policy->n_messages; i++) {
        if (policy->messages[i].id == id)
            return &policy->messages[i];
    }
    return NULL;
}

const struct source *policy_source_by_id(const struct policy *policy, int id)
{
    for (size_t i = 0; i < policy->n_sources; i++) {
        if (policy->sources[i].id == id)
            return &policy->sources[i];
    }
    return NULL;
}

bool policy_has_provider(const struct policy *policy, const char *name)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        for (size_t i = 0; i < policy->channels[kind].n_providers; i++)
            if (strcmp(policy->channels[kind].providers[i].name, name) == 0)
                return true;
    return false;
}

int flow_state_by_id(const struct flow *flow, int id)
{
    for (size_t i = 0; i < flow->n_states; i++) {
        if (flow->states[i].id == id)
            return (int)i;
    }
    return -1;
}

// The names of one kind, whatever struct they live in.
struct named {
    const char *name;
    int *id;
};

static size_t count_of(const struct policy *policy, enum name_kind kind)
{
    const size_t counts[] = {[NAME_SOURCE] = policy->n_sources,
            [NAME_STATE] = policy->flow.n_states,
            [NAME_MESSAGE] = policy->n_messages};
    return counts[kind];
}

static struct named named_at(const struct policy *policy, enum name_kind kind, size_t i)
{
    if (kind == NAME_SOURCE)
        return (struct named){policy->sources[i].name, &policy->sources[i].id};
    if (kind == NAME_STATE)
        return (struct named){policy->flow.states[i].name, &policy->flow.states[i].id};
    return (struct named){policy->messages[i].name, &policy->messages[i].id};
}

void policy_bind(struct policy *policy, enum name_kind kind, const char *name, int id)
{
    for (size_t i = 0; i < count_of(policy, kind); i++) {
        struct named named = named_at(policy, kind, i);
        if (strcmp(named.name, name) == 0)
            *named.id = id;
    }
}

bool policy_bound(const struct policy *policy, struct err *err)
{
    static const struct {
        enum name_kind kind;
        const char *word;
    } kinds[] = {{NAME_SOURCE, "source"}, {NAME_STATE, "state"}, {NAME_MESSAGE, "message"}};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (size_t i = 0; i < count_of(policy, kinds[k].kind); i++) {
            struct named named = named_at(policy, kinds[k].kind, i);
            if (*named.id <= 0)
                return err_set(err, ERR_FATAL, "%s '%s' has no number in the database",
                        kinds[k].word, named.name);
        }
    }
    return true;
}
