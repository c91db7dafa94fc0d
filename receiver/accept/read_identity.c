// Which event it is: id, scope, type, and its own time.
#include "receiver/accept/read_more.h"
#include "receiver/accept/read_parts.h"

enum { SCOPE_POINTERS_MAX = 8, DIGEST_BYTES = 16 };

// The places of an event's identity; a scheme lacks some. The scope's pointers come last.
enum { AT_TYPE, AT_TYPE_MORE, AT_TIME, AT_ID, AT_SCOPE = AT_ID + READ_ID_PARTS_MAX };

static char *exact_id(struct json_token token)
{
    AUTO_TEXT struct text text = {.max = EVENT_ID_MAX};
    return json_id(token, &text, NULL) ? text_steal(&text) : NULL;
}

// A part as it stands in an id or a scope of several: without a ':' of its own.
static bool add_part(struct text *out, const char *part)
{
    bool ok = true;
    for (; ok && *part; part++) {
        if (*part == ':' || *part == '%')
            ok = text_str(out, *part == ':' ? "%3A" : "%25");
        else
            ok = text_char(out, *part);
    }
    return ok;
}

static bool add_scope(struct json_token token, bool alone, struct text *scope)
{
    AUTO_TEXT struct text part = {.max = EVENT_ID_MAX};
    if (alone)
        return json_plain(token, scope, NULL);
    return json_plain(token, &part, NULL) && add_part(scope, text_cstr(&part));
}

// The literal tokens joined with ':', so that no two lists of them make one scope; one that is
// absent is empty, and one alone stands as it is.
static const char *read_scope(const struct json_result *results, size_t n, char **ret_scope)
{
    AUTO_TEXT struct text scope = {.max = EVENT_ID_MAX};
    for (size_t i = 0; i < n; i++) {
        if (results[i].found == JSON_DUPLICATE)
            return "duplicate-member";
        if ((i > 0 && !text_char(&scope, ':')) ||
                (!part_absent(&results[i]) && !add_scope(results[i].token, n == 1, &scope)))
            return "bad-scope";
    }
    if (scope.len && !json_id_ok(text_slice(&scope), NULL))
        return "bad-scope";
    *ret_scope = text_steal(&scope);
    return NULL;
}

static size_t scope_pointers(const struct read_pointers *pointers, const char **wanted)
{
    size_t n = 0;
    for (; pointers->scope && pointers->scope[n] && n < SCOPE_POINTERS_MAX; n++)
        wanted[n] = pointers->scope[n];
    return n;
}

const char *read_batch_scope(
        const struct read_pointers *pointers, struct slice body, char **ret_scope)
{
    const char *wanted[SCOPE_POINTERS_MAX];
    struct json_result results[SCOPE_POINTERS_MAX];
    size_t n = scope_pointers(pointers, wanted);
    if (!parts_find(body, wanted, n, results))
        return "unreadable";
    return read_scope(results, n, ret_scope);
}

// As a header says it: printable, and nothing is decoded.
static const char *from_header(
        struct slice value, const char *none, const char *bad, char **ret_value)
{
    if (value.len == 0)
        return none;
    if (!json_id_ok(value, NULL))
        return bad;
    *ret_value = slice_dup(value);
    return NULL;
}

// One request has one header: its members are told apart by their places, which are digits, so that
// no two pairs make one id.
static const char *id_of_header(const struct reading *reading, char **ret_id)
{
    const char *reason = from_header(reading->arrival->header_id, "no-id", "bad-id", ret_id);
    if (reason || !reading->member)
        return reason;
    AUTO_FREE char *head = steal(ret_id);
    AUTO_TEXT struct text id = {.max = EVENT_ID_MAX};
    if (!text_fmt(&id, "%s:%zu", head, reading->place))
        return "bad-id";
    *ret_id = text_steal(&id);
    return NULL;
}

static bool add_digest(const struct reading *reading, const unsigned char *digest, struct text *id)
{
    char hex[KEY_HEX];
    bool ok = text_char(id, ':');
    for (size_t i = 0; ok && i < DIGEST_BYTES; i++)
        ok = text_fmt(id, "%02x", digest[i]);
    if (!ok || !reading->pointers->id_each)
        return ok;
    key_hex(reading->arrival->id, hex);
    return text_fmt(id, ":%s", hex);
}

static size_t id_parts(const struct read_pointers *pointers)
{
    size_t n = 1;
    for (; n < READ_ID_PARTS_MAX && pointers->id_more && pointers->id_more[n - 1];)
        n++;
    return n;
}

static const char *add_further_part(
        struct text *id, const struct json_result *result, bool *ret_lacks)
{
    AUTO_FREE char *part = NULL;
    const char *reason = part_required(result, exact_id, NULL, "bad-id", &part);
    *ret_lacks |= !reason && !part;
    if (!reason && (!text_char(id, ':') || (part && !add_part(id, part))))
        reason = "bad-id";
    return reason;
}

// A provider without any id: a copy is a copy, and nothing else is.
static const char *id_of_digest(
        const struct reading *reading, const struct event *event, char **ret_id)
{
    AUTO_TEXT struct text id = {.max = EVENT_ID_MAX};
    text_str(&id, "sha256");
    add_digest(reading, event->fingerprint, &id);
    *ret_id = text_steal(&id);
    return NULL;
}

// The first part is demanded. What further ones lack is made up for by a digest of the whole: two
// events that lack the same are still two, and a copy is a copy.
static const char *id_of_parts(const struct reading *reading, const struct json_result *results,
        const struct event *event, char **ret_id)
{
    const struct read_pointers *pointers = reading->pointers;
    AUTO_FREE char *first = NULL;
    const char *reason = part_required(&results[0], exact_id, "no-id", "bad-id", &first);
    size_t n = id_parts(pointers);
    bool digest = pointers->id_digest;
    if (reason || (n == 1 && !digest)) {
        *ret_id = steal(&first);
        return reason;
    }
    AUTO_TEXT struct text id = {.max = EVENT_ID_MAX};
    if (!add_part(&id, first))
        return "bad-id";
    for (size_t i = 1; !reason && i < n; i++)
        reason = add_further_part(&id, &results[i], &digest);
    if (!reason && digest && !add_digest(reading, event->fingerprint, &id))
        reason = "bad-id";
    if (!reason)
        *ret_id = text_steal(&id);
    return reason;
}

static const char *read_id(
        const struct reading *reading, const struct json_result *results, struct event *event)
{
    const struct read_pointers *pointers = reading->pointers;
    if (pointers->app || pointers->header_id)
        return id_of_header(reading, &event->id);
    if (!pointers->id && pointers->id_digest)
        return id_of_digest(reading, event, &event->id);
    return id_of_parts(reading, results, event, &event->id);
}

// What the scheme knows of the type without the body's word: a header, or the array's name. NULL
// and no reason when that is nothing.
static const char *type_head(const struct reading *reading, char **ret_head)
{
    if (reading->pointers->header_type)
        return from_header(reading->arrival->header_type, "no-type", "bad-type", ret_head);
    if (reading->pointers->type_of_batch && reading->member)
        return from_header(reading->array, "no-type", "bad-type", ret_head);
    return NULL;
}

// Appends a word of the body where there is one.
static const char *add_type(const struct json_result *result, struct text *type)
{
    AUTO_FREE char *word = NULL;
    const char *reason = part_required(result, part_text, NULL, "bad-type", &word);
    if (!reason && word && !text_fmt(type, "%s%s", type->len ? "." : "", word))
        reason = "bad-type";
    return reason;
}

// "pull_request.opened": what a header says, and where the scheme has them the body's own words.
static const char *read_type(
        const struct reading *reading, const struct json_result *results, struct event *event)
{
    AUTO_FREE char *head = NULL;
    AUTO_TEXT struct text type = {.max = EVENT_ID_MAX};
    const char *reason = type_head(reading, &head);
    if (!reason && head)
        text_str(&type, head);
    if (!reason)
        reason = add_type(&results[AT_TYPE], &type);
    if (!reason && type.len)
        reason = add_type(&results[AT_TYPE_MORE], &type);
    if (!reason && !type.len)
        reason = "no-type";
    if (!reason)
        event->type = text_steal(&type);
    return reason;
}

// A first copy older than the keys are kept may have been forgotten: this may be its second.
static const char *read_time(
        const struct reading *reading, const struct json_result *result, struct event *event)
{
    int64_t at_s = 0, window_s = reading->policy->keep_keys_s;
    bool demanded = reading->pointers->time_demanded;
    if (result->found == JSON_DUPLICATE)
        return "duplicate-member";
    if (part_absent(result))
        return demanded ? "no-time" : NULL;
    if (!read_moment(result->token, &at_s))
        return demanded ? "bad-time" : NULL;
    event->late = window_s && reading->arrival->received_us / 1000000 - at_s > window_s;
    return NULL;
}

// "" is the whole document: never what was asked for.
static size_t identity_pointers(const struct reading *reading, const char **wanted)
{
    const struct read_pointers *pointers = reading->pointers;
    wanted[AT_TYPE] = pointers->type ? pointers->type : "";
    wanted[AT_TYPE_MORE] = pointers->type_more ? pointers->type_more : "";
    wanted[AT_TIME] = pointers->time ? pointers->time : "";
    for (size_t i = AT_ID; i < AT_SCOPE; i++)
        wanted[i] = "";
    if (pointers->id)
        wanted[AT_ID] = pointers->id;
    for (size_t i = 1, n = id_parts(pointers); i < n; i++)
        wanted[AT_ID + i] = pointers->id_more[i - 1];
    return AT_SCOPE + (reading->member ? 0 : scope_pointers(pointers, wanted + AT_SCOPE));
}

static const char *take_scope(const struct reading *reading, const struct json_result *results,
        size_t n, char **ret_scope)
{
    if (!reading->member)
        return read_scope(results, n, ret_scope);
    if (reading->scope)
        *ret_scope = xstrdup(reading->scope);
    return reading->no_scope;
}

const char *read_identity(const struct reading *reading, struct event *event)
{
    const char *wanted[AT_SCOPE + SCOPE_POINTERS_MAX];
    struct json_result results[ARRAY_LEN(wanted)] = {{.found = JSON_MISSING}};
    size_t n = identity_pointers(reading, wanted);
    bool readable = parts_find(reading->body, wanted, n, results);
    for (size_t i = 0; i < AT_SCOPE; i++)
        if (!wanted[i][0])
            results[i] = (struct json_result){.found = JSON_MISSING};
    const char *no_id = read_id(reading, results + AT_ID, event);
    if (!readable)
        return "unreadable";
    const char *no_scope = take_scope(reading, results + AT_SCOPE, n - AT_SCOPE, &event->scope);
    const char *no_type = read_type(reading, results, event);
    const char *no_time = read_time(reading, &results[AT_TIME], event);
    return no_id ? no_id : no_scope ? no_scope : no_type ? no_type : no_time;
}
