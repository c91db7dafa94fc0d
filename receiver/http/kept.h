// kept.h: the header lines that are stored with a body, without what would let others in.
#pragma once
#include "receiver/http/stages.h"

#define KEPT_MAX ((size_t)16 << 10) // bytes; lines beyond are left out

// "Name: value\n" for each header, yours to free; NULL when there is none. Values of credentials
// and signatures are replaced by "sha256:" and 12 hex digits, enough to tell two apart. Bytes that
// are not printable ASCII become '?'. signature_header is the source's own, or NULL.
char *kept_headers(const struct received_header *headers, size_t n, const char *signature_header);
