// unsubscribe.h: the signed link by which a recipient leaves the list of one message type (RFC
// 8058), made by the dispatcher and read by the receiver.
//
// URL/unsubscribe/TOKEN; the token is the place of the delivery (common/place.h), whose row says
// type, channel and address, a dot, and 32 hex digits of HMAC-SHA256 over it. It does not expire.
#pragma once
#include "common/config/policy.h"
#include "common/place.h"

#define UNSUBSCRIBE_TOKEN_MAX 96 // with NUL
#define UNSUBSCRIBE_PATH "/unsubscribe/"
#define UNSUBSCRIBE_FORM "List-Unsubscribe=One-Click" // what a client posts (RFC 8058, 3.1)

// Appends the whole link, signed with the first live secret. ERR_INPUT: the policy has no
// `unsubscribe`, or no live secret of it is there.
MUST_CHECK bool unsubscribe_link(const struct policy *policy, const struct delivery_place *place,
        int64_t now_s, struct text *out, struct err *err);

// True only for a token that one of the live secrets signed: compared in constant time.
bool unsubscribe_read(const struct policy *policy, struct slice token, int64_t now_s,
        struct delivery_place *ret_place);
