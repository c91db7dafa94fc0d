#include "dispatcher/send/sms.h"

#include "common/config/value.h"
#include "dispatcher/send/compose.h"

static bool is_e164(struct slice number)
{
    if (number.len < 3 || number.len > 16 || number.ptr[0] != '+' || number.ptr[1] == '0')
        return false;
    for (size_t i = 1; i < number.len; i++) {
        if (number.ptr[i] < '0' || number.ptr[i] > '9')
            return false;
    }
    return true;
}

bool sms_text_check(struct slice text, struct segments *ret_segments, struct err *err)
{
    struct segments segments;
    if (text.len == 0)
        return err_set(err, ERR_INPUT, "the message has no text");
    if (!segments_count(text, &segments, err))
        return false;
    if (segments.parts > SMS_PARTS_MAX)
        return err_set(err, ERR_INPUT, "the text is %zu short messages long, limit %d",
                segments.parts, SMS_PARTS_MAX);
    *ret_segments = segments;
    return true;
}

bool sms_check(const struct content *content, struct sms *ret_sms, enum failure_level *ret_level,
        struct err *err)
{
    struct sms sms = {.to = slice_of(content->to),
            .from = slice_of(content->from),
            .text = slice_of(content->text)};
    *ret_level = LEVEL_ADDRESS;
    if (!is_e164(sms.to))
        return err_set(err, ERR_INPUT, "the address is not a phone number such as +4915112345678");
    *ret_level = LEVEL_PROVIDER;
    if (!value_phone_sender(sms.from))
        return err_set(err, ERR_FATAL, "the sender is neither a phone number nor a short name");
    *ret_level = LEVEL_MESSAGE;
    if (!sms_text_check(sms.text, &sms.segments, err))
        return false;
    *ret_sms = sms;
    return true;
}

bool sms_callback(const struct provider *provider, const struct content *content,
        const char *key_hex, sms_compose_fn *compose, const char *name, struct text *body)
{
    AUTO_TEXT struct text url = {0};
    if (!provider->callback)
        return true;
    text_init(&url, HTTP_URL_MAX);
    return text_str(&url, provider->callback) &&
           text_str(&url, strchr(provider->callback, '?') ? "&delivery=" : "?delivery=") &&
           compose_percent(&url, slice_of(key_hex)) &&
           (!content->place || (text_str(&url, "&place=") &&
                                       compose_percent(&url, slice_of(content->place)))) &&
           compose(body, name, text_slice(&url));
}
