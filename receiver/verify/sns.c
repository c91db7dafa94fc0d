// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
#include "receiver/verify/sns.h"

#include "common/json/scan.h"
#include "receiver/verify/cert_url.h"
#include "receiver/verify/keyed.h"
#include "receiver/verify/mac.h"

enum {
    SNS_SIGNATURE_MAX = PUBKEY_RSA_BITS_MAX / 8,
    SNS_VALUE_MAX = 2048, // bytes of a member other than Message
    SNS_NAMES_MAX = 256,  // bytes of the names in the signed text
    SNS_TOKEN_MAX = 1024,
};

// The members in the order in which they are signed, then the ones that are not.
enum {
    AT_MESSAGE,
    AT_MESSAGE_ID,
    AT_SUBJECT,
    AT_SUBSCRIBE_URL,
    AT_TIMESTAMP,
    AT_TOKEN,
    AT_TOPIC,
    AT_TYPE,
    AT_SIGNED_END,
    AT_VERSION = AT_SIGNED_END,
    AT_CERT_URL,
    AT_SIGNATURE,
    AT_END
};
static const char *const pointers[AT_END] = {"/Message", "/MessageId", "/Subject", "/SubscribeURL",
        "/Timestamp", "/Token", "/TopicArn", "/Type", "/SignatureVersion", "/SigningCertURL",
        "/Signature"};

struct sns_message {
    struct json_result members[AT_END];
    enum sns_kind kind;
    struct text topic, cert_url;
    struct text signed_text;
    enum pk_algorithm algorithm;
    unsigned char signature[SNS_SIGNATURE_MAX];
    size_t signature_len;
};

static void sns_message_fini(struct sns_message *message)
{
    text_fini(&message->topic);
    text_fini(&message->cert_url);
    text_fini(&message->signed_text);
}
#define AUTO_MESSAGE __attribute__((cleanup(sns_message_fini)))

static bool absent(const struct json_result *member)
{
    return member->found == JSON_MISSING || member->token.kind == JSON_KIND_NULL;
}

// One line of text. A line end would let two messages have one signed text.
static bool line_of(const struct json_result *member, struct text *out)
{
    if (member->found != JSON_FOUND || !json_text(member->token, out, NULL))
        return false;
    return header_value_ok(text_slice(out));
}

static bool says(const struct json_result *member, const char *word)
{
    AUTO_TEXT struct text value = {.max = 64};
    return line_of(member, &value) && strcmp(text_cstr(&value), word) == 0;
}

static bool kind_of(const struct json_result *type, enum sns_kind *ret_kind)
{
    static const char *const names[] = {[SNS_EVENT] = "Notification",
            [SNS_SUBSCRIBE] = "SubscriptionConfirmation",
            [SNS_UNSUBSCRIBE] = "UnsubscribeConfirmation"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        *ret_kind = (enum sns_kind)i;
        if (says(type, names[i]))
            return true;
    }
    return false;
}

enum sns_kind sns_kind_of(struct slice body)
{
    struct json_result type;
    enum sns_kind kind = SNS_EVENT;
    if (!json_find(body, &pointers[AT_TYPE], 1, &type, NULL) || !kind_of(&type, &kind))
        return SNS_EVENT;
    return kind;
}

static bool is_signed(const struct sns_message *message, size_t at)
{
    if (message->kind == SNS_EVENT)
        return at != AT_SUBSCRIBE_URL && at != AT_TOKEN &&
               (at != AT_SUBJECT || !absent(&message->members[AT_SUBJECT]));
    return at != AT_SUBJECT;
}

// "Name\nvalue\n" of each member that is signed.
static bool make_signed_text(struct sns_message *message, struct slice body)
{
    text_init(&message->signed_text, body.len + SNS_NAMES_MAX);
    for (size_t at = 0; at < AT_SIGNED_END; at++) {
        if (!is_signed(message, at))
            continue;
        AUTO_TEXT struct text value = {.max = at == AT_MESSAGE ? body.len : SNS_VALUE_MAX};
        const struct json_result *member = &message->members[at];
        bool read = at == AT_MESSAGE
                            ? member->found == JSON_FOUND && json_text(member->token, &value, NULL)
                            : line_of(member, &value);
        if (!read || !text_fmt(&message->signed_text, "%s\n", pointers[at] + 1) ||
                !text_add(&message->signed_text, text_slice(&value)) ||
                !text_char(&message->signed_text, '\n'))
            return false;
    }
    return true;
}

static enum verify_reason read_signature(struct sns_message *message)
{
    const struct json_result *version = &message->members[AT_VERSION];
    AUTO_TEXT struct text value = {.max = SNS_SIGNATURE_MAX * 2};
    if (absent(version) || absent(&message->members[AT_SIGNATURE]))
        return VERIFY_NO_HEADER;
    if (!says(version, "1") && !says(version, "2"))
        return VERIFY_NO_VERSION;
    message->algorithm = says(version, "1") ? PK_RSA_SHA1 : PK_RSA_SHA256;
    bool decoded = line_of(&message->members[AT_SIGNATURE], &value) &&
                   encoding_decode_any(ENCODING_BASE64, text_slice(&value), message->signature,
                           sizeof message->signature, &message->signature_len);
    return decoded ? VERIFY_OK : VERIFY_BAD_HEADER;
}

static enum verify_reason message_read(struct slice body, struct sns_message *message)
{
    text_init(&message->topic, SNS_VALUE_MAX);
    text_init(&message->cert_url, CERT_URL_MAX);
    if (!json_find(body, pointers, AT_END, message->members, NULL))
        return VERIFY_BAD_BODY;
    for (size_t at = 0; at < AT_END; at++)
        if (message->members[at].found == JSON_DUPLICATE)
            return VERIFY_BAD_BODY;
    enum verify_reason reason = read_signature(message);
    if (reason != VERIFY_OK)
        return reason;
    if (!kind_of(&message->members[AT_TYPE], &message->kind) ||
            !line_of(&message->members[AT_TOPIC], &message->topic) ||
            !make_signed_text(message, body))
        return VERIFY_BAD_BODY;
    return line_of(&message->members[AT_CERT_URL], &message->cert_url) ? VERIFY_OK
                                                                       : VERIFY_CERT_URL;
}

// AWS signs for every account, so a message is ours only when its topic is. "arn:..:ACCOUNT:*" is
// every topic of an account.
static bool topic_allowed(const struct source *source, struct slice topic)
{
    for (size_t i = 0; i < source->n_topics; i++) {
        struct slice allowed = slice_of(source->topics[i]);
        bool all = allowed.len > 2 && allowed.ptr[allowed.len - 1] == '*';
        if (all ? slice_starts(topic, (struct slice){allowed.ptr, allowed.len - 1})
                : slice_eq(topic, allowed))
            return true;
    }
    return false;
}

static const char *domain_of(struct slice url)
{
    bool china = memmem(url.ptr, url.len, ".amazonaws.com.cn/", 18) ||
                 memmem(url.ptr, url.len, ".amazonaws.com.cn:", 18);
    return china ? ".amazonaws.com.cn" : ".amazonaws.com";
}

struct verify_result sns_verify(
        const struct scheme *row, const struct source *source, const struct verify_request *request)
{
    AUTO_MESSAGE struct sns_message message = {.kind = SNS_EVENT};
    struct verify_result result = {.secret_index = -1};
    (void)row;
    result.reason = message_read(request->body, &message);
    if (result.reason != VERIFY_OK)
        return result;
    struct slice url = text_slice(&message.cert_url), text = text_slice(&message.signed_text);
    struct keyed keyed = {.algorithm = message.algorithm,
            .pieces = &text,
            .n_pieces = 1,
            .signature = {message.signature, message.signature_len},
            .query = {.kind = KEY_CERTIFICATE,
                    .source = source->name,
                    .url = url,
                    .domain = domain_of(url),
                    .now_s = request->now_s}};
    if (!topic_allowed(source, text_slice(&message.topic)))
        result.reason = VERIFY_TOPIC;
    else if (!cert_url_sns(url))
        result.reason = VERIFY_CERT_URL;
    else
        result.reason = keyed_verify(&keyed, source, request, &result.secret_index);
    return result;
}

// arn:PARTITION:sns:REGION:ACCOUNT:NAME
static bool region_of(struct slice arn, struct slice *ret_partition, struct slice *ret_region)
{
    struct slice parts[4];
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const unsigned char *colon = arn.len ? memchr(arn.ptr, ':', arn.len) : NULL;
        if (!colon)
            return false;
        size_t n = (size_t)(colon - arn.ptr);
        parts[i] = (struct slice){arn.ptr, n};
        arn = (struct slice){arn.ptr + n + 1, arn.len - n - 1};
    }
    *ret_partition = parts[1];
    *ret_region = parts[3];
    return slice_eq(parts[0], SLICE("arn")) && slice_eq(parts[2], SLICE("sns")) &&
           cert_url_region(parts[3]);
}

// RFC 3986 §2.3: all but the unreserved characters as %XX.
static void add_escaped(struct text *out, struct slice value)
{
    static const char plain[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] && strchr(plain, value.ptr[i]))
            text_char(out, (char)value.ptr[i]);
        else
            text_fmt(out, "%%%02X", value.ptr[i]);
    }
}

bool sns_confirm_url(struct slice body, struct text *out)
{
    static const char *const wanted[] = {"/TopicArn", "/Token"};
    struct json_result found[2];
    struct slice partition, region;
    AUTO_TEXT struct text topic = {.max = SNS_VALUE_MAX};
    AUTO_TEXT struct text token = {.max = SNS_TOKEN_MAX};
    if (!json_find(body, wanted, 2, found, NULL) || !line_of(&found[0], &topic) ||
            !line_of(&found[1], &token) || token.len == 0 ||
            !region_of(text_slice(&topic), &partition, &region))
        return false;
    const char *end = slice_eq(partition, SLICE("aws-cn")) ? ".cn" : "";
    text_fmt(out, "https://sns.%.*s.amazonaws.com%s/?Action=ConfirmSubscription&TopicArn=",
            (int)region.len, (const char *)region.ptr, end);
    add_escaped(out, text_slice(&topic));
    text_str(out, "&Token=");
    add_escaped(out, text_slice(&token));
    return !out->overflow;
}
