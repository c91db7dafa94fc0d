#include "receiver/accept/read.h"

#include "common/json/scan.h"
#include "receiver/accept/read_more.h"

enum { SCOPE_POINTERS_MAX = 8 };

static bool absent(const struct json_result *result)
{
    return result->found == JSON_MISSING || result->token.kind == JSON_KIND_NULL;
}

// The document's value at each pointer, in as many passes as json_find needs.
static bool find_all(
        struct slice body, const char *const *pointers, size_t n, struct json_result *results)
{
    for (size_t at = 0; at < n; at += JSON_POINTERS_MAX) {
        size_t some = n - at < JSON_POINTERS_MAX ? n - at : JSON_POINTERS_MAX;
        if (!json_find(body, pointers + at, some, results + at, NULL))
            return false;
    }
    return true;
}

static void fingerprint(struct slice body, const struct source *source, struct event *event)
{
    AUTO_TEXT struct text kept = {.max = body.len};
    if (source && source->n_fingerprint_ignore &&
            json_without(body, (const char *const *)source->fingerprint_ignore,
                    source->n_fingerprint_ignore, &kept, NULL))
        body = text_slice(&kept);
    sha256_of(body, event->fingerprint);
}

static char *arrival_id(const struct arrival *arrival)
{
    char hex[KEY_HEX];
    key_hex(arrival->id, hex);
    struct text id;
    text_init(&id, EVENT_ID_MAX);
    text_fmt(&id, "arrival:%s", hex);
    return text_steal(&id);
}

// A value as printable text of at most EVENT_ID_MAX bytes; NULL when it is none.
static char *short_text(struct json_token token)
{
    AUTO_TEXT struct text text = {.max = EVENT_ID_MAX};
    if (!json_plain(token, &text, NULL) || !json_id_ok(text_slice(&text), NULL))
        return NULL;
    return text_steal(&text);
}

static char *exact_id(struct json_token token)
{
    AUTO_TEXT struct text text = {.max = EVENT_ID_MAX};
    return json_id(token, &text, NULL) ? text_steal(&text) : NULL;
}

// The same order whether a source writes 10 or "10"; true and false name none.
static char *order_text(struct json_token token)
{
    bool names = token.kind == JSON_KIND_STRING || token.kind == JSON_KIND_NUMBER;
    return names ? short_text(token) : NULL;
}

// A required value through `make`; absent and bad are the reasons when there is none.
static const char *required(const struct json_result *result, char *(*make)(struct json_token),
        const char *none, const char *bad, char **ret_value)
{
    if (result->found == JSON_DUPLICATE)
        return "duplicate-member";
    if (absent(result))
        return none;
    *ret_value = make(result->token);
    return *ret_value ? NULL : bad;
}

// The literal tokens joined with ':'; one that is absent is empty.
static const char *read_scope(const struct json_result *results, size_t n, char **ret_scope)
{
    AUTO_TEXT struct text scope = {.max = EVENT_ID_MAX};
    for (size_t i = 0; i < n; i++) {
        if (results[i].found == JSON_DUPLICATE)
            return "duplicate-member";
        if ((i > 0 && !text_char(&scope, ':')) ||
                (!absent(&results[i]) && !json_plain(results[i].token, &scope, NULL)))
            return "bad-scope";
    }
    if (scope.len && !json_id_ok(text_slice(&scope), NULL))
        return "bad-scope";
    *ret_scope = text_steal(&scope);
    return NULL;
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

// Two parts joined. Only the last may hold the separator: no two pairs make one id.
static const char *join_id(char *first, const struct json_result *more, char **ret_id)
{
    AUTO_FREE char *head = first;
    AUTO_FREE char *tail = NULL;
    AUTO_TEXT struct text id = {.max = EVENT_ID_MAX};
    if (more->found == JSON_DUPLICATE)
        return "duplicate-member";
    if (!absent(more) && !(tail = exact_id(more->token)))
        return "bad-id";
    if (strchr(head, ':') || !text_fmt(&id, "%s:%s", head, tail ? tail : ""))
        return "bad-id";
    *ret_id = text_steal(&id);
    return NULL;
}

// The places of an event's identity; a scheme lacks some.
enum { AT_ID, AT_ID_MORE, AT_TYPE, AT_TIME, AT_SCOPE };

static const char *read_id(const struct arrival *arrival, const struct read_pointers *pointers,
        const struct json_result *results, struct event *event)
{
    if (pointers->app || pointers->header_id)
        return from_header(arrival->header_id, "no-id", "bad-id", &event->id);
    char *id = NULL;
    const char *reason = required(&results[AT_ID], exact_id, "no-id", "bad-id", &id);
    if (!reason && pointers->id_more)
        return join_id(id, &results[AT_ID_MORE], &event->id);
    event->id = id;
    return reason;
}

// "pull_request.opened": what a header says, and where the scheme has it the body's own word.
static const char *read_type(const struct arrival *arrival, const struct read_pointers *pointers,
        const struct json_result *result, struct event *event)
{
    if (!pointers->header_type)
        return required(result, short_text, "no-type", "bad-type", &event->type);
    AUTO_FREE char *head = NULL;
    AUTO_FREE char *tail = NULL;
    const char *reason = from_header(arrival->header_type, "no-type", "bad-type", &head);
    if (!reason && (result->found == JSON_DUPLICATE || !absent(result)))
        reason = required(result, short_text, "no-type", "bad-type", &tail);
    if (reason)
        return reason;
    AUTO_TEXT struct text type = {.max = EVENT_ID_MAX};
    if (!text_fmt(&type, "%s%s%s", head, tail ? "." : "", tail ? tail : ""))
        return "bad-type";
    event->type = text_steal(&type);
    return NULL;
}

// A first copy older than the keys are kept may have been forgotten: this may be its second.
static const char *read_time(const struct arrival *arrival, const struct policy *policy,
        const struct read_pointers *pointers, const struct json_result *result, struct event *event)
{
    int64_t at_s = 0;
    if (result->found == JSON_DUPLICATE)
        return "duplicate-member";
    if (absent(result))
        return pointers->time_demanded ? "no-time" : NULL;
    if (!read_moment(result->token, &at_s))
        return pointers->time_demanded ? "bad-time" : NULL;
    event->late =
            policy->keep_keys_s && arrival->received_us / 1000000 - at_s > policy->keep_keys_s;
    return NULL;
}

// "" is the whole document: never what was asked for.
static size_t identity_pointers(const struct read_pointers *pointers, const char **wanted)
{
    size_t n = AT_SCOPE;
    wanted[AT_ID] = pointers->id ? pointers->id : "";
    wanted[AT_ID_MORE] = pointers->id_more ? pointers->id_more : "";
    wanted[AT_TYPE] = pointers->type ? pointers->type : "";
    wanted[AT_TIME] = pointers->time ? pointers->time : "";
    for (size_t i = 0; pointers->scope && pointers->scope[i] && i < SCOPE_POINTERS_MAX; i++)
        wanted[n++] = pointers->scope[i];
    return n;
}

// Which event it is: id, scope, type. What can be read is filled even when something else can't.
static const char *read_identity(const struct arrival *arrival, const struct policy *policy,
        const struct read_pointers *pointers, struct slice body, struct event *event)
{
    const char *wanted[AT_SCOPE + SCOPE_POINTERS_MAX];
    struct json_result results[ARRAY_LEN(wanted)] = {{.found = JSON_MISSING}};
    size_t n = identity_pointers(pointers, wanted);
    bool readable = find_all(body, wanted, n, results);
    for (size_t i = 0; i < AT_SCOPE; i++)
        if (!wanted[i][0])
            results[i] = (struct json_result){.found = JSON_MISSING};
    const char *no_id = read_id(arrival, pointers, results, event);
    if (!readable)
        return "unreadable";
    const char *no_scope = read_scope(results + AT_SCOPE, n - AT_SCOPE, &event->scope);
    const char *no_type = read_type(arrival, pointers, &results[AT_TYPE], event);
    const char *no_time = read_time(arrival, policy, pointers, &results[AT_TIME], event);
    return no_id ? no_id : no_scope ? no_scope : no_type ? no_type : no_time;
}

// Every string in it can be made a text: \u0000 and lone surrogates are JSON, but no reader behind
// this one takes them. json_find has bounded the depth.
static bool usable(struct json_token token)
{
    if (token.kind == JSON_KIND_STRING) {
        AUTO_TEXT struct text text = {.max = READ_FIELDS_MAX};
        return json_text(token, &text, NULL);
    }
    if (token.kind != JSON_KIND_OBJECT && token.kind != JSON_KIND_ARRAY)
        return true;
    struct json_token name, value;
    for (size_t at = 0; json_next(token, &at, &name, &value);) {
        if ((name.kind == JSON_KIND_STRING && !usable(name)) || !usable(value))
            return false;
    }
    return true;
}

static bool add_field(struct text *out, const char *name, struct json_token token)
{
    return (out->len == 1 || text_char(out, ',')) && json_quote(out, slice_of(name)) &&
           text_char(out, ':') && read_value(token, out);
}

// The mapped fields as one object; what is absent is left out.
static const char *read_fields(
        const struct field *fields, size_t n, const struct json_result *results, char **ret_object)
{
    AUTO_TEXT struct text object = {.max = READ_FIELDS_MAX};
    text_char(&object, '{');
    for (size_t i = 0; i < n; i++) {
        if (results[i].found == JSON_DUPLICATE)
            return "duplicate-member";
        if (absent(&results[i]))
            continue;
        if (results[i].token.raw.len > READ_FIELDS_MAX || !usable(results[i].token) ||
                !add_field(&object, fields[i].name, results[i].token))
            return "bad-field";
    }
    if (!text_char(&object, '}'))
        return "bad-field";
    *ret_object = text_steal(&object);
    return NULL;
}

static const char *read_sequence(const struct json_result *result, struct event *event)
{
    if (result->found == JSON_DUPLICATE)
        return "duplicate-member";
    if (absent(result))
        return "no-sequence";
    event->has_sequence = json_int64(result->token, &event->sequence, NULL);
    return event->has_sequence ? NULL : "bad-sequence";
}

// The state that the deciding value maps to; *ret_to = -1 when it maps to none.
static const char *read_by(
        const struct event_rule *rule, const struct json_result *result, int *ret_to)
{
    AUTO_FREE char *value = NULL;
    const char *reason = required(result, short_text, "no-value", "bad-value", &value);
    *ret_to = -1;
    for (size_t i = 0; !reason && i < rule->n_map; i++) {
        if (strcmp(rule->map[i].value, value) == 0)
            *ret_to = rule->map[i].to;
    }
    return reason;
}

// The rule's pointers in a fixed order; "" stands for one that the rule does not have.
enum { AT_ORDER, AT_BY, AT_SEQUENCE, AT_FIELDS };

static size_t rule_pointers(const struct event_rule *rule, const char **pointers)
{
    size_t n = AT_FIELDS;
    pointers[AT_ORDER] = rule->order ? rule->order : "";
    pointers[AT_BY] = rule->by ? rule->by : "";
    pointers[AT_SEQUENCE] = rule->sequence ? rule->sequence : "";
    for (size_t i = 0; i < rule->n_contact; i++)
        pointers[n++] = rule->contact[i].pointer;
    for (size_t i = 0; i < rule->n_data; i++)
        pointers[n++] = rule->data[i].pointer;
    return n;
}

static const char *read_step(
        const struct event_rule *rule, const struct json_result *results, struct event *event)
{
    const char *reason = NULL;
    event->to = rule->to;
    if (rule->by)
        reason = read_by(rule, &results[AT_BY], &event->to);
    if (reason || (rule->by && event->to < 0))
        return reason; // a value that is not in the map moves nothing: unmapped
    event->rule = rule;
    if (rule->order)
        reason =
                required(&results[AT_ORDER], order_text, "no-order", "bad-order", &event->order_id);
    if (!reason && rule->sequence)
        reason = read_sequence(&results[AT_SEQUENCE], event);
    return reason;
}

// What it means by its rule.
static const char *read_rule(struct slice body, const struct event_rule *rule, struct event *event)
{
    size_t room = AT_FIELDS + rule->n_contact + rule->n_data;
    AUTO_FREE const char **pointers = xcalloc(room, sizeof *pointers);
    AUTO_FREE struct json_result *results = xcalloc(room, sizeof *results);
    size_t n = rule_pointers(rule, pointers);
    if (!find_all(body, pointers, n, results))
        return "unreadable";
    const char *reason = read_step(rule, results, event);
    if (reason || !event->rule)
        return reason;
    reason = read_fields(rule->contact, rule->n_contact, results + AT_FIELDS, &event->contact);
    return reason ? reason
                  : read_fields(rule->data, rule->n_data, results + AT_FIELDS + rule->n_contact,
                            &event->data);
}

static const char *read_event(const struct arrival *arrival, const struct policy *policy,
        const struct read_pointers *pointers, struct event *event)
{
    const struct source *source = policy_source(policy, slice_of(arrival->source));
    AUTO_TEXT struct text object = {.max = 0};
    struct slice body = arrival->body;
    if (arrival->form)
        body = read_form(arrival->body, &object) ? text_slice(&object) : SLICE("");
    const char *reason = read_identity(arrival, policy, pointers, body, event);
    if (!source)
        return "no-source";
    if (reason)
        return reason;
    const struct event_rule *rule = source_rule(source, slice_of(event->type));
    return rule ? read_rule(body, rule, event) : NULL;
}

// The signed bytes are a key only of an event that is sure of its id: what is parked must not take
// them from it.
static void note_signed(
        const struct arrival *arrival, const struct read_pointers *pointers, struct event *event)
{
    event->unsigned_id = pointers->unsigned_id && !event->parked_reason;
    if (event->unsigned_id)
        sha256_of(arrival->body, event->signed_digest);
}

void read_events(
        struct arrival *arrival, const struct policy *policy, const struct read_pointers *pointers)
{
    arrival_drop_events(arrival);
    struct event *event = xcalloc(1, sizeof *event);
    *event = (struct event){.to = -1};
    arrival->events = event;
    arrival->n_events = 1;
    fingerprint(arrival->body, policy_source(policy, slice_of(arrival->source)), event);
    event->parked_reason = read_event(arrival, policy, pointers, event);
    note_signed(arrival, pointers, event);
    // What is parked means nothing until a person looks at it.
    if (event->parked_reason || event->late)
        event_clear_meaning(event);
    // Without its scope an id is not an event's: two accounts may use the same.
    if (!event->id || (!event->scope && !pointers->app)) {
        free(event->id);
        event->id = arrival_id(arrival);
    }
    event->scope = event->scope ? event->scope : xstrdup("");
    event->contact = event->contact ? event->contact : xstrdup("{}");
    event->data = event->data ? event->data : xstrdup("{}");
}
