// values.h: what an order keeps (contact, data), and what a template may say: small JSON objects as
// text.
#pragma once
#include "common/text.h"

#include <jansson.h>

// Most that an order keeps of either object; what would pass it is not taken over.
#define VALUES_MAX (16 * 1024)

// Takes over the members of `more` that `kept` lacks or has as null. *kept is a malloc'ed JSON
// object and is replaced when something came in: then true. *ret_too_large is set when it would be
// more than VALUES_MAX: then nothing of `more` is taken over.
bool values_fill(char **kept, const char *more, bool *ret_too_large);

struct note_words {
    const char *order_id, *state; // NULL without an order
    const char *event_id, *event_type, *source;
    const char *contact;    // JSON object: the order's, or the event's own without an order
    const char *data;       // JSON object: kept by the order
    const char *event_data; // JSON object: the event's own, goes before the kept one
};

// {"order":{"id","state"},"event":{"id","type","source"},"contact":{..},"data":{..}}; json_decref()
// it.
json_t *values_of_note(const struct note_words *words);

// A value as compact text, "{}" for none; free() it.
char *values_compact(const json_t *value);

// A text member of a JSON object as a malloc'ed string; NULL when missing, empty, not a string,
// over max bytes or with a control character in it (utf8_has_control).
char *values_text(const char *object, const char *member, size_t max);

// The same, but a whole number is one too, as its digits: an id.
char *values_id(const char *object, const char *member, size_t max);

// An event's name in a once key: "source/scope/id". Ids are unique only within their source and
// scope; '/' and '%' of the scope are escaped, so that no two events share a name. free() it.
char *values_event_name(const char *source, const char *scope, const char *id);
