// read_more.h: what a body is read for beside JSON pointers: forms as objects, moments in time.
#pragma once
#include "receiver/accept/read.h"

#include "common/json/scan.h"

// A form as a flat JSON object of texts, for reading only: it is never stored or signed. A name
// that stands twice stands twice in it. Bytes that are no UTF-8 become U+FFFD. False when the form
// is beyond the limits of common/form.h.
MUST_CHECK bool read_form(struct slice body, struct text *out);

// The body with the text at pointers->inner replaced by the JSON object or array that it holds, or
// that its XML is read as, for reading only: it is never stored or signed. False when there is no
// such text or the result would be beyond the limits of common/json/scan.h: the body is then read
// as it is.
MUST_CHECK bool read_inner(
        struct slice body, const struct read_pointers *pointers, struct text *out);

// A moment as unix seconds: a number or text of seconds (a fraction is cut off) or, from 10^11 on,
// milliseconds; or RFC 3339, "2026-01-31T12:00:00.5+01:00".
MUST_CHECK bool read_moment(struct json_token token, int64_t *ret_at_s);

// Appends a value as a template gets it: each number, wherever it stands, as a text of its own
// digits, so that 12.50 stays 12.50 in a message and no long number is cut or makes the whole
// unreadable. The token comes from json_find, which has bounded its depth. false past out's
// ceiling.
MUST_CHECK bool read_value(struct json_token token, struct text *out);
