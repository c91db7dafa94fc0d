// scan.h: checks a JSON document strictly and finds the literal tokens of values in it, without
// building a tree.
//
// The rules are RFC 8259's, read strictly: UTF-8 only, no BOM, one value, nothing behind it. Ids
// keep every digit and every character, since what is handed out are slices of the body itself.
// `\u0000` and lone surrogates are valid JSON; they are refused only where a text is made of them.
// All failures are ERR_INPUT; positions are bytes from 0. Nothing here allocates except into a
// struct text.
#pragma once
#include "common/err.h"
#include "common/text.h"

enum {
    JSON_DEPTH_MAX = 64,      // objects and arrays inside one another
    JSON_ITEMS_MAX = 100000,  // members and elements of the whole document
    JSON_POINTERS_MAX = 128,  // pointers of one call
    JSON_POINTER_BYTES = 512, // length of one pointer
    JSON_ID_MAX = 255,        // bytes of an id from outside, its mark included
};

enum json_kind {
    JSON_KIND_NONE, // no token
    JSON_KIND_STRING,
    JSON_KIND_NUMBER,
    JSON_KIND_OBJECT,
    JSON_KIND_ARRAY,
    JSON_KIND_TRUE,
    JSON_KIND_FALSE,
    JSON_KIND_NULL,
};

// One value as it stands in the body: a string with its quotes, an object with its braces.
// Borrowed.
struct json_token {
    enum json_kind kind;
    struct slice raw;
};

enum json_found {
    JSON_MISSING,
    JSON_FOUND,
    JSON_DUPLICATE, // a member name on the path stands twice in its object: parsers differ, so
                    // nobody may choose
};

struct json_result {
    enum json_found found;
    struct json_token token; // kind NONE unless FOUND
};

// The whole document is valid and within the limits. Linear time.
MUST_CHECK bool json_check(struct slice body, struct err *err);

// Checks the whole body and, in the same pass, finds the value of each JSON pointer (RFC 6901: ""
// is the document, "/a/0/b", ~0 is '~', ~1 is '/'). Names are compared after their escapes are
// decoded. results[i] belongs to pointers[i]; they are set only on success.
MUST_CHECK bool json_find(struct slice body, const char *const pointers[], size_t n,
        struct json_result results[], struct err *err);

// The pointer is well formed (for the policy checker).
MUST_CHECK bool json_pointer_ok(const char *pointer, struct err *err);

// Appends the body's bytes without the chosen members (name, value, one comma), as if they had
// never been in it; a pointer that finds nothing changes nothing, a name that stands twice goes
// twice. All other bytes stay as they are. The empty pointer is refused. For fingerprints.
MUST_CHECK bool json_without(struct slice body, const char *const pointers[], size_t n,
        struct text *out, struct err *err);

// Walks an array's elements or an object's members: *at starts at 0; false at the end. The token
// must come from a body that was checked. name may be NULL; it is the member's literal string
// token, NONE in an array.
bool json_next(
        struct json_token container, size_t *at, struct json_token *name, struct json_token *value);

// Appends the text of a string token as UTF-8. Errors: not a string, \u0000, a lone surrogate,
// out's ceiling.
MUST_CHECK bool json_text(struct json_token token, struct text *out, struct err *err);

// Like json_text, and the literal of a number, true or false: for data fields that may be any of
// them.
MUST_CHECK bool json_plain(struct json_token token, struct text *out, struct err *err);

// Appends the id that a token stands for: a string's text; a number's literal digits after a '#',
// so that 1 and "1" stay apart. A string that starts with '#' gets one more '#', so that "#1" is
// neither. Then json_id_ok.
MUST_CHECK bool json_id(struct json_token token, struct text *out, struct err *err);

// An id from outside is printable UTF-8 (no control, line separator, bidi control)
// of 1..JSON_ID_MAX bytes.
MUST_CHECK bool json_id_ok(struct slice id, struct err *err);

// Reads an integer: a number token, or a string of the same form; decimal, no fraction, no
// exponent, no leading zero, within int64.
MUST_CHECK bool json_int64(struct json_token token, int64_t *ret_value, struct err *err);

// Appends a JSON string with its quotes / only its inside. Bytes that are not UTF-8 become U+FFFD.
// false when it would pass out's ceiling (then nothing was added).
bool json_quote(struct text *out, struct slice utf8);
bool json_escape(struct text *out, struct slice utf8);
