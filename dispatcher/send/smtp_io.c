// An SMTP connection by libcurl, CONNECT_ONLY: it connects, secures and signs in; dialog.c speaks.
#include "dispatcher/send/carrier.h"

#include <poll.h>
#include <stdio.h>

static bool link_connect(struct peer *peer, int64_t left_ms)
{
    struct link *link = peer->link;
    link->why[0] = '\0';
    curl_easy_setopt(link->easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    link->in_multi = curl_multi_add_handle(link->multi, link->easy) == CURLM_OK;
    return link->in_multi;
}

static void link_drop(struct peer *peer)
{
    struct link *link = peer->link;
    // Removing a CONNECT_ONLY handle closes its connection.
    if (link->in_multi)
        curl_multi_remove_handle(link->multi, link->easy);
    link->in_multi = false;
    link->fd = CURL_SOCKET_BAD;
}

static enum peer_io_result link_send(struct peer *peer, struct slice bytes, size_t *ret_n)
{
    struct link *link = peer->link;
    CURLcode code = curl_easy_send(link->easy, bytes.ptr, bytes.len, ret_n);
    if (code == CURLE_AGAIN)
        return PEER_IO_AGAIN;
    return code == CURLE_OK ? PEER_IO_OK : PEER_IO_CLOSED;
}

static enum peer_io_result link_receive(
        struct peer *peer, unsigned char *bytes, size_t max, size_t *ret_n)
{
    struct link *link = peer->link;
    CURLcode code = curl_easy_recv(link->easy, bytes, max, ret_n);
    if (code == CURLE_AGAIN)
        return PEER_IO_AGAIN;
    return code == CURLE_OK && *ret_n ? PEER_IO_OK : PEER_IO_CLOSED;
}

static bool link_is_quiet(const struct peer *peer)
{
    struct pollfd fd = {.fd = ((const struct link *)peer->link)->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 0;
}

const struct peer_io link_io = {
        .is_quiet = link_is_quiet,
        .connect = link_connect,
        .drop = link_drop,
        .send = link_send,
        .receive = link_receive,
};

// libcurl hands over each line of greeting, EHLO, STARTTLS and AUTH.
static size_t on_line(char *bytes, size_t size, size_t n, void *user)
{
    struct peer *peer = user;
    struct slice line = {(const unsigned char *)bytes, size * n};
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    if (reply_line(&peer->dialog.reply, line) == REPLY_BAD)
        peer->dialog.reply = (struct smtp_reply){0};
    offers_line(&peer->dialog.offers, line);
    return size * n;
}

static void set_connection(struct link *link, const char *url)
{
    struct peer *peer = link->peer;
    CURL *easy = link->easy;
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &link->carrier);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, link->why);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_line);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, peer);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // never waits for a resolver thread
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)peer->options->connect_ms);
    curl_easy_setopt(
            easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)(peer->options->reply_ms + 999) / 1000);
}

static void set_security(const struct link *link, const struct provider *provider)
{
    CURL *easy = link->easy;
    curl_easy_setopt(
            easy, CURLOPT_USE_SSL, (long)(provider->plain ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    set_tls(easy, provider->ca);
    if (!provider->user)
        return;
    AUTO_FREE char *password = slice_dup(provider->password.value);
    curl_easy_setopt(easy, CURLOPT_USERNAME, provider->user);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
    explicit_bzero(password, strlen(password));
}

// By name where libcurl tells more than "it failed".
static enum smtp_end connect_end(CURLcode code)
{
    static const struct {
        CURLcode code;
        enum smtp_end end;
    } ends[] = {
            {CURLE_COULDNT_RESOLVE_HOST, SMTP_NO_ROUTE},
            {CURLE_COULDNT_CONNECT, SMTP_NO_ROUTE},
            {CURLE_OPERATION_TIMEDOUT, SMTP_TIMEOUT},
            {CURLE_LOGIN_DENIED, SMTP_NO_AUTH},
            {CURLE_USE_SSL_FAILED, SMTP_NO_TLS},
            {CURLE_SSL_CONNECT_ERROR, SMTP_NO_TLS},
            {CURLE_PEER_FAILED_VERIFICATION, SMTP_NO_TLS},
            {CURLE_SSL_CACERT_BADFILE, SMTP_NO_TLS},
            {CURLE_SSL_CIPHER, SMTP_NO_TLS},
    };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (ends[i].code == code)
            return ends[i].end;
    }
    return SMTP_CLOSED;
}

static void link_done(struct carrier *carrier, CURLcode code)
{
    struct link *link = (struct link *)carrier;
    struct peer *peer = link->peer;
    if (peer->state != PEER_CONNECTING)
        return;
    if (code == CURLE_OK)
        curl_easy_getinfo(link->easy, CURLINFO_ACTIVESOCKET, &link->fd);
    if (link->fd != CURL_SOCKET_BAD) {
        peer_connected(peer);
        return;
    }
    const char *why = link->why[0] ? link->why : curl_easy_strerror(code);
    snprintf(peer->why, sizeof peer->why, "%.255s", why);
    peer_failed(peer, connect_end(code));
}

bool link_init(struct link *link, struct peer *peer, CURLM *multi)
{
    *link = (struct link){.carrier.done = link_done,
            .peer = peer,
            .multi = multi,
            .fd = CURL_SOCKET_BAD,
            .easy = curl_easy_init()};
    return link->easy != NULL;
}

void link_set(struct link *link, const char *url, const struct provider *provider)
{
    set_connection(link, url);
    set_security(link, provider);
}
