// URLs, for schemes that sign them: as the provider may know the endpoint.
#include "cli/verify/ask.h"

#include <stdio.h>

enum { URL_MAX = 4096 };

// "https" "://" "host:port" "/path"
struct cut_url {
    int scheme, authority, host;
    const char *at, *path;
};

static bool cut(const char *url, struct cut_url *ret_cut)
{
    const char *mark = strstr(url, "://");
    if (!mark)
        return false;
    const char *authority = mark + 3, *path = authority + strcspn(authority, "/?");
    const char *colon = memchr(authority, ':', (size_t)(path - authority));
    *ret_cut = (struct cut_url){.scheme = (int)(mark - url),
            .authority = (int)(path - authority),
            .host = (int)((colon ? colon : path) - authority),
            .at = authority,
            .path = path};
    return true;
}

static void try_url(struct asking *asking, char *url, const char *says)
{
    struct source source = *asking->source;
    if (source.public_url && strcmp(source.public_url, url) == 0)
        return;
    source.public_url = url;
    int index = ask(NULL, &source, asking->request);
    if (index >= 0)
        ask_found(asking, NULL, source.secrets[index].credential, "%s: public_url: %s", says, url);
}

static void try_scheme_and_port(struct asking *asking, const struct cut_url *url)
{
    const char *configured = asking->source->public_url;
    bool https = strncmp(configured, "https:", 6) == 0;
    char made[URL_MAX];
    snprintf(made, sizeof made, "%s://%.*s%s", https ? "http" : "https", url->authority, url->at,
            url->path);
    try_url(asking, made, https ? "if the URL is http" : "if the URL is https");
    snprintf(made, sizeof made, "%.*s://%.*s%s", url->scheme, configured, url->host, url->at,
            url->path);
    try_url(asking, made, "without the port");
    snprintf(made, sizeof made, "%s://%.*s%s", https ? "http" : "https", url->host, url->at,
            url->path);
    try_url(asking, made, "without the port and by the other scheme");
}

static void try_path(struct asking *asking, const struct cut_url *url)
{
    const char *configured = asking->source->public_url;
    struct slice target = asking->request->target;
    size_t len = strlen(url->path), path_len = 0;
    int start = (int)(url->path - configured);
    char made[URL_MAX];
    if (len && url->path[len - 1] == '/')
        snprintf(made, sizeof made, "%.*s", (int)(strlen(configured) - 1), configured);
    else
        snprintf(made, sizeof made, "%s/", configured);
    try_url(asking, made,
            len && url->path[len - 1] == '/' ? "without the slash at the URL's end"
                                             : "with a slash at the URL's end");
    while (path_len < target.len && target.ptr[path_len] != '?')
        path_len++;
    snprintf(made, sizeof made, "%.*s%.*s", start, configured, (int)path_len,
            target.len ? (const char *)target.ptr : "");
    try_url(asking, made, "if the URL has the path that was requested");
}

// The host that the request names, with each scheme.
static void try_host(struct asking *asking)
{
    struct slice host, target = asking->request->target;
    size_t path_len = 0;
    if (header_find(asking->request, "Host", &host) != HEADER_ONE || target.len == 0)
        return;
    while (path_len < target.len && target.ptr[path_len] != '?')
        path_len++;
    static const char *const schemes[] = {"https", "http"};
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        char made[URL_MAX];
        snprintf(made, sizeof made, "%s://%.*s%.*s", schemes[i], (int)host.len,
                (const char *)host.ptr, (int)path_len, (const char *)target.ptr);
        try_url(asking, made, "if the URL is the one that was requested");
    }
}

static void try_query(struct asking *asking)
{
    struct verify_request request = *asking->request;
    const unsigned char *mark =
            request.target.len ? memchr(request.target.ptr, '?', request.target.len) : NULL;
    if (!mark)
        return;
    request.target.len = (size_t)(mark - request.target.ptr);
    int index = ask(NULL, asking->source, &request);
    if (index >= 0)
        ask_found(asking, NULL, asking->source->secrets[index].credential,
                "without the query: something on the way has added it");
}

void ask_urls(struct asking *asking)
{
    struct cut_url url;
    const char *configured = asking->source->public_url;
    if (!scheme_signs_url(asking->source->scheme))
        return;
    if (configured && strlen(configured) < URL_MAX / 2 && cut(configured, &url)) {
        try_scheme_and_port(asking, &url);
        try_path(asking, &url);
    }
    try_host(asking);
    try_query(asking);
}
