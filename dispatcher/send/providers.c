#include "dispatcher/send/providers.h"

#include "dispatcher/send/postmark.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/resend.h"
#include "dispatcher/send/sendgrid.h"
#include "dispatcher/send/ses.h"
#include "dispatcher/send/sms.h"

#define MIB ((size_t)1 << 20)
#define HOURS INT64_C(3600)

static const struct driver_row drivers[] = {
        {.name = "smtp", .channel = CHANNEL_EMAIL},
        {
                .name = "resend",
                .channel = CHANNEL_EMAIL,
                .build = resend_build,
                .classify = resend_classify,
                .key = true,
                .key_window_s = 24 * HOURS,
                .lookup = LOOKUP_REPEAT,
                .body_max = 40 * MIB,
                .rate_headers = "ratelimit-limit ratelimit-remaining ratelimit-reset retry-after",
        },
        {
                .name = "postmark",
                .channel = CHANNEL_EMAIL,
                .build = postmark_build,
                .classify = postmark_classify,
                .lookup = LOOKUP_SEARCH,
                .look_build = postmark_look_build,
                .look_read = postmark_look_read,
                .body_max = 10 * MIB,
        },
        {
                .name = "sendgrid",
                .channel = CHANNEL_EMAIL,
                .build = sendgrid_build,
                .classify = sendgrid_classify,
                .body_max = 30 * MIB,
                .rate_headers = "x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset",
        },
        {
                .name = "ses",
                .channel = CHANNEL_EMAIL,
                .build = ses_build,
                .classify = ses_classify,
                .sign = ses_sign,
                .body_max = 40 * MIB,
        },
        {
                .name = "apns",
                .channel = CHANNEL_PUSH,
                .build = apns_build,
                .classify = apns_classify,
                .collapse = true,
                .body_max = APNS_PAYLOAD_MAX,
        },
        {
                .name = "fcm",
                .channel = CHANNEL_PUSH,
                .build = fcm_build,
                .classify = fcm_classify,
                .collapse = true,
                .body_max = FCM_PAYLOAD_MAX,
        },
        {
                .name = "twilio",
                .channel = CHANNEL_SMS,
                .build = twilio_build,
                .classify = twilio_classify,
        },
        {
                .name = "sinch",
                .channel = CHANNEL_SMS,
                .build = sinch_build,
                .classify = sinch_classify,
                .lookup = LOOKUP_SEARCH,
                .look_build = sinch_look_build,
                .look_read = sinch_look_read,
        },
        {
                .name = "telnyx",
                .channel = CHANNEL_SMS,
                .build = telnyx_build,
                .classify = telnyx_classify,
                .key = true,
                .key_window_s = 24 * HOURS,
                .lookup = LOOKUP_REPEAT,
        },
        {
                .name = "vonage",
                .channel = CHANNEL_SMS,
                .build = vonage_build,
                .classify = vonage_classify,
                .sign = vonage_sign,
        },
        {
                .name = "http",
                .channel = CHANNEL_SMS,
                .build = gateway_build,
                .classify = gateway_classify,
                .classify_as = gateway_classify_as,
        },
        {
                .name = "webpush",
                .channel = CHANNEL_PUSH,
                .build = webpush_build,
                .classify = webpush_classify,
                .sign = webpush_sign,
                .collapse = true,
                .body_max = 4096,
        },
};

const struct driver_row *driver_find(enum channel_kind channel, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(drivers); i++)
        if (name && drivers[i].channel == channel && strcmp(drivers[i].name, name) == 0)
            return &drivers[i];
    return NULL;
}

int64_t driver_key_window_s(enum channel_kind channel, const char *name)
{
    const struct driver_row *row = driver_find(channel, name);
    return row && row->key ? row->key_window_s : 0;
}

const struct driver_row *driver_at(size_t i)
{
    return i < ARRAY_LEN(drivers) ? &drivers[i] : NULL;
}
