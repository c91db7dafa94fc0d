// What the texts ask for: a value that no event ever gives would end every message that names it.
#include "common/config/near.h"
#include "common/config/policy_made.h"

#include <stdio.h>

enum { NAME_ROOM = POLICY_NAME_ROOM };

struct looking {
    const struct making *making;
    const char *file;
    char name[NAME_ROOM]; // as far as it is checked: "data.address" of "data.address.city"
    bool there;
    struct near near;
    char nearest[NAME_ROOM];
};

static void offer(struct looking *looking, const char *group, const char *member)
{
    char candidate[NAME_ROOM];
    snprintf(candidate, sizeof candidate, "%s%s%s", group, *member ? "." : "", member);
    looking->there |= strcmp(candidate, looking->name) == 0;
    const char *before = looking->near.best;
    near_offer(&looking->near, looking->name, candidate);
    if (looking->near.best != before) {
        snprintf(looking->nearest, sizeof looking->nearest, "%s", candidate);
        looking->near.best = looking->nearest;
    }
}

static void offer_fields(
        struct looking *looking, const char *group, const struct field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        offer(looking, group, fields[i].name);
}

static void offer_all(struct looking *looking)
{
    static const char *const fixed[][2] = {{"order", "id"}, {"order", "state"}, {"event", "id"},
            {"event", "type"}, {"event", "source"}};
    const struct policy *policy = &looking->making->made->policy;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        offer(looking, fixed[i][0], fixed[i][1]);
    if (policy->unsubscribe.url)
        offer(looking, "unsubscribe_url", "");
    for (size_t i = 0; i < policy->n_sources; i++) {
        for (size_t j = 0; j < policy->sources[i].n_events; j++) {
            const struct event_rule *rule = &policy->sources[i].events[j];
            offer_fields(looking, "contact", rule->contact, rule->n_contact);
            offer_fields(looking, "data", rule->data, rule->n_data);
        }
    }
}

// "data.address.city" -> "data.address": what is inside a value only the events know.
static void cut_name(struct looking *looking, struct slice name)
{
    size_t len = name.len < NAME_ROOM - 1 ? name.len : NAME_ROOM - 1;
    memcpy(looking->name, name.ptr, len);
    looking->name[len] = '\0';
    char *dot = strchr(looking->name, '.');
    if (dot)
        dot[1 + strcspn(dot + 1, ".")] = '\0';
}

bool policy_gives(const struct making *making, struct slice name, char nearest[POLICY_NAME_ROOM])
{
    struct looking looking = {.making = making};
    cut_name(&looking, name);
    offer_all(&looking);
    snprintf(nearest, POLICY_NAME_ROOM, "%s", looking.near.best ? looking.nearest : "");
    return looking.there;
}

static void check_name(void *ctx, struct slice name, int line, int column)
{
    struct looking *looking = ctx;
    looking->there = false;
    looking->near = (struct near){0};
    cut_name(looking, name);
    offer_all(looking);
    if (looking->there)
        return;
    AUTO_TEXT struct text why = {0};
    text_init(&why, DIAG_TEXT_MAX);
    text_fmt(&why, "no event ever gives '%s'", looking->name);
    if (looking->near.best)
        text_fmt(&why, "; did you mean '%s'?", looking->nearest);
    else
        text_str(&why, ": there is order.id order.state event.id event.type event.source, and what "
                       "the sources' contact and data name");
    const struct diag_place place = {looking->file, line, column, (int)name.len};
    diag_error_at(looking->making->diag, &place, "template-value", text_cstr(&why));
}

void policy_check_values(const struct making *making)
{
    const struct policy *policy = &making->made->policy;
    if (!making->known->template_values || making->diag->errors != making->errors_before)
        return;
    for (size_t i = 0; i < policy->n_templates; i++) {
        struct looking looking = {.making = making, .file = policy->templates[i].path};
        making->known->template_values(
                policy->templates[i].body, policy->templates[i].len, check_name, &looking);
    }
}
