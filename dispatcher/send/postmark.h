// postmark.h: mail by Postmark's API (https://postmarkapp.com/developer/api/email-api).
#pragma once
#include "dispatcher/send/http.h"

// The delivery's key is Metadata "pawl-delivery": sent mail can be searched by it.
MUST_CHECK bool postmark_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err);
void postmark_classify(const struct http_reply *reply, struct attempt_result *result);

// https://postmarkapp.com/developer/api/messages-api#outbound-message-search, by that metadata.
MUST_CHECK bool postmark_look_build(const struct provider *provider, const char *key_hex,
        int64_t since_s, struct http_request *request, struct err *err);
void postmark_look_read(const struct http_reply *reply, const char *key_hex, int nth,
        struct attempt_result *result);
