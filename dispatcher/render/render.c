#include "dispatcher/render/render.h"

#include "common/clock.h"
#include "common/config/unsubscribe.h"
#include "common/json/scan.h"
#include "dispatcher/render/attach.h"
#include "dispatcher/render/templates.h"

#include <stdio.h>

enum { LINK_ROOM = 2048 };
enum { PATH_ROOM = 320, LOCALE_ROOM = 36, PART_USUAL = 500 };

// One delivery being rendered.
struct job {
    const struct render_context *context;
    const struct message *message;
    const struct channel *channel;
    const struct delivery *delivery;
    const struct json_node *values;
    const char *locale;
    char wanted[LOCALE_ROOM]; // the contact's, as far as there is something of it
};

struct slice render_domain(const char *from)
{
    const char *at = from ? strrchr(from, '@') : NULL;
    if (!at)
        return (struct slice){0};
    return (struct slice){(const unsigned char *)at + 1, strcspn(at + 1, "> \t")};
}

// --- Which template

static const struct template *find_part(const struct job *job, const char *locale, const char *part)
{
    char path[PATH_ROOM];
    const struct slice words[] = {slice_of(job->message->name), SLICE("/"),
            slice_of(channel_name(job->channel->kind)), SLICE("."), slice_of(locale), SLICE("."),
            slice_of(part), SLICE(".mustache")};
    size_t len = 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) { // five times a mail: printf() would take longer
        if (words[i].len >= sizeof path - len)
            return NULL;
        memcpy(path + len, words[i].ptr, words[i].len);
        len += words[i].len;
    }
    path[len] = '\0';
    return templates_find(job->context->templates, path);
}

// All parts are of one locale, so that only one with all that the channel needs will do: a text or
// push message its text, a mail a subject and a body.
static bool has_locale(const struct job *job, const char *locale)
{
    if (job->channel->kind != CHANNEL_EMAIL)
        return find_part(job, locale, "text");
    return find_part(job, locale, "subject") &&
           (find_part(job, locale, "text") || find_part(job, locale, "html"));
}

// The contact's locale comes from outside: only what can be one is looked up ("de", "de-AT").
static bool locale_like(struct slice text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    for (size_t i = 0; i < text.len; i++)
        if (!text.ptr[i] || !strchr(plain, text.ptr[i]))
            return false;
    return text.len > 0 && text.len < LOCALE_ROOM;
}

// ASCII letters differ by one bit; digits stay.
static char in_case(char c, bool upper)
{
    if (c < 'A')
        return c;
    return (char)(upper ? c & ~0x20 : c | 0x20);
}

// One subtag as BCP 47 (RFC 5646 2.1.1) writes it: de, AT, Hant.
static void spell_subtag(char *subtag, size_t len, bool first)
{
    for (size_t i = 0; i < len; i++)
        subtag[i] = in_case(subtag[i], !first && (len == 2 || (len == 4 && i == 0)));
}

// "DE_at" -> "de-AT"
static void spell(char *locale)
{
    for (size_t at = 0, len; locale[at]; at += len + (locale[at + len] != '\0')) {
        len = strcspn(locale + at, "-_");
        spell_subtag(locale + at, len, at == 0);
        if (locale[at + len])
            locale[at + len] = '-';
    }
}

// de-AT, de, and where neither has all that is needed, the policy's.
static void choose_locale(struct job *job)
{
    const struct json_node *wanted =
            json_tree_member(json_tree_member(job->values, SLICE("contact")), SLICE("locale"));
    job->locale = job->context->policy->locale;
    if (!wanted || wanted->kind != JSON_KIND_STRING || !locale_like(wanted->text))
        return;
    char *candidate = job->wanted;
    memcpy(candidate, wanted->text.ptr, wanted->text.len);
    bool found = has_locale(job, candidate);
    if (!found) {
        spell(candidate);
        found = has_locale(job, candidate);
    }
    for (char *last; !found && (last = strrchr(candidate, '-'));) {
        *last = '\0';
        found = has_locale(job, candidate);
    }
    if (found)
        job->locale = candidate;
}

static const struct template *find_partial(void *ctx, struct slice name)
{
    const struct job *job = ctx;
    char path[PATH_ROOM];
    const struct template *found = NULL;
    for (unsigned i = 0;
            !found && policy_partial_path(job->message->name, name, i, path, sizeof path); i++)
        found = templates_find(job->context->templates, path);
    return found;
}

// --- Parts

static const struct part {
    enum channel_kind channel;
    const char *name;
    enum template_part escaping;
    size_t max;
    size_t offset; // in struct content
} parts[] = {
        {CHANNEL_EMAIL, "subject", TEMPLATE_HEADER, RENDER_SUBJECT_MAX,
                offsetof(struct content, subject)},
        {CHANNEL_EMAIL, "text", TEMPLATE_TEXT, RENDER_BODY_MAX, offsetof(struct content, text)},
        {CHANNEL_EMAIL, "html", TEMPLATE_HTML, RENDER_BODY_MAX, offsetof(struct content, html)},
        {CHANNEL_SMS, "text", TEMPLATE_TEXT, RENDER_SMS_MAX, offsetof(struct content, text)},
        {CHANNEL_PUSH, "title", TEMPLATE_TEXT, RENDER_PUSH_MAX, offsetof(struct content, subject)},
        {CHANNEL_PUSH, "text", TEMPLATE_TEXT, RENDER_PUSH_MAX, offsetof(struct content, text)},
        {CHANNEL_PUSH, "data", TEMPLATE_JSON, RENDER_PUSH_MAX, offsetof(struct content, data)},
};

static bool expand_part(
        struct job *job, const struct part *part, struct content *content, struct err *err)
{
    const struct template *template = find_part(job, job->locale, part->name);
    if (!template)
        return true;
    struct template_how how = {.part = part->escaping, .partial = find_partial, .ctx = job};
    AUTO_TEXT struct text out = {0};
    text_init(&out, part->max);
    text_expect(&out, PART_USUAL);
    if (!template_expand(template, &how, job->values, &out, err))
        return false;
    char *value = text_steal(&out);
    memcpy((char *)content + part->offset, &value, sizeof value);
    return true;
}

static void trim(char *text)
{
    size_t len = text ? strlen(text) : 0;
    while (len && strchr("\r\n", text[len - 1]))
        text[--len] = '\0';
}

// The line end at the end of a template's file is no part of a text or push message: the one would
// be billed for it, the other show it. How many parts it is, the driver counts
// (dispatcher/send/segments.h).
static bool finish_short(const struct job *job, struct content *content, struct err *err)
{
    const char *name = channel_name(job->channel->kind);
    if (!content->text)
        return err_set(err, ERR_INPUT, "no template '%s/%s.%s.text.mustache'", job->message->name,
                name, job->locale);
    trim(content->text);
    trim(content->subject);
    if (!content->text[0])
        return err_set(err, ERR_INPUT, "the %s message is empty",
                job->channel->kind == CHANNEL_SMS ? "text" : name);
    AUTO_JSON_TREE struct json_tree data = {0};
    bool ok = !content->data || (json_tree_read(&data, slice_of(content->data), NULL) &&
                                        data.nodes->kind == JSON_KIND_OBJECT);
    return ok || err_set(err, ERR_INPUT, "'%s/push.%s.data.mustache' makes no JSON object",
                         job->message->name, job->locale);
}

static bool expand_parts(struct job *job, struct content *content, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i].channel == job->channel->kind && !expand_part(job, &parts[i], content, err))
            return false;
    if (job->channel->kind != CHANNEL_EMAIL)
        return finish_short(job, content, err);
    if (!content->subject)
        return err_set(err, ERR_INPUT, "no template '%s/%s.%s.subject.mustache'",
                job->message->name, channel_name(job->channel->kind), job->locale);
    if (!content->text && !content->html)
        return err_set(err, ERR_INPUT, "no template '%s/%s.%s.text.mustache' and none of html",
                job->message->name, channel_name(job->channel->kind), job->locale);
    return true;
}

static void fill_mail_headers(const struct job *job, struct content *content)
{
    const struct delivery *d = job->delivery;
    struct key key =
            key_delivery(d->notification, (int)d->channel, slice_of(d->target), d->redrive);
    char hex[KEY_HEX], date[40];
    key_hex(key, hex);
    struct slice domain = render_domain(job->channel->from);
    AUTO_TEXT struct text id = {0};
    text_init(&id, 512);
    text_str(&id, hex);
    text_char(&id, '@');
    text_add(&id, domain);
    content->message_id = text_steal(&id);
    content->date = xstrdup(clock_rfc5322(job->context->now_us / 1000000, date));
}

static void fill_envelope(const struct job *job, struct content *content)
{
    const struct delivery *d = job->delivery;
    content->from = xstrdup(job->channel->from ? job->channel->from : ""); // push has none
    content->to = xstrdup(d->address);
    if (d->collapse)
        content->collapse = xstrdup(d->collapse);
    if (job->channel->kind == CHANNEL_EMAIL)
        fill_mail_headers(job, content);
}

// The receiver reads links by the active policy, and only its keys are loaded.
static const struct policy *signer_of(const struct render_context *context)
{
    const struct policy *sender = context->sender;
    return sender && sender->unsubscribe.url ? sender : context->policy;
}

// The values of a message that carries the link, with it: they begin with the object's brace.
static bool add_link(struct job *job, struct text *values, char **ret_link, struct err *err)
{
    const struct delivery *d = job->delivery;
    struct delivery_place place = {d->bucket, d->notification, d->redrive};
    struct slice data = slice_of(d->data);
    AUTO_TEXT struct text link = {0};
    text_init(&link, LINK_ROOM);
    const struct policy *signer = signer_of(job->context);
    if (!unsubscribe_link(signer, &place, job->context->now_us / 1000000, &link, err))
        return false;
    if (data.len < 2 || data.ptr[0] != '{')
        return true; // told by who reads it
    text_init(values, data.len + 2 * LINK_ROOM);
    bool ok = text_str(values, "{\"unsubscribe_url\":") && json_quote(values, text_slice(&link)) &&
              (data.ptr[1] == '}' || text_char(values, ',')) &&
              text_add(values, (struct slice){data.ptr + 1, data.len - 1});
    *ret_link = ok ? text_steal(&link) : NULL;
    return ok || err_set(err, ERR_INPUT, "the notification's values are too long");
}

static bool find_rules(struct job *job, struct err *err)
{
    const struct policy *policy = job->context->policy;
    const struct delivery *d = job->delivery;
    job->message = policy_message_by_id(policy, d->type);
    if (!job->message)
        return err_set(err, ERR_INPUT, "policy version %d has no message type %d", policy->version,
                d->type);
    bool known = d->channel > CHANNEL_NONE && d->channel < CHANNEL_COUNT;
    bool named = d->channel == CHANNEL_PUSH || (known && policy->channels[d->channel].from);
    if (!known || !named) {
        err_set(err, ERR_INPUT, "policy version %d sends nothing by channel %s", policy->version,
                channel_name(d->channel));
        return false; // that err_set() returns it is more than the analyser sees
    }
    job->channel = &policy->channels[d->channel];
    if (d->channel == CHANNEL_EMAIL && render_domain(job->channel->from).len == 0)
        return err_set(err, ERR_INPUT, "the sender '%s' has no domain", job->channel->from);
    return true;
}

bool render_content(
        const struct render_context *context, struct delivery *delivery, struct err *err)
{
    struct job job = {.context = context, .delivery = delivery};
    if (!find_rules(&job, err))
        return false;
    AUTO_TEXT struct text with_link = {0};
    AUTO_FREE char *link = NULL;
    if (delivery->data && job.message->unsubscribe && delivery->channel == CHANNEL_EMAIL &&
            !add_link(&job, &with_link, &link, err))
        return false;
    struct slice data = link ? text_slice(&with_link) : slice_of(delivery->data);
    AUTO_JSON_TREE struct json_tree own = {0};
    struct json_tree *values = context->tree ? context->tree : &own;
    if (!delivery->data || !json_tree_read(values, data, NULL) ||
            values->nodes->kind != JSON_KIND_OBJECT)
        return err_set(err, ERR_INPUT, "the notification has no values any more");
    job.values = values->nodes;
    choose_locale(&job);
    struct content content = {0};
    if (!expand_parts(&job, &content, err)) {
        content_fini(&content);
        return false;
    }
    if (delivery->channel == CHANNEL_EMAIL && job.message->n_attachments &&
            !attach_files(context, job.message, job.values, &content, err)) {
        content_fini(&content);
        return false;
    }
    fill_envelope(&job, &content);
    content.unsubscribe = steal(&link);
    delivery->content = content;
    return true;
}
