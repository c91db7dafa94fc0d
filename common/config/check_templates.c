// Templates: every delivery that is made has its texts in the default locale, and every text
// belongs to a message.
#include "common/config/policy_made.h"

#include "common/config/value.h"

#include <stdio.h>

static const struct part {
    enum channel_kind channel;
    const char *name;
} parts[] = {{CHANNEL_EMAIL, "subject"}, {CHANNEL_EMAIL, "text"}, {CHANNEL_EMAIL, "html"},
        {CHANNEL_SMS, "text"}, {CHANNEL_PUSH, "title"}, {CHANNEL_PUSH, "text"},
        {CHANNEL_PUSH, "data"}};

// "payment-receipt/email.de-AT.text.mustache" in its parts, borrowed.
struct template_name {
    struct slice message, channel, locale, part;
};

// The text up to the first `end`, which is taken off.
static bool cut(struct slice *rest, char end, struct slice *ret)
{
    const unsigned char *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
    if (!at)
        return false;
    *ret = (struct slice){rest->ptr, (size_t)(at - rest->ptr)};
    *rest = (struct slice){at + 1, rest->len - ret->len - 1};
    return true;
}

static bool read_name(const char *path, struct template_name *ret)
{
    struct slice rest = slice_of(path);
    return cut(&rest, '/', &ret->message) && cut(&rest, '.', &ret->channel) &&
           cut(&rest, '.', &ret->locale) && cut(&rest, '.', &ret->part) &&
           slice_eq(rest, SLICE("mustache")) && value_locale(ret->locale);
}

static bool is_part(struct slice channel, struct slice part)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (slice_eq(channel, slice_of(channel_name(parts[i].channel))) &&
                slice_eq(part, slice_of(parts[i].name)))
            return true;
    }
    return false;
}

static const struct message *find_message(const struct policy *policy, struct slice name)
{
    for (size_t i = 0; i < policy->n_messages; i++) {
        const char *there = policy->messages[i].name;
        if (there && slice_eq(slice_of(there), name))
            return &policy->messages[i];
    }
    return NULL;
}

static bool sends(const struct message *message, struct slice channel)
{
    for (size_t i = 0; i < message->n_steps; i++) {
        if (slice_eq(channel, slice_of(channel_name(message->steps[i].channel))))
            return true;
    }
    return false;
}

// "layouts/foot.mustache", "partials/foot.mustache" and "<message>/foot.mustache" are for {{>foot}}
// and {{<foot}}: names without a dot.
static bool is_partial(const char *path, struct slice *ret_folder)
{
    struct slice rest = slice_of(path), name;
    return cut(&rest, '/', ret_folder) && cut(&rest, '.', &name) && name.len > 0 &&
           slice_eq(rest, SLICE("mustache"));
}

// The texts of one message, channel and locale.
struct find {
    const struct policy *policy;
    const char *channel, *message;
    struct slice locale;
};

static bool has_part(const struct find *find, const char *part)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.%.*s.%s.mustache", find->message, find->channel,
            (int)find->locale.len, (const char *)find->locale.ptr, part);
    for (size_t i = 0; i < find->policy->n_templates; i++) {
        if (strcmp(find->policy->templates[i].path, path) == 0)
            return true;
    }
    return false;
}

static bool has_mail(
        const struct policy *policy, const char *message, struct slice locale, const char *part)
{
    struct find find = {policy, "email", message, locale};
    return has_part(&find, part);
}

// A push message in a locale without its text takes another, with its title.
static void check_push_locale(const struct making *making, const struct policy_text *file,
        const struct message *message, const struct template_name *name)
{
    AUTO_FREE char *channel = slice_dup(name->channel);
    struct find find = {&making->made->policy, channel, message->name, name->locale};
    if (!has_part(&find, "text"))
        diag_file(making->diag, DIAG_WARNING, file->path, "template-locale",
                "is not used: message '%s' has no text in locale '%.*s', so that %s takes another",
                message->name, (int)name->locale.len, (const char *)name->locale.ptr, channel);
}

// All parts of a mail are of one locale: one that is not whole is not used, and one that is whole
// but has less than the default's makes poorer mails.
static void check_locale(const struct making *making, const struct policy_text *file,
        const struct message *message, const struct template_name *name)
{
    const struct policy *policy = &making->made->policy;
    struct slice whole = slice_of(policy->locale), locale = name->locale;
    if (slice_eq(locale, whole))
        return;
    if (!slice_eq(name->channel, SLICE("email"))) {
        check_push_locale(making, file, message, name);
        return;
    }
    bool subject = has_mail(policy, message->name, locale, "subject");
    bool bodies[] = {has_mail(policy, message->name, locale, "text"),
            has_mail(policy, message->name, locale, "html")};
    if (!subject || (!bodies[0] && !bodies[1]))
        diag_file(making->diag, DIAG_WARNING, file->path, "template-locale",
                "is not used: message '%s' has no %s in locale '%.*s', so that mail takes another",
                message->name, subject ? "text or html" : "subject", (int)locale.len,
                (const char *)locale.ptr);
    for (size_t i = 0; i < ARRAY_LEN(bodies) && slice_eq(name->part, SLICE("subject")); i++) {
        const char *part = i ? "html" : "text";
        if (bodies[!i] && !bodies[i] && has_mail(policy, message->name, whole, part))
            diag_file(making->diag, DIAG_WARNING, file->path, "template-locale",
                    "message '%s' has no %s in locale '%.*s', and has it in '%s': its mails go "
                    "without",
                    message->name, part, (int)locale.len, (const char *)locale.ptr, policy->locale);
    }
}

static void check_belongs(const struct making *making, const struct policy_text *file)
{
    struct template_name name = {0};
    bool partial = is_partial(file->path, &name.message);
    if (partial &&
            (slice_eq(name.message, SLICE("partials")) || slice_eq(name.message, SLICE("layouts"))))
        return;
    if (!partial && (!read_name(file->path, &name) || !is_part(name.channel, name.part))) {
        diag_file(making->diag, DIAG_WARNING, file->path, "template-name",
                "is not read: a template is named <message>/<channel>.<locale>.<part>.mustache");
        return;
    }
    const struct message *message = find_message(&making->made->policy, name.message);
    if (!message)
        diag_file(making->diag, DIAG_WARNING, file->path, "template-unused",
                "belongs to no message of the policy");
    else if (!partial && !sends(message, name.channel))
        diag_file(making->diag, DIAG_WARNING, file->path, "template-unused",
                "message '%s' is not sent by %.*s", message->name, (int)name.channel.len,
                (const char *)name.channel.ptr);
    else if (!partial && making->made->policy.locale)
        check_locale(making, file, message, &name);
}

// A positive number and the text `end` behind it; *at moves past both.
static bool read_number(const char **at, const char *end, int *ret)
{
    char *after = NULL;
    long number = strtol(*at, &after, 10);
    if (after == *at || number < 1 || number > 1000000 || strncmp(after, end, strlen(end)) != 0)
        return false;
    *at = after + strlen(end);
    *ret = (int)number;
    return true;
}

// "name:12:3: why" or "12:3: why" -> the place; returns the text that follows, or all of it.
static const char *read_place(const char *message, int *ret_line, int *ret_column)
{
    for (const char *begin = message; begin; begin = strchr(begin, ':')) {
        begin += *begin == ':';
        const char *at = begin;
        int line = 0;
        if (!read_number(&at, ":", &line) || !read_number(&at, ": ", ret_column))
            continue;
        *ret_line = line;
        return at;
    }
    return message;
}

static bool part_ok(
        const struct policy_known *known, const struct policy_text *file, struct err *err)
{
    struct template_name name = {0};
    if (!read_name(file->path, &name) || !is_part(name.channel, name.part))
        return true;
    AUTO_FREE char *part = slice_dup(name.part);
    return known->template_part_ok(file->body, file->len, part, err);
}

static void check_syntax(const struct making *making, const struct policy_text *file)
{
    const struct policy_known *known = making->known;
    struct err err = {0};
    bool ok = !known->template_ok || known->template_ok(file->body, file->len, &err);
    if (ok && (!known->template_part_ok || part_ok(known, file, &err)))
        return;
    int line = 0, column = 0;
    const char *why = read_place(err.msg, &line, &column);
    const struct diag_place place = {file->path, line, column, 1};
    diag_error_at(making->diag, &place, ok ? "template-part" : "template", why);
}

// A mail needs a subject and a body, the other channels their text.
static void check_texts(
        const struct making *making, const struct message *message, const struct step *step)
{
    const char *locale = making->made->policy.locale, *name = channel_name(step->channel);
    const void *const at[2] = {&step->channel, &message->name};
    struct find find = {&making->made->policy, name, message->name, slice_of(locale)};
    bool mail = step->channel == CHANNEL_EMAIL;
    if (mail && !has_part(&find, "subject"))
        schema_diag(making->load, DIAG_ERROR, at, "template-missing",
                "message '%s' has no subject: %s/email.%s.subject.mustache is missing",
                message->name, message->name, locale);
    if (!has_part(&find, "text") && !(mail && has_part(&find, "html")))
        schema_diag(making->load, DIAG_ERROR, at, "template-missing",
                "message '%s' has no %s: %s/%s.%s.text.mustache%s is missing", message->name,
                mail ? "body" : "text", message->name, name, locale, mail ? " (or .html.)" : "");
}

static bool any_active(const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_messages; i++) {
        for (size_t j = 0; j < policy->messages[i].n_steps; j++) {
            if (policy->messages[i].steps[j].active)
                return true;
        }
    }
    return false;
}

void policy_check_templates(const struct making *making)
{
    const struct policy *policy = &making->made->policy;
    for (size_t i = 0; i < policy->n_templates; i++) {
        if (making->diag->errors == making->errors_before) // else who knows what is meant
            check_belongs(making, &policy->templates[i]);
        check_syntax(making, &policy->templates[i]);
    }
    // A policy can be looked at without its texts, but it is told.
    if (policy->n_templates == 0 && any_active(policy))
        diag_file(making->diag, DIAG_WARNING, NULL, "no-templates",
                "there are no templates: no message could be rendered");
    for (size_t i = 0; i < policy->n_messages && policy->n_templates && policy->locale; i++) {
        const struct message *message = &policy->messages[i];
        for (size_t j = 0; j < message->n_steps && message->name; j++) {
            if (message->steps[j].active)
                check_texts(making, message, &message->steps[j]);
        }
    }
}
