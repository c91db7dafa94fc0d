// utf8.h: reads and writes single UTF-8 characters by RFC 3629 (no overlong form, no surrogate).
#pragma once
#include "common/text.h"

// Length in bytes of the character that s starts with; 0 if it is none.
size_t utf8_len(struct slice s);

// Copies the bytes that s starts with which are ASCII that prints and neither `"` nor `\\`: what
// stands for itself in a JSON string; how many they were. Eight at a time, since almost all of
// every text is of that kind: out has room for s and seven bytes more.
size_t utf8_copy_plain(struct slice s, char *out);

// All of it is characters.
bool utf8_ok(struct slice s);

// The code point of the valid character of n bytes at s.
uint32_t utf8_code(const unsigned char *s, size_t n);

// Appends code as UTF-8; false when it would pass out's ceiling.
bool utf8_add(struct text *out, uint32_t code);

// True when there is a control character in it (C0, DEL, C1 such as U+0085) or one that ends a
// line by Unicode (U+2028, U+2029). What is not UTF-8 is not looked at.
bool utf8_has_control(struct slice text);

// Only what ASCII prints, the space too; true of nothing.
bool utf8_is_printable_ascii(struct slice text);
