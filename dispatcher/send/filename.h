// filename.h: what a mail says of an attachment: its name, and its type by the name's end.
#pragma once
#include "common/text.h"

// The last name of a path.
const char *filename_of(const char *path);

// By the extension, without regard to case: "application/pdf"; what is not known is
// "application/octet-stream".
const char *filename_type(const char *path);

// Appends the header lines Content-Type, Content-Transfer-Encoding (base64) and Content-Disposition
// of the file at path. A name that is not short ASCII is written by RFC 2231, in numbered pieces of
// percent-encoded UTF-8 where it is long; none splits a character, and no line is longer than 76.
// The name must be UTF-8 without control characters. False when out is full.
MUST_CHECK bool filename_head(const char *path, struct text *out);
