#include "dispatcher/send/ses.h"

#include "common/json/scan.h"
#include "dispatcher/send/mail_api.h"
#include "dispatcher/send/mime.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/sigv4.h"

#include <openssl/evp.h>
#include <stdio.h>

#define PATH "/v2/email/outbound-emails"
#define LIMIT_WAIT_S 3600 // a daily quota
#define REGION_MAX 40

// A region is part of a host's name.
static bool region_ok(const char *region)
{
    size_t len = region ? strlen(region) : 0;
    return len > 0 && len <= REGION_MAX &&
           strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static bool add_base64(struct text *out, struct slice bytes)
{
    AUTO_FREE char *coded = xmalloc(4 * ((bytes.len + 2) / 3) + 1);
    int n = EVP_EncodeBlock((unsigned char *)coded, bytes.ptr, (int)bytes.len);
    return text_add(out, (struct slice){(const unsigned char *)coded, (size_t)n});
}

// A message with files is coded while it is sent.
static bool add_message(struct text *mime, struct inlays *inlays, struct http_request *request)
{
    if (inlays->n == 0)
        return add_base64(&request->body, text_slice(mime));
    inlays_add_text(&request->inlays, request->body.len, mime, inlays);
    return true;
}

static bool write_body(const struct content *content, const struct provider *provider,
        const struct mail_people *people, const char *key_hex, struct http_request *request,
        struct err *err)
{
    AUTO_TEXT struct text mime = {0};
    AUTO_INLAYS struct inlays inlays = {0};
    text_init(&mime, HTTP_BODY_MAX / 4 * 3);
    if (!mime_build(content, &people->from, &people->to, &mime, &inlays, err))
        return false;
    struct text *out = &request->body;
    bool ok = text_str(out, "{\"Content\":{\"Raw\":{\"Data\":\"") &&
              add_message(&mime, &inlays, request) &&
              api_member(out, "\"}},\"FromEmailAddress\":", content->from) &&
              api_member(out, ",\"Destination\":{\"ToAddresses\":[", people->to.address) &&
              text_str(out, "]}") &&
              api_member(out, ",\"EmailTags\":[{\"Name\":\"pawl_delivery\",\"Value\":", key_hex) &&
              api_member(out, "},{\"Name\":\"pawl_place\",\"Value\":", content->place) &&
              text_str(out, "}]") &&
              api_member(out, ",\"ConfigurationSetName\":", provider->config_set) &&
              text_char(out, '}');
    return ok || err_set(err, ERR_INPUT, "the message is too large");
}

bool ses_build(const struct content *content, const struct provider *provider, const char *key_hex,
        struct http_request *request, enum failure_level *ret_level, struct err *err)
{
    char base[100];
    AUTO_PEOPLE struct mail_people people = {0};
    if (!mail_people_read(content, &people, ret_level, err))
        return false;
    *ret_level = LEVEL_PROVIDER;
    if (!region_ok(provider->region) || !provider->account)
        return err_set(err, ERR_FATAL, "the provider's region or access_key is missing or no such");
    bool china = strncmp(provider->region, "cn-", 3) == 0;
    snprintf(base, sizeof base, "https://email.%s.amazonaws.com%s", provider->region,
            china ? ".cn" : "");
    if (!mail_begin(request, provider, base, PATH, ret_level, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    return write_body(content, provider, &people, key_hex, request, err);
}

// Host as libcurl says it: without the port that the scheme has anyway.
static struct slice host_of(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    struct slice all = {(const unsigned char *)host, strcspn(host, "/?")};
    size_t port = strlen(":443");
    if (strncmp(url, "https:", 6) == 0 && all.len > port &&
            memcmp(all.ptr + all.len - port, ":443", port) == 0)
        all.len -= port;
    return all;
}

bool ses_sign(const struct provider *provider, const struct content *content, int64_t now_s,
        struct http_request *request, struct err *err)
{
    (void)content;
    char at[SIGV4_TIME];
    sigv4_time(now_s, at);
    struct slice host = host_of(request->url), session = provider->session.value;
    const char *path = strchr((const char *)host.ptr, '/');
    const struct sigv4_header headers[] = {{"content-type", SLICE("application/json")},
            {"host", host}, {"x-amz-date", slice_of(at)}, {"x-amz-security-token", session}};
    const struct sigv4 how = {.access = provider->account,
            .region = provider->region,
            .service = "ses",
            .secret = provider->password.value,
            .now_s = now_s};
    const struct sigv4_request signing = {.method = request->probe ? request->probe : "POST",
            .path = path ? slice_of(path) : SLICE("/"),
            .headers = headers,
            .n_headers = session.len ? 4 : 3,
            .body = text_slice(&request->body),
            .body_sha256 = request->inlays.n ? request->sha256 : NULL};
    AUTO_TEXT struct text value = {0};
    text_init(&value, 2048);
    return sigv4_sign(&how, &signing, &value, err) &&
           http_head_add(request, "X-Amz-Date", slice_of(at), err) &&
           (session.len == 0 || http_head_add(request, "X-Amz-Security-Token", session, err)) &&
           http_head_add(request, "Authorization", text_slice(&value), err);
}

// Those of SendEmail, then those that every AWS service has
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/CommonErrors.html).
static const struct http_rule rules[] = {
        {200, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
        {0, "AccountSuspendedException", ATTEMPT_RETRY, LEVEL_PROVIDER, LIMIT_WAIT_S, false},
        {0, "SendingPausedException", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},
        {0, "MailFromDomainNotVerifiedException", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false},
        {0, "NotVerified", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false}, // our own mark
        {0, "MessageRejected", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {0, "LimitExceededException", ATTEMPT_RETRY, LEVEL_PROVIDER, LIMIT_WAIT_S, false},
        {0, "TooManyRequestsException", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
        {0, "NotFoundException", ATTEMPT_RETRY, LEVEL_PROVIDER, 60, false}, // the configuration set
        {0, "BadRequestException", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {0, "ThrottlingException", ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
        {0, "ServiceUnavailable", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {0, "ServiceUnavailableException", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {0, "ValidationException", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {0, "ValidationError", ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {401, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {403, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false}, // signature, key, rights, clock
        {400, "ExpiredTokenException", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {400, "RequestExpired", ATTEMPT_RETRY, LEVEL_PROVIDER, 0, false},
        {413, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
};

// "Name:http://..": in a header, or in the body after "com.amazonaws..#".
static void read_name(const struct http_reply *reply, struct http_said *said)
{
    struct slice name;
    char text[128] = "";
    if (http_head_find(reply->head, "x-amzn-ErrorType", &name))
        snprintf(text, sizeof text, "%.*s", (int)(name.len < 100 ? name.len : 100),
                (const char *)name.ptr);
    else if (!api_text(reply, "/__type", text, sizeof text))
        return;
    const char *mark = strrchr(text, '#');
    const char *start = mark ? mark + 1 : text;
    snprintf(said->code, sizeof said->code, "%.*s", (int)strcspn(start, ":"), start);
}

void ses_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct http_where where = {
            .code = "/code", .text = "/message", .id = "/MessageId"};
    struct http_said said;
    http_said_read(reply->body, &where, &said);
    read_name(reply, &said);
    // An account in the sandbox: the address is fine, but not for us yet.
    if (strcmp(said.code, "MessageRejected") == 0 && strstr(said.text, "not verified"))
        snprintf(said.code, sizeof said.code, "NotVerified");
    http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
}
