// What an event means by the rule of its type.
#include "receiver/accept/read_more.h"
#include "receiver/accept/read_parts.h"

bool parts_find(
        struct slice body, const char *const *pointers, size_t n, struct json_result *results)
{
    for (size_t at = 0; at < n; at += JSON_POINTERS_MAX) {
        size_t some = n - at < JSON_POINTERS_MAX ? n - at : JSON_POINTERS_MAX;
        if (!json_find(body, pointers + at, some, results + at, NULL))
            return false;
    }
    return true;
}

char *part_text(struct json_token token)
{
    AUTO_TEXT struct text text = {.max = EVENT_ID_MAX};
    if (!json_plain(token, &text, NULL) || !json_id_ok(text_slice(&text), NULL))
        return NULL;
    return text_steal(&text);
}

const char *part_required(const struct json_result *result, char *(*make)(struct json_token),
        const char *none, const char *bad, char **ret_value)
{
    if (result->found == JSON_DUPLICATE)
        return "duplicate-member";
    if (part_absent(result))
        return none;
    *ret_value = make(result->token);
    return *ret_value ? NULL : bad;
}

// The same order whether a source writes 10 or "10"; true and false name none.
static char *order_text(struct json_token token)
{
    bool names = token.kind == JSON_KIND_STRING || token.kind == JSON_KIND_NUMBER;
    return names ? part_text(token) : NULL;
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
        if (part_absent(&results[i]))
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
    if (part_absent(result))
        return "no-sequence";
    event->has_sequence = json_int64(result->token, &event->sequence, NULL);
    return event->has_sequence ? NULL : "bad-sequence";
}

// The state that the deciding value maps to; *ret_to = -1 when it maps to none.
static const char *read_by(
        const struct event_rule *rule, const struct json_result *result, int *ret_to)
{
    AUTO_FREE char *value = NULL;
    const char *reason = part_required(result, part_text, "no-value", "bad-value", &value);
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
        reason = part_required(
                &results[AT_ORDER], order_text, "no-order", "bad-order", &event->order_id);
    if (!reason && rule->sequence)
        reason = read_sequence(&results[AT_SEQUENCE], event);
    return reason;
}

const char *read_rule(struct slice body, const struct event_rule *rule, struct event *event)
{
    size_t room = AT_FIELDS + rule->n_contact + rule->n_data;
    AUTO_FREE const char **pointers = xcalloc(room, sizeof *pointers);
    AUTO_FREE struct json_result *results = xcalloc(room, sizeof *results);
    size_t n = rule_pointers(rule, pointers);
    if (!parts_find(body, pointers, n, results))
        return "unreadable";
    const char *reason = read_step(rule, results, event);
    if (reason || !event->rule)
        return reason;
    reason = read_fields(rule->contact, rule->n_contact, results + AT_FIELDS, &event->contact);
    return reason ? reason
                  : read_fields(rule->data, rule->n_data, results + AT_FIELDS + rule->n_contact,
                            &event->data);
}
