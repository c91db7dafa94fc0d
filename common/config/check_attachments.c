// Attachments: paths that can lead to a file below the host's folder, of messages that are mails.
#include "common/beneath.h"
#include "common/config/policy_made.h"

#define SAY(slot, beside, ...)                                                                     \
    schema_diag(making->load, DIAG_ERROR, AT_SLOT(slot, beside), "attachments", __VA_ARGS__)

// One entry being checked.
struct entry {
    const struct making *making;
    char *const *slot;
};

// The path with a letter in place of each value, and without all other tags: what can be told of it
// before it is rendered. False: a tag that does not end.
static bool outline(const char *pattern, struct text *out)
{
    const char *at = pattern;
    for (const char *open; (open = strstr(at, "{{")) != NULL;) {
        const char *end = strstr(open, "}}");
        if (!end)
            return false;
        struct slice before = {(const unsigned char *)at, (size_t)(open - at)};
        bool value = !strchr("#^/!=>$<", open[2]);
        if (!text_add(out, before) || (value && !text_char(out, 'x')))
            return false;
        at = end + 2 + (end[2] == '}');
    }
    return text_str(out, at);
}

static void seen_partial(void *ctx, struct slice name, int line, int column)
{
    const struct entry *entry = ctx;
    const struct making *making = entry->making;
    (void)line;
    (void)column;
    SAY(entry->slot, NULL, "attachments: the partial '%s' can't stand in a path",
            yaml_show(name).text);
}

static void seen_value(void *ctx, struct slice name, int line, int column)
{
    const struct entry *entry = ctx;
    const struct making *making = entry->making;
    char nearest[POLICY_NAME_ROOM];
    (void)line;
    (void)column;
    if (policy_gives(making, name, nearest))
        return;
    if (nearest[0])
        SAY(entry->slot, NULL, "attachments: no event ever gives '%s'; did you mean '%s'?",
                yaml_show(name).text, nearest);
    else
        SAY(entry->slot, NULL, "attachments: no event ever gives '%s'", yaml_show(name).text);
}

static void check_entry(const struct entry *entry)
{
    const struct making *making = entry->making;
    const struct policy_known *known = making->known;
    const char *pattern = *entry->slot;
    size_t len = strlen(pattern);
    struct err err = {0};
    AUTO_TEXT struct text path = {0};
    text_init(&path, BENEATH_PATH_MAX * 4);
    if (known->template_ok && !known->template_ok(pattern, len, &err))
        SAY(entry->slot, NULL, "attachments: %s", err.msg);
    else if (!outline(pattern, &path))
        SAY(entry->slot, NULL, "attachments: the path is too long, or a tag does not end");
    else if (!beneath_path_ok(text_cstr(&path), &err))
        SAY(entry->slot, NULL, "attachments: %s", err.msg);
    else if (known->template_partials)
        known->template_partials(pattern, len, seen_partial, (void *)(uintptr_t)entry);
    // Who asks what events give must know that the sources are as they should be.
    if (known->template_values && making->diag->errors == making->errors_before)
        known->template_values(pattern, len, seen_value, (void *)(uintptr_t)entry);
}

static void check_repeat(const struct making *making, const struct message *message, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (message->attachments[i] &&
                strcmp(message->attachments[i], message->attachments[at]) == 0)
            SAY(&message->attachments[at], NULL, "attachments: this file is there twice");
}

static void check_message(const struct making *making, const struct message *message)
{
    bool mails = false;
    for (size_t i = 0; i < message->n_steps; i++)
        mails |= message->steps[i].channel == CHANNEL_EMAIL;
    if (!mails)
        SAY(&message->attachments[0], &message->name,
                "attachments: message '%s' is not sent by email, which alone carries files",
                message->name);
    if (message->n_attachments > MESSAGE_ATTACHMENTS_MAX)
        SAY(&message->attachments[MESSAGE_ATTACHMENTS_MAX], &message->name,
                "attachments: %zu files, and a mail carries at most %d", message->n_attachments,
                MESSAGE_ATTACHMENTS_MAX);
    if (making->known->no_attachments)
        SAY(&message->attachments[0], &message->name,
                "attachments: the host file does not say where files are: add "
                "`dispatcher: { attachments: FOLDER }`");
    for (size_t i = 0; i < message->n_attachments; i++) {
        if (!message->attachments[i])
            continue;
        check_entry(&(struct entry){making, &message->attachments[i]});
        check_repeat(making, message, i);
    }
}

void policy_check_attachments(const struct making *making)
{
    const struct policy *policy = &making->made->policy;
    for (size_t i = 0; i < policy->n_messages; i++)
        if (policy->messages[i].name && policy->messages[i].n_attachments)
            check_message(making, &policy->messages[i]);
}
