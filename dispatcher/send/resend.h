// resend.h: mail by Resend's API (https://resend.com/docs/api-reference/emails/send-email).
#pragma once
#include "dispatcher/send/http.h"

// The delivery's key is the Idempotency-Key: a repeat within 24 h gets the first one's answer.
MUST_CHECK bool resend_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err);
void resend_classify(const struct http_reply *reply, struct attempt_result *result);
