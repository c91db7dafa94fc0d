// moment.h: a time that is part of what was signed, read in one way only.
#pragma once
#include "common/base.h"

// RFC 3339 in UTC: "2026-11-29T14:11:12Z", perhaps with a fraction, which is dropped. False for any
// other form, and for a date that does not exist.
MUST_CHECK bool moment_read(struct slice text, int64_t *ret_s);
// Seconds since 1970 in decimal, no sign, no leading zero.
MUST_CHECK bool moment_read_unix(struct slice text, int64_t *ret_s);
