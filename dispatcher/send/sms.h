// sms.h: text messages: what every driver of them checks, and the drivers' two pure ends.
//
// Of build: ERR_INPUT with *ret_level MESSAGE or ADDRESS can never be sent; ERR_FATAL with
// PROVIDER: the provider's settings forbid it. key_hex is the delivery's outward key. docs/sms.md
// has the tables of replies in words.
#pragma once
#include "dispatcher/send/http.h"
#include "dispatcher/send/segments.h"

#define SMS_PARTS_MAX 10 // a text of more is refused: it is billed by the part

struct sms {
    struct slice to, from, text; // borrowed from the content
    struct segments segments;
};

// The recipient is an E.164 number ('+', 2 to 15 digits, the first not 0), the sender one too or a
// name of up to 11 letters, the text UTF-8 and of 1 to SMS_PARTS_MAX parts.
MUST_CHECK bool sms_check(const struct content *content, struct sms *ret_sms,
        enum failure_level *ret_level, struct err *err);

// The text alone: ERR_INPUT when it is empty, no UTF-8, or of more parts than SMS_PARTS_MAX.
MUST_CHECK bool sms_text_check(struct slice text, struct segments *ret_segments, struct err *err);

// Adds the provider's callback URL, with the delivery's key as its parameter `delivery` and its
// place as `place`, to a body by compose_json() or compose_form(). A provider without one: nothing
// is added. False when it does not fit.
typedef bool sms_compose_fn(struct text *body, const char *name, struct slice value);
MUST_CHECK bool sms_callback(const struct provider *provider, const struct content *content,
        const char *key_hex, sms_compose_fn *compose, const char *name, struct text *body);

#define SMS_DRIVER(name_)                                                                          \
    MUST_CHECK bool name_##_build(const struct content *content, const struct provider *provider,  \
            const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,  \
            struct err *err);                                                                      \
    void name_##_classify(const struct http_reply *reply, struct attempt_result *result)
SMS_DRIVER(twilio);
SMS_DRIVER(sinch);
SMS_DRIVER(vonage); // needs vonage_sign() besides
SMS_DRIVER(telnyx);
SMS_DRIVER(gateway); // driver `http`; classify: 200, 201 and 202 are success, no id

// Sinch can be asked by client_reference, from the day before since_s on.
MUST_CHECK bool sinch_look_build(const struct provider *provider, const char *key_hex,
        int64_t since_s, struct http_request *request, struct err *err);
void sinch_look_read(const struct http_reply *reply, const char *key_hex, int nth,
        struct attempt_result *result);

// A gateway says what success is, and where its id stands.
void gateway_classify_by(const struct gateway *gateway, const struct http_reply *reply,
        struct attempt_result *result);
// The same by what the request that was built remembers of the gateway.
void gateway_classify_as(const struct http_request *request, const struct http_reply *reply,
        struct attempt_result *result);

// What one of Twilio's error codes means, in a reply or in a status callback; false: not known.
bool twilio_error(
        const char *code, enum attempt_outcome *ret_outcome, enum failure_level *ret_level);

// The JWT of a Vonage application (RS256), good for an hour. jti must not repeat.
MUST_CHECK bool vonage_token(struct slice key_pem, const char *application, const char *jti,
        int64_t now_s, struct text *out, struct err *err);
// Appends such a JWT as Authorization: Bearer.
MUST_CHECK bool vonage_sign(const struct provider *provider, const struct content *content,
        int64_t now_s, struct http_request *request, struct err *err);
