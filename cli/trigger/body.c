#include "cli/trigger/body.h"

#include "receiver/verify/verify.h"

#include <jansson.h>

#define SEGMENT_MAX 256

static void auto_json(json_t **json)
{
    json_decref(*json);
}
#define AUTO_JSON __attribute__((cleanup(auto_json)))

// The next segment of a JSON pointer, decoded (RFC 6901); NULL at the end or when it is too long.
static const char *segment(const char *pointer, char out[SEGMENT_MAX])
{
    size_t n = 0;
    if (*pointer != '/')
        return NULL;
    for (pointer++; *pointer && *pointer != '/'; pointer++) {
        char c = *pointer;
        if (c == '~' && (pointer[1] == '0' || pointer[1] == '1'))
            c = *++pointer == '0' ? '~' : '/';
        if (n + 1 >= SEGMENT_MAX)
            return NULL;
        out[n++] = c;
    }
    out[n] = '\0';
    return pointer;
}

static bool is_index(const char *name)
{
    return *name && strspn(name, "0123456789") == strlen(name) && strlen(name) < 4;
}

static json_t *child(const json_t *parent, const char *name)
{
    return json_is_array(parent) && is_index(name) ? json_array_get(parent, strtoul(name, NULL, 10))
                                                   : json_object_get(parent, name);
}

static bool put(json_t *parent, const char *name, json_t *value)
{
    if (!json_is_array(parent))
        return json_object_set(parent, name, value) == 0;
    size_t at = is_index(name) ? strtoul(name, NULL, 10) : json_array_size(parent);
    while (json_array_size(parent) <= at)
        if (json_array_append_new(parent, json_null()) != 0)
            return false;
    return json_array_set(parent, at, value) == 0;
}

static bool container_made(json_t *parent, const char *name, const char *rest)
{
    char next[SEGMENT_MAX];
    AUTO_JSON json_t *made = segment(rest, next) && is_index(next) ? json_array() : json_object();
    return put(parent, name, made);
}

// Sets the value at the pointer, making what is missing on the way; takes the value.
static bool set_at(json_t *root, const char *pointer, json_t *taken, struct err *err)
{
    AUTO_JSON json_t *value = taken;
    json_t *parent = root;
    const char *rest = pointer;
    for (;;) {
        char name[SEGMENT_MAX];
        rest = segment(rest, name);
        if (!rest || !value)
            return err_set(err, ERR_INPUT, "'%.100s' is not a JSON pointer", pointer);
        if (!*rest)
            return put(parent, name, value) ||
                   err_set(err, ERR_INPUT, "can't set '%.100s'", pointer);
        json_t *found = child(parent, name);
        if (!json_is_object(found) && !json_is_array(found) && !container_made(parent, name, rest))
            return err_set(err, ERR_INPUT, "can't set '%.100s'", pointer);
        parent = child(parent, name);
    }
}

static bool is_there(const json_t *root, const char *pointer)
{
    const json_t *at = root;
    char name[SEGMENT_MAX];
    while (*pointer && (pointer = segment(pointer, name)) != NULL && at)
        at = child(at, name);
    return at != NULL;
}

// The first mention of a place decides: a rule may point twice at the same one.
static bool fill(json_t *root, const char *pointer, json_t *taken, struct err *err)
{
    if (!pointer || is_there(root, pointer)) {
        json_decref(taken);
        return true;
    }
    return set_at(root, pointer, taken, err);
}

static bool fill_contact(json_t *root, const struct body_wish *wish, struct err *err)
{
    const struct {
        const char *name, *value;
    } samples[] = {{"email", wish->email}, {"id", wish->email}, {"phone", "+15005550006"},
            {"locale", wish->policy->locale}, {"timezone", wish->policy->timezone}};
    for (size_t i = 0; i < wish->rule->n_contact; i++) {
        const struct field *field = &wish->rule->contact[i];
        for (size_t s = 0; s < ARRAY_LEN(samples); s++)
            if (strcmp(samples[s].name, field->name) == 0 &&
                    !fill(root, field->pointer, json_string(samples[s].value), err))
                return false;
    }
    return true;
}

static bool fill_rule(json_t *root, const struct body_wish *wish, struct err *err)
{
    const struct event_rule *rule = wish->rule;
    const char *by = rule->n_map > 0 ? rule->map[0].value : "";
    if (!fill(root, rule->order, json_string(wish->order), err) ||
            !fill(root, rule->by, json_string(by), err) ||
            !fill(root, rule->sequence, json_integer(wish->now_s * 1000), err) ||
            !fill_contact(root, wish, err))
        return false;
    for (size_t i = 0; i < rule->n_data; i++)
        if (!fill(root, rule->data[i].pointer, json_string("42"), err))
            return false;
    return true;
}

// "pull_request.opened": what is told beside the body is left out, and its last word may have a
// place of its own.
static bool fill_type(
        json_t *root, const struct scheme *scheme, const struct body_wish *wish, struct err *err)
{
    AUTO_FREE char *type = xstrdup(wish->rule->type);
    const char *more = scheme_type_more(scheme), *said = type;
    if (scheme_type_told(scheme) || scheme_type_of_batch(scheme)) {
        const char *dot = strchr(type, '.');
        if (!dot)
            return true;
        said = dot + 1;
    }
    char *last = more ? strrchr(type, '.') : NULL;
    if (last && last > said)
        *last++ = '\0';
    else
        last = NULL;
    return fill(root, scheme_type_pointer(scheme, wish->source), json_string(said), err) &&
           (!last || fill(root, more, json_string(last), err));
}

// Scope stands in the body itself, also where the event is a member of a batch in it.
static bool fill_scope(json_t *root, const struct scheme *scheme, struct err *err)
{
    const char *const *scope = scheme_scope_pointers(scheme);
    for (; scope && *scope; scope++)
        if (strcmp(*scope, "/livemode") == 0 && !fill(root, *scope, json_false(), err))
            return false;
    return true;
}

// Further parts of an id that nothing else has filled: an id that lacks one is none to look for.
static bool fill_parts(json_t *root, const struct scheme *scheme, struct err *err)
{
    const char *const *part = scheme_id_more(scheme);
    for (; part && *part; part++)
        if (!fill(root, *part, json_string("1"), err))
            return false;
    return true;
}

// "/entry/*/messages" as the way to its first member, "/entry/0/messages/0".
static bool first_member(const char *pattern, struct text *out)
{
    bool ok = true;
    for (; ok && *pattern; pattern++) {
        bool star = pattern[0] == '*' && pattern[-1] == '/' && strchr("/", pattern[1]);
        ok = text_char(out, star ? '0' : *pattern);
    }
    return ok && text_str(out, "/0");
}

// The array that the event belongs into: by its type where that is the array's name.
static const char *pattern_of(const struct scheme *scheme, const char *type)
{
    const char *const *patterns = scheme_batch(scheme);
    size_t len = strcspn(type, ".");
    for (size_t i = 0; scheme_type_of_batch(scheme) && patterns[i]; i++) {
        const char *slash = strrchr(patterns[i], '/');
        if (slash && strlen(slash + 1) == len && strncmp(slash + 1, type, len) == 0)
            return patterns[i];
    }
    return patterns[0];
}

// Where the scheme's requests hold many events: this one alone, in an array of its own.
static bool add_member(json_t **root, const char *pattern, json_t *member, struct err *err)
{
    AUTO_TEXT struct text at = {.max = 1024};
    if (!*pattern) {
        json_decref(*root);
        *root = json_array();
    }
    return (first_member(pattern, &at) || err_set(err, ERR_INPUT, "the batch is too deep")) &&
           set_at(*root, text_cstr(&at), json_incref(member), err);
}

static bool fill_scheme(json_t *root, const struct body_wish *wish, struct err *err)
{
    const struct scheme *scheme = scheme_of(wish->source);
    if (!scheme)
        return err_set(err, ERR_INPUT, "source '%s': scheme '%s' is not active yet",
                wish->source->name, wish->source->scheme);
    const char *id = scheme_id_pointer(scheme, wish->source);
    return fill(root, id, json_string(wish->event_id), err) && fill_type(root, scheme, wish, err) &&
           fill(root, scheme_time_pointer(scheme, wish->source), json_integer(wish->now_s), err);
}

bool body_set_ok(const char *set, struct err *err)
{
    return (set[0] == '/' && strchr(set, '=')) ||
           err_set(err, ERR_INPUT, "--set '%.100s' is not /pointer=value", set);
}

// The value is JSON when it reads as such, else a text.
static bool set_one(json_t *root, const char *set, struct err *err)
{
    const char *equals = strchr(set, '=');
    if (!body_set_ok(set, err))
        return false;
    AUTO_FREE char *pointer =
            slice_dup((struct slice){(const unsigned char *)set, (size_t)(equals - set)});
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, NULL);
    return set_at(root, pointer, value ? value : json_string(equals + 1), err);
}

bool body_build(const struct body_wish *wish, struct text *out, struct err *err)
{
    AUTO_JSON json_t *root = json_object();
    const struct scheme *scheme = scheme_of(wish->source);
    const char *batch = scheme ? pattern_of(scheme, wish->rule->type) : NULL;
    AUTO_JSON json_t *event = batch ? json_object() : json_incref(root);
    if ((scheme && !fill_scope(root, scheme, err)) || !fill_scheme(event, wish, err) ||
            !fill_rule(event, wish, err) || !fill_parts(event, scheme, err))
        return false;
    for (size_t i = 0; i < wish->n_sets; i++)
        if (!set_one(event, wish->sets[i], err))
            return false;
    if (event != root && !add_member(&root, batch, event, err))
        return false;
    AUTO_FREE char *dump = json_dumps(root, JSON_COMPACT);
    return (dump && text_str(out, dump)) || err_set(err, ERR_INPUT, "the body is too large");
}
