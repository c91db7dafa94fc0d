// postmark.h: mail by Postmark's API (https://postmarkapp.com/developer/api/email-api).
#pragma once
#include "dispatcher/send/http.h"

// The delivery's key is Metadata "pawl-delivery": sent mail can be searched by it.
MUST_CHECK bool postmark_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err);
void postmark_classify(const struct http_reply *reply, struct attempt_result *result);
