// encode.h: puts any UTF-8 text into the 7-bit lines that mail is made of.
#pragma once
#include "common/text.h"

bool text_is_ascii(struct slice text);
bool text_is_utf8(struct slice text);
bool text_has_control(struct slice text); // a byte below 0x20 or 0x7f

// Appends an unstructured header value (Subject) after column characters of its line: as it stands
// where it is plain ASCII, folded at spaces; else as encoded-words of at most 75 characters, none
// of which splits a character (RFC 2047 2 and 5). Lines are kept to 76. value must be UTF-8 without
// control characters. False when out is full.
MUST_CHECK bool encode_unstructured(struct slice value, size_t column, struct text *out);

// The same for a display name: an atom or a quoted string where it is ASCII (RFC 5322 3.2.5).
MUST_CHECK bool encode_phrase(struct slice value, size_t column, struct text *out);

// Appends a body as quoted-printable (RFC 2045 6.7) or base64 with lines of at most 76. Every line
// end (CRLF, LF, CR) becomes CRLF; the output ends with one.
MUST_CHECK bool encode_quoted_printable(struct slice body, struct text *out);
MUST_CHECK bool encode_base64(struct slice body, struct text *out);

// Is more than a quarter outside ASCII? Up to there quoted-printable is hardly longer than base64,
// and can be read.
bool encode_prefers_base64(struct slice body);
