// Addresses, URLs and mailboxes: the forms of value.h that name another machine.
#include "common/config/value.h"

#include <arpa/inet.h>
#include <stdio.h>

static bool is_address(struct slice host, int family)
{
    char text[64];
    unsigned char address[16];
    if (host.len == 0 || host.len >= sizeof text || memchr(host.ptr, 0, host.len))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)host.len, (const char *)host.ptr);
    return inet_pton(family, text, address) == 1;
}

static bool is_host_name(struct slice host)
{
    static const char allowed[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    if (host.len == 0 || host.len > 253 || host.ptr[0] == '-' || host.ptr[0] == '.')
        return false;
    for (size_t i = 0; i < host.len; i++) {
        if (host.ptr[i] == 0 || !strchr(allowed, host.ptr[i]))
            return false;
        if (host.ptr[i] == '.' && host.ptr[i - 1] == '.')
            return false;
    }
    return true;
}

// "host", "host:port" or "[v6]:port" in its parts; *ret_port is -1 without one.
static bool host_and_port(struct slice text, struct slice *ret_host, int *ret_port)
{
    bool v6 = text.len && text.ptr[0] == '[';
    const unsigned char *end = text.len ? memchr(text.ptr, v6 ? ']' : ':', text.len) : NULL;
    if (v6 && !end)
        return false;
    size_t n = end ? (size_t)(end - text.ptr) : text.len;
    struct slice host = v6 ? (struct slice){text.ptr + 1, n - 1} : (struct slice){text.ptr, n};
    struct slice rest = {text.ptr + n + v6, text.len - n - v6};
    if (v6 ? !is_address(host, AF_INET6) : !is_host_name(host))
        return false;
    int64_t port = -1;
    if (rest.len) {
        struct slice digits = {rest.ptr + 1, rest.len - 1};
        if (rest.ptr[0] != ':' || !value_number(digits, &port) || port > 65535)
            return false;
    }
    *ret_host = host;
    *ret_port = (int)port;
    return true;
}

struct slice value_listen_host(struct slice text)
{
    struct slice host = {0};
    int port = -1;
    return host_and_port(text, &host, &port) ? host : (struct slice){0};
}

bool value_listen(struct slice text)
{
    struct slice host = {0};
    int port = -1;
    if (!host_and_port(text, &host, &port) || port < 0)
        return false;
    return is_address(host, AF_INET) || is_address(host, AF_INET6) ||
           slice_eq(host, SLICE("localhost"));
}

bool value_network(struct slice text)
{
    const unsigned char *slash = text.len ? memchr(text.ptr, '/', text.len) : NULL;
    struct slice host = {text.ptr, slash ? (size_t)(slash - text.ptr) : text.len};
    bool v4 = is_address(host, AF_INET), v6 = is_address(host, AF_INET6);
    if (!v4 && !v6)
        return false;
    if (!slash)
        return true;
    int64_t bits = 0;
    struct slice digits = {slash + 1, text.len - host.len - 1};
    return value_number(digits, &bits) && bits <= (v4 ? 32 : 128);
}

bool value_is_loopback(struct slice host)
{
    bool v4 = is_address(host, AF_INET) && host.len > 4 && memcmp(host.ptr, "127.", 4) == 0;
    return v4 || slice_eq(host, SLICE("localhost")) || slice_eq(host, SLICE("::1"));
}

static bool skip_prefix(struct slice *text, struct slice prefix)
{
    if (text->len < prefix.len || memcmp(text->ptr, prefix.ptr, prefix.len) != 0)
        return false;
    *text = (struct slice){text->ptr + prefix.len, text->len - prefix.len};
    return true;
}

bool value_web_url(struct slice text)
{
    if (!value_text(text) || memchr(text.ptr, ' ', text.len) || memchr(text.ptr, '#', text.len))
        return false;
    if (!skip_prefix(&text, SLICE("https://")) && !skip_prefix(&text, SLICE("http://")))
        return false;
    const unsigned char *slash = text.len ? memchr(text.ptr, '/', text.len) : NULL;
    struct slice authority = {text.ptr, slash ? (size_t)(slash - text.ptr) : text.len}, host = {0};
    int port = -1;
    return host_and_port(authority, &host, &port);
}

bool value_https_url(struct slice text)
{
    return slice_starts(text, SLICE("https://")) && value_web_url(text) &&
           !memchr(text.ptr, '?', text.len) && !memchr(text.ptr, '\\', text.len);
}

static bool is_plain(struct slice part, const char *more)
{
    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = part.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == 0 || !strchr(more, c)))
            return false;
    }
    return part.len != 0;
}

// arn:PARTITION:sns:REGION:ACCOUNT:NAME
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html).
bool value_topic(struct slice text)
{
    struct slice parts[5];
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const unsigned char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
        if (!colon)
            return false;
        parts[i] = (struct slice){text.ptr, (size_t)(colon - text.ptr)};
        text = (struct slice){colon + 1, text.len - parts[i].len - 1};
    }
    return slice_eq(parts[0], SLICE("arn")) && is_plain(parts[1], "-") &&
           slice_eq(parts[2], SLICE("sns")) && is_plain(parts[3], "-") && is_plain(parts[4], "") &&
           text.len <= 256 && (slice_eq(text, SLICE("*")) || is_plain(text, "-_."));
}

bool value_detour(struct slice text)
{
    const unsigned char *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;
    if (!equals)
        return false;
    size_t n = (size_t)(equals - text.ptr);
    struct slice host = {text.ptr, n}, address = {equals + 1, text.len - n - 1}, unused;
    int port = -1;
    return is_host_name(host) && host_and_port(address, &unused, &port) && port > 0;
}

static bool url_refused(const char **ret_why, const char *why)
{
    *ret_why = why;
    return false;
}

bool value_smtp_url(struct slice text, struct value_smtp_url *ret_url, const char **ret_why)
{
    bool implicit = skip_prefix(&text, SLICE("smtps://"));
    if (!implicit && !skip_prefix(&text, SLICE("smtp://")))
        return url_refused(ret_why, "it must start with smtp:// or smtps://");
    if (text.len && memchr(text.ptr, '@', text.len))
        return url_refused(
                ret_why, "user and password have keys of their own, `user` and `password`");
    if (text.len && text.ptr[text.len - 1] == '/')
        text.len--;
    struct slice host = {0};
    int port = -1;
    if (text.len == 0)
        return url_refused(ret_why, "it names no host");
    if (!host_and_port(text, &host, &port) || port == 0)
        return url_refused(ret_why, "after the scheme only host:port may follow");
    *ret_url = (struct value_smtp_url){
            .host = host, .port = port < 0 ? 0 : port, .implicit_tls = implicit};
    return true;
}

// local@domain, as SMTP takes it without quoting (RFC 5321 §4.1.2 dot-string).
static bool is_mail_address(struct slice text)
{
    const unsigned char *at = text.len ? memchr(text.ptr, '@', text.len) : NULL;
    if (!at || at == text.ptr || text.len > 254)
        return false;
    struct slice local = {text.ptr, (size_t)(at - text.ptr)};
    struct slice domain = {at + 1, text.len - local.len - 1};
    for (size_t i = 0; i < local.len; i++) {
        if (local.ptr[i] <= ' ' || strchr("()<>[]:;@\\,\"", local.ptr[i]))
            return false;
    }
    return local.len <= 64 && is_host_name(domain);
}

bool value_mailbox(struct slice text)
{
    if (!value_text(text))
        return false;
    const unsigned char *open = memchr(text.ptr, '<', text.len);
    if (!open)
        return is_mail_address(text);
    struct slice name = {text.ptr, (size_t)(open - text.ptr)};
    struct slice address = {open + 1, text.len - name.len - 1};
    if (address.len == 0 || address.ptr[address.len - 1] != '>')
        return false;
    address.len--;
    return is_mail_address(address);
}

bool value_phone_sender(struct slice text)
{
    bool number = text.len && text.ptr[0] == '+';
    size_t n = 0;
    for (size_t i = number; i < text.len; i++) {
        unsigned char c = text.ptr[i];
        bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        n += digit || (!number && (letter || c == ' '));
    }
    if (n + number != text.len)
        return false;
    return number ? n >= 7 && n <= 15 : n >= 1 && n <= 11;
}
