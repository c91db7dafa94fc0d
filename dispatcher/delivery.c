#include "dispatcher/delivery.h"

#include "common/json/scan.h"
#include "common/utf8.h"

#include <jansson.h>
#include <stdio.h>

static const char *const state_names[] = {
        [DELIVERY_DUE] = "due",
        [DELIVERY_WIRE] = "wire",
        [DELIVERY_ACCEPTED] = "accepted",
        [DELIVERY_REFUSED] = "refused",
        [DELIVERY_EXPIRED] = "expired",
        [DELIVERY_WITHHELD] = "withheld",
        [DELIVERY_SUPERSEDED] = "superseded",
        [DELIVERY_CANCELLED] = "cancelled",
        [DELIVERY_DEAD] = "dead",
        [DELIVERY_UNKNOWN] = "unknown",
        [DELIVERY_DELIVERED] = "delivered",
        [DELIVERY_BOUNCED] = "bounced",
        [DELIVERY_COMPLAINED] = "complained",
};

static const char *const outcome_names[] = {
        [0] = "none",
        [ATTEMPT_ACCEPTED] = "accepted",
        [ATTEMPT_REFUSED] = "refused",
        [ATTEMPT_RETRY] = "retry",
        [ATTEMPT_UNKNOWN] = "unknown",
        [ATTEMPT_GIVEN_BACK] = "given_back",
        [ATTEMPT_NOT_FOUND] = "not_found",
        [ATTEMPT_FOUND] = "found",
        [ATTEMPT_UNANSWERED] = "unanswered",
        [ATTEMPT_SAID_SENT] = "said_sent",
        [ATTEMPT_SAID_NOT_SENT] = "said_not_sent",
};

static const char *const suppression_names[] = {
        [SUPPRESSED_NOT] = "none",
        [SUPPRESSED_HARD_BOUNCE] = "hard_bounce",
        [SUPPRESSED_UNREGISTERED] = "unregistered",
        [SUPPRESSED_OPT_OUT] = "opt_out",
        [SUPPRESSED_COMPLAINT] = "complaint",
        [SUPPRESSED_MANUAL] = "manual",
};

// The number may come from the database, so one that is not in the table gets a name too.
static const char *name_in(const char *const *names, size_t n, int number)
{
    return number >= 0 && (size_t)number < n ? names[number] : "invalid";
}

const char *delivery_state_name(enum delivery_state state)
{
    return name_in(state_names, ARRAY_LEN(state_names), (int)state);
}

const char *attempt_outcome_name(enum attempt_outcome outcome)
{
    return name_in(outcome_names, ARRAY_LEN(outcome_names), (int)outcome);
}

const char *suppression_name(enum suppression suppression)
{
    return name_in(suppression_names, ARRAY_LEN(suppression_names), (int)suppression);
}

// One row a member of struct content: its name in the stored JSON.
static const struct member {
    const char *name;
    size_t offset;
    bool required;
} members[] = {
        {"from", offsetof(struct content, from), true},
        {"to", offsetof(struct content, to), true},
        {"subject", offsetof(struct content, subject), false},
        {"text", offsetof(struct content, text), false},
        {"html", offsetof(struct content, html), false},
        {"message_id", offsetof(struct content, message_id), false},
        {"date", offsetof(struct content, date), false},
        {"data", offsetof(struct content, data), false},
        {"collapse", offsetof(struct content, collapse), false},
        {"unsubscribe", offsetof(struct content, unsubscribe), false},
};

static char *member_get(const struct content *content, const struct member *member)
{
    char *value;
    memcpy(&value, (const char *)content + member->offset, sizeof value);
    return value;
}

static void member_set(struct content *content, const struct member *member, char *value)
{
    memcpy((char *)content + member->offset, &value, sizeof value);
}

void content_fini(struct content *content)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        free(member_get(content, &members[i]));
    for (size_t i = 0; i < content->n_attachments; i++)
        free(content->attachments[i].path);
    free(content->attachments);
    *content = (struct content){0};
}

static void auto_decref_(json_t **json)
{
    json_decref(*json);
}
#define AUTO_JSON __attribute__((cleanup(auto_decref_)))

static bool add_member(const char *name, struct slice value, bool first, struct text *out)
{
    return utf8_ok(value) && text_char(out, first ? '{' : ',') && json_quote(out, slice_of(name)) &&
           text_char(out, ':') && json_quote(out, value);
}

// About what it takes as JSON: an eighth more for escapes.
static size_t content_size(const struct content *content)
{
    size_t size = 256;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const char *value = member_get(content, &members[i]);
        size += value ? strlen(value) : 0;
    }
    return size + size / 8;
}

const char *content_hash_hex(const unsigned char sha256[32], char out[CONTENT_HASH])
{
    for (size_t i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", sha256[i]);
    return out;
}

static bool add_attachments(const struct content *content, bool first, struct text *out)
{
    char hex[CONTENT_HASH];
    bool ok =
            content->n_attachments == 0 || text_fmt(out, "%c\"attachments\":[", first ? '{' : ',');
    for (size_t i = 0; ok && i < content->n_attachments; i++) {
        const struct attachment *attachment = &content->attachments[i];
        ok = text_str(out, i ? ",{\"path\":" : "{\"path\":") &&
             json_quote(out, slice_of(attachment->path)) &&
             text_fmt(out, ",\"size\":%zu,\"sha256\":\"%s\"}", attachment->size,
                     content_hash_hex(attachment->sha256, hex));
    }
    return ok && (content->n_attachments == 0 || text_char(out, ']'));
}

// Written by hand and not by the library: it is done once a delivery, and of long texts.
bool content_to_json(const struct content *content, struct text *out)
{
    bool first = true;
    text_expect(out, content_size(content));
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const char *value = member_get(content, &members[i]);
        if (value && !add_member(members[i].name, slice_of(value), first, out))
            return false;
        first = first && !value;
    }
    if (!add_attachments(content, first, out))
        return false;
    first = first && content->n_attachments == 0;
    return (!first || text_char(out, '{')) && text_char(out, '}');
}

static bool take_member(
        const json_t *object, const struct member *member, struct content *content, struct err *err)
{
    const json_t *value = json_object_get(object, member->name);
    if (!value && !member->required)
        return true;
    if (!json_is_string(value))
        return err_set(err, ERR_INPUT, "stored content has no text in '%s'", member->name);
    member_set(content, member, xstrdup(json_string_value(value)));
    return true;
}

static bool take_hash(const char *hex, unsigned char ret[32])
{
    if (!hex || strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)
        return false;
    for (size_t i = 0; i < 32; i++) {
        const char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        ret[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return true;
}

static bool take_attachment(const json_t *object, struct content *content)
{
    struct attachment taken = {0};
    const char *path = json_string_value(json_object_get(object, "path"));
    const json_t *size = json_object_get(object, "size");
    if (!path || !json_is_integer(size) || json_integer_value(size) <= 0 ||
            !take_hash(json_string_value(json_object_get(object, "sha256")), taken.sha256))
        return false;
    taken.size = (size_t)json_integer_value(size);
    taken.path = xstrdup(path);
    content->attachments[content->n_attachments++] = taken;
    return true;
}

static bool take_attachments(const json_t *object, struct content *content, struct err *err)
{
    const json_t *list = json_object_get(object, "attachments");
    size_t n = json_array_size(list);
    if (list && (n == 0 || n > MESSAGE_ATTACHMENTS_MAX))
        return err_set(err, ERR_INPUT, "stored content has no list in 'attachments'");
    content->attachments = n ? xcalloc(n, sizeof content->attachments[0]) : NULL;
    for (size_t i = 0; i < n; i++)
        if (!take_attachment(json_array_get(list, i), content))
            return err_set(err, ERR_INPUT, "stored content has an attachment that says not all");
    return true;
}

bool content_from_json(struct slice json, struct content *ret_content, struct err *err)
{
    // Without JSON_ALLOW_NUL an escaped NUL is an error, so no string is cut in silence.
    json_error_t why;
    AUTO_JSON json_t *object =
            json_loadb((const char *)json.ptr, json.len, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(object))
        return err_set(err, ERR_INPUT, "stored content is not a JSON object");
    struct content content = {0};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (!take_member(object, &members[i], &content, err)) {
            content_fini(&content);
            return false;
        }
    }
    if (!take_attachments(object, &content, err)) {
        content_fini(&content);
        return false;
    }
    // A text or push message has none of these, a mail all and a subject.
    bool mail = content.message_id || content.date || content.html;
    if (mail && !(content.subject && content.message_id && content.date)) {
        content_fini(&content);
        return err_set(err, ERR_INPUT, "stored content is of a mail and has not all of its heads");
    }
    *ret_content = content;
    return true;
}

void delivery_free(struct delivery *delivery)
{
    if (!delivery)
        return;
    // data is borrowed from the claim's rows.
    free(delivery->target);
    free(delivery->address);
    free(delivery->provider);
    free(delivery->once);
    free(delivery->zone);
    free(delivery->order_id);
    free(delivery->recipient);
    free(delivery->collapse);
    free(delivery->failed_id);
    for (size_t i = 0; i < delivery->n_caps; i++)
        free(delivery->caps[i].name);
    free(delivery->caps);
    content_fini(&delivery->content);
    free(delivery);
}
