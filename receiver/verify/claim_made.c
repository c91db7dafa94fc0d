// What a provider signs that does not stand in the request as such: the URL it was told, its path,
// and a form's sorted pairs (https://www.twilio.com/docs/usage/security#validating-requests).
#include "common/keys.h"
#include "receiver/verify/claim.h"

#include <strings.h>

enum { URL_MAX = 16384 };

// What of a URL is looked at: "https" "://" "host" ":443" "/path".
struct url {
    struct slice scheme, host, port, path; // port with its colon, or empty
};

static struct slice until(struct slice text, size_t len)
{
    return (struct slice){text.ptr, len};
}

// Where the first of these bytes stands, else the whole length.
static size_t find_any(struct slice text, const char *bytes)
{
    size_t at = 0;
    while (at < text.len && !strchr(bytes, text.ptr[at]))
        at++;
    return at;
}

static bool url_cut(struct slice text, struct url *ret_url)
{
    const unsigned char *mark = text.len ? memmem(text.ptr, text.len, "://", 3) : NULL;
    if (!mark)
        return false;
    struct url url = {.scheme = until(text, (size_t)(mark - text.ptr))};
    struct slice rest = slice_from(text, url.scheme.len + 3);
    rest.len = find_any(rest, "?#"); // the query is the request's
    struct slice authority = until(rest, find_any(rest, "/"));
    url.path = slice_from(rest, authority.len);
    size_t colon = authority.len;
    while (colon > 0 && authority.ptr[colon - 1] != ':' && authority.ptr[colon - 1] != ']')
        colon--;
    bool port = colon > 0 && authority.ptr[colon - 1] == ':';
    url.host = until(authority, port ? colon - 1 : authority.len);
    url.port = slice_from(authority, url.host.len);
    *ret_url = url;
    return true;
}

struct slice target_query(struct slice target)
{
    size_t at = find_any(target, "?");
    return target.len ? slice_from(target, at) : target;
}

static bool url_write(
        const struct url *url, struct slice port, struct slice query, struct text *out)
{
    text_init(out, URL_MAX);
    return text_add(out, url->scheme) && text_str(out, "://") && text_add(out, url->host) &&
           text_add(out, port) && text_add(out, url->path) && text_add(out, query);
}

// https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation:
// these escapes, and no others, are decoded before the URL is signed. '\0' = none of them.
static char decode_escape(struct slice text)
{
    static const char decoded[] = ":/?@!$'()*,;";
    static const char escapes[] = "3A2F3F4021242728292A2C3B";
    if (text.len < 3 || text.ptr[0] != '%')
        return '\0';
    size_t i = 0;
    while (decoded[i] && strncasecmp((const char *)text.ptr + 1, escapes + 2 * i, 2) != 0)
        i++;
    return decoded[i];
}

static bool write_decoded(struct slice url, struct text *out)
{
    text_init(out, URL_MAX);
    for (size_t i = 0; i < url.len; i++) {
        char byte = decode_escape(slice_from(url, i));
        if (!text_char(out, byte ? byte : (char)url.ptr[i]))
            return false;
        i += byte ? 2 : 0;
    }
    return true;
}

// As configured, and with the port left out or put in: providers differ in whether they sign the
// one they connect to. The host comes from the policy alone, never from the request.
static enum verify_reason make_urls(const struct scheme *row, const struct source *source,
        struct slice target, struct claim *claim)
{
    struct url url;
    if (!source->public_url || !url_cut(slice_of(source->public_url), &url))
        return VERIFY_NO_URL;
    struct slice other = slice_eq(url.scheme, SLICE("http")) ? SLICE(":80") : SLICE(":443");
    if (url.port.len)
        other.len = 0;
    struct slice query = target_query(target);
    claim->n_variants = row->decoded_url ? 4 : 2;
    bool fits = url_write(&url, url.port, query, &claim->urls[0]) &&
                url_write(&url, other, query, &claim->urls[1]);
    for (size_t i = 2; fits && i < claim->n_variants; i++)
        fits = write_decoded(text_slice(&claim->urls[i - 2]), &claim->urls[i]);
    return fits ? VERIFY_OK : VERIFY_BAD_HEADER;
}

// encodeURI() of the path, and the query escaped twice: @contentful/node-apps-toolkit
// src/requests/utils.ts.
static bool write_escaped(struct slice text, const char *kept, const char *mark, struct text *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = text.ptr[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr(kept, c));
        if (!(plain ? text_char(out, (char)c) : text_fmt(out, "%s%02X", mark, c)))
            return false;
    }
    return true;
}

// The path that the provider was given, which a proxy may have changed on the way.
static enum verify_reason make_path(
        const struct source *source, struct slice target, struct claim *claim)
{
    struct url url = {.path = until(target, find_any(target, "?#"))};
    if (source->public_url && !url_cut(slice_of(source->public_url), &url))
        return VERIFY_NO_URL;
    struct slice query = target_query(target);
    text_init(&claim->path, URL_MAX);
    bool fits = write_escaped(url.path, "-_.!~*'();/?:@&=+$,#", "%", &claim->path);
    if (fits && query.len > 1)
        fits = text_char(&claim->path, '?') &&
               write_escaped(slice_from(query, 1), "-_.!~*'()", "%25", &claim->path);
    return fits ? VERIFY_OK : VERIFY_BAD_HEADER;
}

static enum verify_reason make_form(struct slice body, struct claim *claim)
{
    AUTO_FORM struct form form = {.n = 0};
    if (!form_parse(body, &form, NULL))
        return VERIFY_BAD_BODY;
    form_sort(&form);
    text_init(&claim->form, body.len);
    for (size_t i = 0; i < form.n; i++) {
        const struct form_pair *pair = &form.pairs[i], *last = i ? pair - 1 : NULL;
        if (last && slice_eq(last->name, pair->name) && slice_eq(last->value, pair->value))
            continue;
        text_add(&claim->form, pair->name);
        text_add(&claim->form, pair->value);
    }
    return VERIFY_OK;
}

static bool is_hash_of(struct slice hex, struct slice body)
{
    static const unsigned char digits[] = "0123456789abcdef";
    unsigned char hash[32];
    sha256_of(body, hash);
    bool equal = hex.len == 2 * sizeof hash;
    for (size_t i = 0; equal && i < sizeof hash; i++)
        equal = hex.ptr[2 * i] == digits[hash[i] >> 4] &&
                hex.ptr[2 * i + 1] == digits[hash[i] & 15];
    return equal;
}

// A body that is no form is bound by its hash in the signed URL. Named twice it binds nothing: who
// reads the query may choose.
static bool read_hash(const char *name, const struct verify_request *request, struct claim *claim)
{
    AUTO_FORM struct form query = {.n = 0};
    struct slice text = target_query(request->target);
    if (text.len == 0 || !form_parse(slice_from(text, 1), &query, NULL))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < query.n; i++) {
        if (!slice_eq(query.pairs[i].name, slice_of(name)))
            continue;
        n++;
        claim->body_hash_wrong = n > 1 || !is_hash_of(query.pairs[i].value, request->body);
    }
    return n > 0;
}

enum verify_reason claim_make_parts(const struct scheme *row, const struct source *source,
        const struct verify_request *request, struct claim *claim)
{
    enum verify_reason reason = VERIFY_OK;
    if (row->lost_line_end)
        claim->n_variants = 2;
    if (scheme_has_part(row, PART_URL))
        reason = make_urls(row, source, request->target, claim);
    if (reason == VERIFY_OK && scheme_has_part(row, PART_PATH))
        reason = make_path(source, request->target, claim);
    if (reason == VERIFY_OK && row->signed_headers)
        reason = claim_make_headers(row, request, claim);
    if (reason != VERIFY_OK)
        return reason;
    bool hashed = row->body_hash && read_hash(row->body_hash, request, claim);
    if (scheme_has_part(row, PART_FORM) && !hashed)
        return make_form(request->body, claim);
    return VERIFY_OK;
}
