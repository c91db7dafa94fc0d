// sendgrid.h: mail by SendGrid's API (https://docs.sendgrid.com/api-reference/mail-send/mail-send).
#pragma once
#include "dispatcher/send/http.h"

// The delivery's key is custom_args "pawl_delivery": it comes back in the event webhook.
MUST_CHECK bool sendgrid_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err);
void sendgrid_classify(const struct http_reply *reply, struct attempt_result *result);
