// push.h: messages to devices and browsers: what their drivers share, and each one's two pure ends.
//
// The address is the device's token; for webpush it is the subscription as the browser gives it:
// {"endpoint":"https://..","keys":{"p256dh":"..","auth":".."}}. A content without a collapse id
// gets the delivery's key as one, so that a second copy replaces the first. docs/push.md has the
// tables of replies in words. What build returns is as in sms.h; the request still needs
// `Authorization`: the *_token() functions.
#pragma once
#include "dispatcher/send/http.h"

#define PUSH_DRIVER(name_)                                                                         \
    MUST_CHECK bool name_##_build(const struct content *content, const struct provider *provider,  \
            const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,  \
            struct err *err);                                                                      \
    void name_##_classify(const struct http_reply *reply, struct attempt_result *result)
PUSH_DRIVER(apns);
PUSH_DRIVER(fcm);
PUSH_DRIVER(webpush);

#define APNS_PAYLOAD_MAX 4096 // bytes
#define FCM_PAYLOAD_MAX 4096
#define WEBPUSH_PLAIN_MAX 3993 // what a body of 4096 holds

#define COLLAPSE_MAX 64 // longest form of a collapse id, in bytes
// Writes the collapse id for a service that takes at most `most` bytes: as it is when it fits and
// is plain ASCII (alnum: letters and digits), else as many hex digits of its SHA-256.
void push_collapse(const struct content *content, const char *key_hex, size_t most, bool alnum,
        char out[COLLAPSE_MAX + 1]);

// A bearer token for APNs (ES256). It may be made anew every 20 minutes and must be before 60;
// makers that differ get 429 TooManyProviderTokenUpdates.
MUST_CHECK bool apns_token(struct slice key_pem, const char *team, const char *key_id,
        int64_t now_s, struct text *out, struct err *err);

// FCM: the request that gets an OAuth token for a service account (its JSON key file), and what
// the reply says: the bearer token and for how many seconds it is good.
MUST_CHECK bool fcm_token_build(struct slice account_json, int64_t now_s,
        struct http_request *ret_request, struct err *err);
MUST_CHECK bool fcm_token_read(
        const struct http_reply *reply, struct text *token, int64_t *ret_life_s, struct err *err);

// The whole value of `Authorization` for one push service (RFC 8292): "vapid t=.., k=..", good for
// twelve hours. The address names the service.
MUST_CHECK bool webpush_token(struct slice key_pem, const char *subject, const char *address,
        int64_t now_s, struct text *out, struct err *err);
// Appends it as Authorization.
MUST_CHECK bool webpush_sign(const struct provider *provider, const struct content *content,
        int64_t now_s, struct http_request *request, struct err *err);
