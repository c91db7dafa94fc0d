// mime.h: makes the RFC 5322 message of a content; pure, and the same bytes on every try.
#pragma once
#include "dispatcher/delivery.h"
#include "dispatcher/send/address.h"
#include "dispatcher/send/inlay.h"

#define MIME_MESSAGE_MAX ((size_t)16 << 20)

// Notes attachments in inlays, each in a part of a multipart/mixed around the rest. Appends the
// message with CRLF line ends, 7 bit, no line over 998 characters; leading dots are
// not doubled yet. text and html make a multipart/alternative whose boundary comes from the
// Message-ID. ERR_INPUT when a header would hold a control character or is not UTF-8, when there is
// no body, or when out is full.
MUST_CHECK bool mime_build(const struct content *content, const struct mailbox *from,
        const struct mailbox *to, struct text *out, struct inlays *inlays, struct err *err);

// Is there a text or HTML, both UTF-8, and can each file's path be one? What a mail needs by any
// protocol.
MUST_CHECK bool mime_parts_ok(const struct content *content, struct err *err);
