// compose.h: the pieces that bodies and URLs of requests are put together from; nothing passes into
// them as it is that could end a line, a string or a parameter.
//
// All append to out and are false when it would pass out's ceiling (out may then hold a part).
#pragma once
#include "common/text.h"

// RFC 3986 2.1: all but unreserved characters as %XX.
bool compose_percent(struct text *out, struct slice value);
// name=value of application/x-www-form-urlencoded, after '&' unless out is empty.
bool compose_form(struct text *out, const char *name, struct slice value);
// "name":"value" of an object that is being written, after a comma unless it is the first.
bool compose_json(struct text *out, const char *name, struct slice value);
// The same with a value that is JSON already.
bool compose_json_raw(struct text *out, const char *name, const char *json);
bool compose_json_int(struct text *out, const char *name, int64_t value);
// RFC 4648 5 without padding.
bool compose_base64url(struct text *out, struct slice bytes);
