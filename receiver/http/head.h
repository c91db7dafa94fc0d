// head.h: looks at a request's raw head for what the HTTP library lets pass.
//
// libh2o 2.2.5 takes the first of two Content-Length, drops Content-Length beside
// Transfer-Encoding, folds lines and reads bare LF: each is a way to make a proxy in front and this
// server see different requests. Rules: RFC 9112 §2.2, §3.2, §5.1, §5.2, §6.3.
#pragma once
#include "common/base.h"

#define HEAD_MAX ((size_t)512 << 10) // bytes of a head that are looked at; h2o takes 408 KiB

enum head_fault {
    HEAD_OK,
    HEAD_INCOMPLETE,         // no empty line within HEAD_MAX
    HEAD_BARE_LINE_END,      // LF without CR, or CR without LF
    HEAD_FOLDED,             // a line starts with a blank (obs-fold)
    HEAD_BLANK_BEFORE_COLON, // or an empty name
    HEAD_BAD_LINE,           // no colon, or a control character
    HEAD_TWO_LENGTHS,        // also when they agree
    HEAD_LENGTH_AND_CODING,
    HEAD_BAD_CODING, // Transfer-Encoding other than one "chunked"
    HEAD_TWO_HOSTS,
    HEAD_NO_HOST, // HTTP/1.1 only
    HEAD_FAULT_COUNT
};
const char *head_fault_name(enum head_fault fault);

// input starts with the first byte of the request line; what follows the head is not looked at.
enum head_fault head_scan(struct slice input);
