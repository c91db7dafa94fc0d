// ses.h: mail by Amazon SES, API v2
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html).
#pragma once
#include "dispatcher/send/http.h"

// The message goes as the MIME that SMTP would carry. The delivery's key is the tag
// "pawl_delivery": it comes back in event destinations. ses_sign() must follow.
MUST_CHECK bool ses_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *request, enum failure_level *ret_level,
        struct err *err);
MUST_CHECK bool ses_sign(const struct provider *provider, const struct content *content,
        int64_t now_s, struct http_request *request, struct err *err);
void ses_classify(const struct http_reply *reply, struct attempt_result *result);
