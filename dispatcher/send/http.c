#include "dispatcher/send/http.h"

#include "common/config/value.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

enum { HEAD_EXPECTED = 511, BODY_EXPECTED = 4095 }; // most need no more

static void wipe_text(struct text *text)
{
    if (text->ptr)
        explicit_bzero(text->ptr, text->room);
    text_fini(text);
}

size_t http_body_size(const struct http_request *request)
{
    return request->body.len + inlays_size(&request->inlays);
}

void http_request_fini(struct http_request *request)
{
    if (request->url)
        explicit_bzero(request->url, strlen(request->url));
    free(request->url);
    wipe_text(&request->head);
    wipe_text(&request->body);
    inlays_fini(&request->inlays);
    free(request->reads);
    *request = (struct http_request){0};
}

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

// No user, no fragment; a query belongs to the path.
static bool url_ok(const char *url)
{
    for (const char *c = url; *c; c++)
        if (is_control((unsigned char)*c) || *c == ' ' || (unsigned char)*c > 0x7e)
            return false;
    return !strpbrk(url, "#\\\"<>");
}

static bool scheme_ok(const char *url)
{
    bool tls = strncmp(url, "https://", 8) == 0;
    if (!tls && strncmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + (tls ? 8 : 7);
    size_t authority = strcspn(host, "/?");
    if (authority == 0 || memchr(host, '@', authority))
        return false;
    bool brackets = *host == '[';
    size_t len = brackets ? strcspn(host, "]") - 1 : strcspn(host, ":/?");
    struct slice name = {(const unsigned char *)host + brackets, len};
    return tls || value_is_loopback(name);
}

bool http_request_begin(
        struct http_request *request, const char *base, const char *path, struct err *err)
{
    AUTO_TEXT struct text url = {0};
    text_init(&url, HTTP_URL_MAX);
    size_t len = base ? strlen(base) : 0;
    while (len && *path == '/' && base[len - 1] == '/')
        len--;
    if (len == 0 || !text_add(&url, (struct slice){(const unsigned char *)base, len}) ||
            !text_str(&url, path))
        return err_set(err, ERR_FATAL, "the provider's url is empty or too long");
    if (!url_ok(text_cstr(&url)) || !scheme_ok(text_cstr(&url)))
        return err_set(err, ERR_FATAL,
                "the provider's url is not https://HOST (http:// goes to loopback only)");
    request->url = text_steal(&url);
    text_init(&request->head, HTTP_HEAD_MAX);
    text_init(&request->body, HTTP_BODY_MAX);
    text_expect(&request->head, HEAD_EXPECTED);
    text_expect(&request->body, BODY_EXPECTED);
    return true;
}

static bool is_token(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("!#$%&'*+-.^_`|~", name[i]))
            return false;
    return n > 0;
}

static bool is_value(struct slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if (is_control(value.ptr[i]) || value.ptr[i] > 0x7e)
            return false;
    return true;
}

bool http_head_secret(struct http_request *request, const char *name, const char *prefix,
        struct slice value, struct err *err)
{
    if (!is_token(name))
        return err_set(err, ERR_INPUT, "a header's name is not a token");
    if (!is_value(slice_of(prefix)) || !is_value(value))
        return err_set(err, ERR_INPUT,
                "the header '%s' would hold a control character or is not ASCII", name);
    struct text *head = &request->head;
    size_t before = head->len;
    if (text_str(head, name) && text_str(head, ": ") && text_str(head, prefix) &&
            text_add(head, value) && text_str(head, "\r\n"))
        return true;
    head->len = before;
    return err_set(err, ERR_INPUT, "the headers are larger than %zu bytes", head->max);
}

bool http_head_add(
        struct http_request *request, const char *name, struct slice value, struct err *err)
{
    return http_head_secret(request, name, "", value, err);
}

bool http_head_basic(
        struct http_request *request, struct slice user, struct slice password, struct err *err)
{
    char coded[1024];
    AUTO_TEXT struct text pair = {0};
    text_init(&pair, 700);
    bool fits = text_add(&pair, user) && text_char(&pair, ':') && text_add(&pair, password);
    int n = fits ? EVP_EncodeBlock(
                           (unsigned char *)coded, (const unsigned char *)pair.ptr, (int)pair.len)
                 : 0;
    struct slice value = {(const unsigned char *)coded, (size_t)n};
    bool ok = fits ? http_head_secret(request, "Authorization", "Basic ", value, err)
                   : err_set(err, ERR_FATAL, "user and password are too long");
    explicit_bzero(coded, sizeof coded);
    if (pair.ptr)
        explicit_bzero(pair.ptr, pair.room);
    return ok;
}

// --- The reply

static struct slice trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
        s.ptr++;
        s.len--;
    }
    while (s.len && strchr(" \t\r\n", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool http_head_find(struct slice head, const char *name, struct slice *ret_value)
{
    size_t name_len = strlen(name);
    while (head.len) {
        const unsigned char *end = memchr(head.ptr, '\n', head.len);
        size_t len = end ? (size_t)(end - head.ptr) + 1 : head.len;
        struct slice line = {head.ptr, len};
        if (len > name_len && line.ptr[name_len] == ':' &&
                strncasecmp((const char *)line.ptr, name, name_len) == 0) {
            *ret_value = trim((struct slice){line.ptr + name_len + 1, len - name_len - 1});
            return true;
        }
        head.ptr += len;
        head.len -= len;
    }
    return false;
}

// IMF-fixdate alone: the two older forms are not sent any more. The locale is C.
static bool read_date(const char *text, int64_t *ret_s)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (!end || *end)
        return false;
    *ret_s = timegm(&tm);
    return true;
}

int64_t http_retry_after_ms(const struct http_reply *reply)
{
    struct slice value;
    char text[64];
    if (!http_head_find(reply->head, "Retry-After", &value) || value.len == 0 ||
            value.len >= sizeof text)
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)value.len, (const char *)value.ptr);
    int64_t ms = 0, date_s;
    if (strspn(text, "0123456789") == value.len)
        ms = value.len > 8 ? HTTP_RETRY_AFTER_MAX_MS : strtoll(text, NULL, 10) * 1000;
    else if (read_date(text, &date_s))
        ms = date_s * 1000 - reply->now_us / 1000;
    if (ms <= 0)
        return 0;
    return ms < HTTP_RETRY_AFTER_MAX_MS ? ms : HTTP_RETRY_AFTER_MAX_MS;
}

static void add_said(struct attempt_result *result, struct slice said)
{
    size_t n = strlen(result->detail);
    for (size_t i = 0; i < said.len && n + 1 < sizeof result->detail; i++) {
        unsigned char c = said.ptr[i];
        result->detail[n++] = (char)(is_control(c) || c > 0x7e ? '?' : c);
    }
    result->detail[n] = '\0';
}

void http_result(const struct http_reply *reply, enum attempt_outcome outcome,
        enum failure_level level, struct slice said, struct attempt_result *result)
{
    result->outcome = outcome;
    result->level = level;
    result->code = reply->status;
    result->retry_after_ms = outcome == ATTEMPT_RETRY ? http_retry_after_ms(reply) : 0;
    result->provider_id[0] = '\0';
    if (reply->end == HTTP_REPLIED)
        snprintf(result->detail, sizeof result->detail, "%d%s", reply->status, said.len ? " " : "");
    else
        snprintf(result->detail, sizeof result->detail, "%s%s%.120s",
                reply->end == HTTP_NOT_SENT ? "nothing was sent"
                                            : "no answer after it was sent: may have been taken",
                reply->why ? ": " : "", reply->why ? reply->why : "");
    add_said(result, said);
}

void http_result_undocumented(const struct http_reply *reply, struct attempt_result *result)
{
    struct slice none = {0};
    int class = reply->status / 100;
    if (reply->end == HTTP_NOT_SENT)
        http_result(reply, ATTEMPT_RETRY, LEVEL_PROVIDER, none, result);
    else if (reply->end == HTTP_CUT || class == 5)
        http_result(reply, ATTEMPT_UNKNOWN, LEVEL_MESSAGE, none, result);
    else if (class == 2)
        http_result(reply, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, none, result);
    else if (reply->status == 413)
        http_result(reply, ATTEMPT_REFUSED, LEVEL_MESSAGE, none, result);
    else
        http_result(reply, ATTEMPT_RETRY, LEVEL_PROVIDER, none, result);
}
