#include "dispatcher/send/send.h"

#include "common/clock.h"
#include "common/fault.h"
#include "dispatcher/send/peer.h"

#include <curl/curl.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>

// libcurl's part of a peer.
struct link {
    CURL *easy;
    struct transport *transport;
    curl_socket_t fd; // CURL_SOCKET_BAD until connected
    bool in_multi;
    char why[CURL_ERROR_SIZE];
};

struct transport {
    struct transport_options options;
    CURLM *multi;
    size_t n;
    struct peer *peers;
    struct link *links;
    struct curl_waitfd *waits;
    struct finished finished;
};

static bool link_connect(struct peer *peer, int64_t left_ms)
{
    struct link *link = peer->link;
    link->why[0] = '\0';
    curl_easy_setopt(link->easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    link->in_multi = curl_multi_add_handle(link->transport->multi, link->easy) == CURLM_OK;
    return link->in_multi;
}

static void link_drop(struct peer *peer)
{
    struct link *link = peer->link;
    // Removing a CONNECT_ONLY handle closes its connection.
    if (link->in_multi)
        curl_multi_remove_handle(link->transport->multi, link->easy);
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

static const struct peer_io link_io = {
        .is_quiet = link_is_quiet,
        .connect = link_connect,
        .drop = link_drop,
        .send = link_send,
        .receive = link_receive,
};

static bool fill(struct transport *transport)
{
    transport->multi = curl_multi_init();
    if (!transport->multi)
        return false;
    // More room than connections, so that libcurl never closes one of its own accord.
    curl_multi_setopt(transport->multi, CURLMOPT_MAXCONNECTS, (long)transport->n * 2 + 8);
    for (size_t i = 0; i < transport->n; i++) {
        struct link *link = &transport->links[i];
        *link = (struct link){.transport = transport, .fd = CURL_SOCKET_BAD};
        transport->peers[i] = (struct peer){.io = &link_io,
                .link = link,
                .options = &transport->options,
                .finished = &transport->finished};
        dialog_init(&transport->peers[i].dialog);
        link->easy = curl_easy_init();
        if (!link->easy)
            return false;
    }
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
    transport->n = options->transfers > 0 ? (size_t)options->transfers : 1;
    transport->peers = xcalloc(transport->n, sizeof *transport->peers);
    transport->links = xcalloc(transport->n, sizeof *transport->links);
    transport->waits = xcalloc(transport->n + 1, sizeof *transport->waits);
    transport->finished.end = &transport->finished.first;
    if (fill(transport))
        return transport;
    err_set(err, ERR_FATAL, "can't make libcurl handles");
    transport_free(transport);
    return NULL;
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    for (size_t i = 0; i < transport->n; i++) {
        struct peer *peer = &transport->peers[i];
        if (peer->state == PEER_IDLE)
            peer_close(peer);
        else if (peer->state != PEER_EMPTY)
            link_drop(peer);
        curl_easy_cleanup(transport->links[i].easy);
        dialog_fini(&peer->dialog);
        smtp_request_fini(&peer->request);
    }
    curl_multi_cleanup(transport->multi);
    free(transport->peers);
    free(transport->links);
    free(transport->waits);
    free(transport);
    curl_global_cleanup();
}

int64_t transport_timeout_ms(const struct transport *transport)
{
    return peer_body_budget_ms(&transport->options) + transport->options.final_reply_ms;
}

int transport_free_slots(const struct transport *transport)
{
    int n = 0;
    for (size_t i = 0; i < transport->n; i++)
        n += transport->peers[i].delivery == NULL;
    return n;
}

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

static void set_connection(struct peer *peer, const char *url)
{
    struct link *link = peer->link;
    CURL *easy = link->easy;
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, peer);
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

static void set_security(struct peer *peer, const struct provider *provider)
{
    CURL *easy = ((struct link *)peer->link)->easy;
    curl_easy_setopt(
            easy, CURLOPT_USE_SSL, (long)(provider->plain ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (provider->ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, provider->ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (!provider->user)
        return;
    AUTO_FREE char *password = slice_dup(provider->password.value);
    curl_easy_setopt(easy, CURLOPT_USERNAME, provider->user);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
    explicit_bzero(password, strlen(password));
}

// libcurl has libidn2 take names in the locale's character set.
static bool domain_to_ascii(const char *domain, char out[256])
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    CURLU *url = curl_url();
    char *host = NULL;
    bool ok = url && curl_url_set(url, CURLUPART_SCHEME, "smtp", 0) == CURLUE_OK &&
              curl_url_set(url, CURLUPART_HOST, domain, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_HOST, &host, CURLU_PUNYCODE) == CURLUE_OK;
    int n = ok ? snprintf(out, 256, "%s", host) : -1;
    curl_free(host);
    curl_url_cleanup(url);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return n > 0 && n < 256;
}

static bool never_started(struct delivery *delivery, enum attempt_outcome outcome,
        enum failure_level level, const struct err *err)
{
    delivery->result.outcome = outcome;
    delivery->result.level = level;
    snprintf(delivery->result.detail, sizeof delivery->result.detail, "%.199s", err->msg);
    return false;
}

#define AUTO_REQUEST __attribute__((cleanup(smtp_request_fini)))

bool transport_start(struct transport *transport, const struct channel *channel,
        const struct provider *provider, struct delivery *delivery, struct err *err)
{
    struct err own;
    err = err ? err : &own;
    delivery->result = (struct attempt_result){0};
    if (channel->kind != CHANNEL_EMAIL || provider->driver != DRIVER_SMTP) {
        err_set(err, ERR_FATAL, "no driver for this channel's provider");
        return never_started(delivery, ATTEMPT_RETRY, LEVEL_PROVIDER, err);
    }
    AUTO_REQUEST struct smtp_request request = {0};
    enum failure_level level = LEVEL_MESSAGE;
    if (!smtp_build(&delivery->content, provider, domain_to_ascii, &request, &level, err))
        return never_started(
                delivery, level == LEVEL_PROVIDER ? ATTEMPT_RETRY : ATTEMPT_REFUSED, level, err);
    request.probe = delivery->probe;
    struct key identity = smtp_identity(provider, request.url);
    struct peer *peer = peer_pick(transport->peers, transport->n, identity);
    if (!peer) {
        err_set(err, ERR_TEMP, "no free transfer");
        return never_started(delivery, ATTEMPT_GIVEN_BACK, LEVEL_PROVIDER, err);
    }
    FAULT_STEP(wire_before_start);
    if (peer->state != PEER_IDLE) {
        set_connection(peer, request.url);
        set_security(peer, provider);
        peer->identity = identity;
    }
    delivery->started_ms = clock_mono_ms();
    peer_start(peer, &request, delivery);
    FAULT_STEP(wire_after_start);
    return true;
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

static void on_connect_done(struct peer *peer, CURLcode code)
{
    struct link *link = peer->link;
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

static void run_multi(struct transport *transport)
{
    int ignored;
    curl_multi_perform(transport->multi, &ignored);
    CURLMsg *msg;
    while ((msg = curl_multi_info_read(transport->multi, &ignored))) {
        CURLcode code = msg->data.result;
        struct peer *peer = NULL;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &peer);
        if (peer->state == PEER_CONNECTING)
            on_connect_done(peer, code);
    }
}

// Lists what to wait for; shortens *wait_ms to the nearest deadline.
static void prepare(struct transport *transport, int64_t *wait_ms)
{
    int64_t now = clock_mono_ms();
    for (size_t i = 0; i < transport->n; i++) {
        struct peer *peer = &transport->peers[i];
        bool talking = peer->state == PEER_TALKING;
        short events = dialog_output(&peer->dialog).len && talking ? CURL_WAIT_POLLOUT : 0;
        // poll() passes over a negative descriptor.
        transport->waits[i] = (struct curl_waitfd){
                .fd = talking ? transport->links[i].fd : -1,
                .events = (short)(events | CURL_WAIT_POLLIN),
        };
        if (peer->state != PEER_EMPTY && peer->due_ms - now < *wait_ms)
            *wait_ms = peer->due_ms > now ? peer->due_ms - now : 0;
    }
    if (transport->finished.first)
        *wait_ms = 0;
}

void transport_poll(struct transport *transport, int64_t wait_ms, int extra_fd, short extra_events,
        short *ret_extra)
{
    run_multi(transport);
    prepare(transport, &wait_ms);
    struct curl_waitfd *extra = &transport->waits[transport->n];
    short in = extra_events & POLLIN ? CURL_WAIT_POLLIN : 0;
    short out = extra_events & POLLOUT ? CURL_WAIT_POLLOUT : 0;
    *extra = (struct curl_waitfd){.fd = extra_fd, .events = (short)(in | out)};
    curl_multi_poll(transport->multi, transport->waits, (unsigned)transport->n + 1,
            (int)(wait_ms < 60000 ? wait_ms : 60000), NULL);
    *ret_extra = (short)((extra->revents & CURL_WAIT_POLLIN ? POLLIN : 0) |
                         (extra->revents & CURL_WAIT_POLLOUT ? POLLOUT : 0));
    run_multi(transport);
    int64_t now = clock_mono_ms();
    for (size_t i = 0; i < transport->n; i++) {
        struct peer *peer = &transport->peers[i];
        if (transport->waits[i].revents && peer->state == PEER_TALKING)
            peer_pump(peer);
        peer_expire(peer, now);
    }
}

void transport_wakeup(struct transport *transport)
{
    curl_multi_wakeup(transport->multi);
}

struct delivery *transport_done(struct transport *transport)
{
    struct finished *finished = &transport->finished;
    struct delivery *delivery = finished->first;
    if (!delivery)
        return NULL;
    finished->first = delivery->next;
    if (!finished->first)
        finished->end = &finished->first;
    delivery->next = NULL;
    return delivery;
}

void transport_abort(struct transport *transport)
{
    for (size_t i = 0; i < transport->n; i++) {
        if (transport->peers[i].delivery)
            peer_failed(&transport->peers[i], SMTP_ABORTED);
    }
}
