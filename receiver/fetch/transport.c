#include "receiver/fetch/transport.h"

#include "receiver/fetch/address.h"

#include <curl/curl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct transport {
    struct transport_options options;
    CURL *easy;
    struct curl_slist *connect; // as libcurl writes it: "host::address:port", at any port
    char why[CURL_ERROR_SIZE];
    bool any_address; // of the URL being asked
    bool bad_address; // what it was refused for
    struct transport_reply *reply;
};

const char *transport_end_name(enum transport_end end)
{
    static const char *const names[TRANSPORT_END_COUNT] = {[TRANSPORT_OK] = "ok",
            [TRANSPORT_UNREACHABLE] = "unreachable",
            [TRANSPORT_ADDRESS] = "address",
            [TRANSPORT_REDIRECT] = "redirect",
            [TRANSPORT_STATUS] = "status",
            [TRANSPORT_TOO_LARGE] = "too_large"};
    return names[end];
}

void transport_reply_fini(struct transport_reply *reply)
{
    text_fini(&reply->body);
    text_fini(&reply->chain);
}

// Behind the resolver and before the connection: what a name means can change between two looks.
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transport *transport = user;
    if (purpose != CURLSOCKTYPE_IPCXN ||
            (!transport->any_address && !address_public(&address->addr))) {
        transport->bad_address = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_body(char *bytes, size_t size, size_t n, void *user)
{
    struct transport *transport = user;
    struct slice more = {(const unsigned char *)bytes, size * n};
    return text_add(&transport->reply->body, more) ? more.len : 0;
}

static int is_over(
        void *user, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
    const struct transport *transport = user;
    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    return transport->options.stopping && *transport->options.stopping;
}

// "host=address:port" as "host::address:port".
static bool add_connect(struct transport *transport, const char *rule, struct err *err)
{
    const char *equals = strchr(rule, '=');
    AUTO_TEXT struct text entry = {.max = 512};
    if (!equals || equals == rule ||
            !text_fmt(&entry, "%.*s::%s", (int)(equals - rule), rule, equals + 1))
        return err_set(
                err, ERR_INPUT, "receiver.fetch.connect: \"%s\" is not host=address:port", rule);
    struct curl_slist *longer = curl_slist_append(transport->connect, text_cstr(&entry));
    if (!longer)
        return err_set(err, ERR_FATAL, "out of memory");
    transport->connect = longer;
    return true;
}

static void set_rules(struct transport *transport)
{
    CURL *easy = transport->easy;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); // none from the environment: it would be the peer
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TRANSPORT_TIME_MS);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)TRANSPORT_CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_MAXFILESIZE, (long)TRANSPORT_BODY_MAX);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transport->why);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transport);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transport);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, is_over);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transport);
    if (transport->options.ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, transport->options.ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (transport->connect)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, transport->connect);
}

static bool fill(struct transport *transport, struct err *err)
{
    for (size_t i = 0; i < transport->options.n_connect; i++)
        if (!add_connect(transport, transport->options.connect[i], err))
            return false;
    transport->easy = curl_easy_init();
    if (!transport->easy)
        return err_set(err, ERR_FATAL, "can't make a libcurl handle");
    set_rules(transport);
    return true;
}

struct transport *transport_new(const struct transport_options *options, struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(err, ERR_FATAL, "can't initialise libcurl");
        return NULL;
    }
    struct transport *transport = xcalloc(1, sizeof *transport);
    transport->options = *options;
    if (fill(transport, err))
        return transport;
    transport_free(transport);
    return NULL;
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    curl_easy_cleanup(transport->easy);
    curl_slist_free_all(transport->connect);
    free(transport);
}

// The host stands between "https://" and the next of ":/?"; the callers' rules allow no more.
static bool is_named(const struct transport *transport, const char *url)
{
    const char *host = strstr(url, "://");
    if (!host)
        return false;
    host += 3;
    size_t len = strcspn(host, ":/?#");
    for (size_t i = 0; i < transport->options.n_connect; i++) {
        const char *rule = transport->options.connect[i];
        if (strncmp(rule, host, len) == 0 && rule[len] == '=')
            return true;
    }
    return false;
}

static void keep_chain(struct transport *transport)
{
    struct curl_certinfo *info = NULL;
    if (curl_easy_getinfo(transport->easy, CURLINFO_CERTINFO, &info) != CURLE_OK || !info)
        return;
    for (int i = 0; i < info->num_of_certs; i++) {
        for (const struct curl_slist *row = info->certinfo[i]; row; row = row->next)
            if (strncmp(row->data, "Cert:", 5) == 0)
                text_fmt(&transport->reply->chain, "%s\n", row->data + 5);
    }
}

static enum transport_end end_of(struct transport *transport, CURLcode code, struct err *err)
{
    long status = 0;
    curl_easy_getinfo(transport->easy, CURLINFO_RESPONSE_CODE, &status);
    transport->reply->status = (int)status;
    bool too_large = code == CURLE_FILESIZE_EXCEEDED || code == CURLE_WRITE_ERROR;
    enum transport_end end = TRANSPORT_OK;
    if (transport->bad_address && code != CURLE_OK)
        end = TRANSPORT_ADDRESS;
    else if (too_large)
        end = TRANSPORT_TOO_LARGE;
    else if (code != CURLE_OK)
        end = TRANSPORT_UNREACHABLE;
    else if (status >= 300 && status < 400)
        end = TRANSPORT_REDIRECT;
    else if (status != 200)
        end = TRANSPORT_STATUS;
    if (end == TRANSPORT_OK)
        return end;
    err_set(err, ERR_TEMP, "%s (status %ld): %s", transport_end_name(end), status,
            transport->why[0] ? transport->why : curl_easy_strerror(code));
    return end;
}

enum transport_end transport_get(struct transport *transport, const char *url,
        struct transport_reply *reply, struct err *err)
{
    text_init(&reply->body, TRANSPORT_BODY_MAX);
    text_init(&reply->chain, TRANSPORT_CHAIN_MAX);
    transport->reply = reply;
    transport->why[0] = '\0';
    transport->bad_address = false;
    transport->any_address = is_named(transport, url);
    curl_easy_setopt(transport->easy, CURLOPT_URL, url);
    CURLcode code = curl_easy_perform(transport->easy);
    enum transport_end end = end_of(transport, code, err);
    if (end == TRANSPORT_OK)
        keep_chain(transport);
    transport->reply = NULL;
    return end;
}
