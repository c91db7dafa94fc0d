#include "receiver/accept/values.h"

#include "common/utf8.h"

static json_t *object_of(const char *text)
{
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(object))
        return object;
    json_decref(object);
    return json_object();
}

char *values_compact(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    return text ? text : xstrdup("{}");
}

static bool is_empty_object(const char *text)
{
    return !text || strcmp(text, "{}") == 0;
}

bool values_fill(char **kept, const char *more, bool *ret_too_large)
{
    if (is_empty_object(more) || (*kept && strcmp(*kept, more) == 0))
        return false;
    json_t *have = object_of(*kept), *come = object_of(more), *value;
    const char *name;
    bool changed = false;
    json_object_foreach(come, name, value)
    {
        json_t *old = json_object_get(have, name);
        if (json_is_null(value) || (old && !json_is_null(old)))
            continue;
        json_object_set(have, name, value);
        changed = true;
    }
    json_decref(come);
    char *text = changed ? values_compact(have) : NULL;
    json_decref(have);
    bool too_large = changed && strlen(text) > VALUES_MAX;
    *ret_too_large |= too_large;
    if (!changed || too_large) {
        free(text);
        return false;
    }
    free(*kept);
    *kept = text;
    return true;
}

static void set_text(json_t *object, const char *name, const char *value)
{
    if (value)
        json_object_set_new(object, name, json_string(value));
}

json_t *values_of_note(const struct note_words *words)
{
    json_t *root = json_object(), *event = json_object(), *data = object_of(words->data);
    if (words->order_id) {
        json_t *order = json_object();
        set_text(order, "id", words->order_id);
        set_text(order, "state", words->state);
        json_object_set_new(root, "order", order);
    }
    set_text(event, "id", words->event_id);
    set_text(event, "type", words->event_type);
    set_text(event, "source", words->source);
    json_object_set_new(root, "event", event);
    json_object_set_new(root, "contact", object_of(words->contact));
    if (!is_empty_object(words->event_data)) {
        json_t *own = object_of(words->event_data);
        json_object_update(data, own);
        json_decref(own);
    }
    json_object_set_new(root, "data", data);
    return root;
}

// Without reading all of it. Names are written by us, as they are: what is not there is not a
// member.
static bool may_have(const char *object, const char *member)
{
    size_t len = strlen(member);
    for (const char *at = object; at && (at = strstr(at, member)) != NULL; at++)
        if (at > object && at[-1] == '"' && at[len] == '"')
            return true;
    return false;
}

static char *plain(struct slice said, size_t max)
{
    return said.len > 0 && said.len <= max && !utf8_has_control(said) ? slice_dup(said) : NULL;
}

static char *text_of(const json_t *value, size_t max)
{
    if (!json_is_string(value))
        return NULL;
    struct slice said = {
            (const unsigned char *)json_string_value(value), json_string_length(value)};
    return plain(said, max);
}

char *values_text(const char *object, const char *member, size_t max)
{
    if (!may_have(object, member))
        return NULL;
    json_t *root = object_of(object);
    char *text = text_of(json_object_get(root, member), max);
    json_decref(root);
    return text;
}

char *values_id(const char *object, const char *member, size_t max)
{
    if (!may_have(object, member))
        return NULL;
    json_t *root = object_of(object), *value = json_object_get(root, member);
    AUTO_FREE char *digits = json_is_integer(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    char *text = digits ? plain(slice_of(digits), max) : text_of(value, max);
    json_decref(root);
    return text;
}

char *values_event_name(const char *source, const char *scope, const char *id)
{
    AUTO_TEXT struct text name = {.max = SIZE_MAX};
    text_fmt(&name, "%s/", source);
    for (const char *p = scope; *p; p++) {
        if (*p == '/' || *p == '%')
            text_fmt(&name, "%%%02X", (unsigned)*p);
        else
            text_char(&name, *p);
    }
    text_fmt(&name, "/%s", id);
    return text_steal(&name);
}
