#include "receiver/verify/cert_url.h"

struct parts {
    struct slice host, path;
};

static bool is_lower_or_digit(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_host_char(unsigned char c)
{
    return is_lower_or_digit(c) || c == '-' || c == '.';
}

static bool is_path_char(unsigned char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || (c != 0 && strchr("-._~/", c));
}

// "//", "/./" and "/../" are read in more than one way.
static bool segments_ok(struct slice path)
{
    size_t start = 1;
    for (size_t i = 1; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/')
            continue;
        struct slice segment = {path.ptr + start, i - start};
        bool last = i == path.len;
        if ((segment.len == 0 && !last) || slice_eq(segment, SLICE(".")) ||
                slice_eq(segment, SLICE("..")))
            return false;
        start = i + 1;
    }
    return true;
}

static bool split(struct slice url, struct parts *ret_parts)
{
    if (url.len > CERT_URL_MAX || !slice_starts(url, SLICE("https://")))
        return false;
    struct slice rest = slice_from(url, 8);
    size_t n = 0;
    while (n < rest.len && is_host_char(rest.ptr[n]))
        n++;
    struct slice host = {rest.ptr, n};
    rest = slice_from(rest, n);
    if (slice_starts(rest, SLICE(":443/")))
        rest = slice_from(rest, 4);
    if (host.len == 0 || rest.len == 0 || rest.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < rest.len; i++)
        if (!is_path_char(rest.ptr[i]))
            return false;
    *ret_parts = (struct parts){host, rest};
    return segments_ok(rest);
}

static bool ends_with(struct slice text, struct slice end)
{
    return text.len >= end.len && slice_eq(slice_from(text, text.len - end.len), end);
}

bool cert_url_region(struct slice region)
{
    for (size_t i = 0; i < region.len; i++)
        if (!is_lower_or_digit(region.ptr[i]) && region.ptr[i] != '-')
            return false;
    // "sns.s3-us-west-2.amazonaws.com" is anybody's bucket of the name sns.
    return region.len >= 3 && region.len <= 32 && !slice_starts(region, SLICE("s3"));
}

// aws-js-sns-message-validator: /^sns\.[a-zA-Z0-9\-]{3,}\.amazonaws\.com(\.cn)?$/.
static bool is_sns_host(struct slice host)
{
    struct slice start = SLICE("sns."), end = SLICE(".amazonaws.com");
    if (ends_with(host, SLICE(".amazonaws.com.cn")))
        end = SLICE(".amazonaws.com.cn");
    if (!slice_starts(host, start) || !ends_with(host, end) || host.len < start.len + end.len)
        return false;
    return cert_url_region((struct slice){host.ptr + start.len, host.len - start.len - end.len});
}

bool cert_url_sns(struct slice url)
{
    struct parts parts;
    return split(url, &parts) && is_sns_host(parts.host) && parts.path.len > 5 &&
           ends_with(parts.path, SLICE(".pem"));
}

bool cert_url_paypal(struct slice url)
{
    struct parts parts;
    struct slice folder = SLICE("/v1/notifications/certs/");
    return split(url, &parts) &&
           (slice_eq(parts.host, SLICE("api.paypal.com")) ||
                   slice_eq(parts.host, SLICE("api.sandbox.paypal.com"))) &&
           slice_starts(parts.path, folder) && parts.path.len > folder.len &&
           !memchr(parts.path.ptr + folder.len, '/', parts.path.len - folder.len);
}
