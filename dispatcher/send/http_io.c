// An HTTP transfer by libcurl. What must hold (docs/mail-api.md): a body is handed over once,
// and what is not known is not guessed at.
#include "common/address.h"
#include "common/clock.h"
#include "common/config/value.h"
#include "common/fault.h"
#include "dispatcher/send/attached.h"
#include "dispatcher/send/carrier.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#define IDLE_MAX_S 20L  // a kept connection is not used after more
#define LIFE_MAX_S 600L // so that a name that moved is asked for again

// --- libcurl's questions

// What is above the ceiling is left out: by then the status is known.
static size_t take_body(char *bytes, size_t size, size_t n, void *user)
{
    struct exchange *exchange = user;
    size_t len = size * n, room = HTTP_REPLY_MAX - exchange->body.len;
    (void)text_add(
            &exchange->body, (struct slice){(const unsigned char *)bytes, len < room ? len : room});
    return len <= room ? len : CURL_WRITEFUNC_ERROR;
}

// The lines of the last response: a 1xx before it is forgotten.
static size_t take_line(char *bytes, size_t size, size_t n, void *user)
{
    struct exchange *exchange = user;
    struct slice line = {(const unsigned char *)bytes, size * n};
    if (slice_starts(line, SLICE("HTTP/")))
        text_reset(&exchange->head);
    (void)text_add(&exchange->head, line);
    return line.len;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static bool may_reach(struct exchange *exchange, const struct sockaddr *address)
{
    if (exchange->private_ok || address_public(address) ||
            (exchange->loopback_ok && is_loopback(address)))
        return true;
    exchange->refused = "its address is not a public one (`private: true` allows it)";
    return false;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct exchange *exchange = user;
    (void)purpose;
    // A body of which something was taken: libcurl begins again, for nothing.
    if (exchange->request.http2 && exchange->taken > 0)
        return CURL_SOCKET_BAD;
    if (!may_reach(exchange, &address->addr))
        return CURL_SOCKET_BAD;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0)
        sockets_add(exchange->sockets, fd);
    return fd;
}

static int before_request(void *user, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct exchange *exchange = user;
    struct sockaddr_storage peer;
    (void)own_ip;
    (void)peer_port;
    // A kept connection may be one that another provider was allowed to make.
    if (!address_read(peer_ip, &peer) || !may_reach(exchange, (const struct sockaddr *)&peer))
        return CURL_PREREQFUNC_ABORT;
    long fresh = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_NUM_CONNECTS, &fresh);
    // A kept HTTP/1 connection must be silent. One with bytes to read holds a reply that nobody
    // asked for, and libcurl would take it for the answer to this request.
    exchange->stale =
            fresh == 0 && !exchange->request.http2 && !sockets_quiet(exchange->sockets, own_port);
    if (exchange->stale)
        return CURL_PREREQFUNC_ABORT;
    exchange->ready = true;
    return CURL_PREREQFUNC_OK;
}

// --- The outcome

static void wipe_lines(struct exchange *exchange)
{
    for (struct curl_slist *line = exchange->lines; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(exchange->lines);
    exchange->lines = NULL;
}

// A body may have been taken once libcurl took some of it; a request without one once it began.
static bool may_be_taken(const struct exchange *exchange)
{
    if (exchange->request.http2 && stream_not_taken(&exchange->stream, exchange->goaways))
        return false;
    return exchange->request.body.len ? exchange->taken > 0 : exchange->ready;
}

// That the provider answered, and let us in, is all that was asked.
static void classify_probe(const struct http_reply *reply, struct attempt_result *result)
{
    bool in = reply->end == HTTP_REPLIED && reply->status != 401 && reply->status != 403 &&
              reply->status < 500;
    http_result(reply, in ? ATTEMPT_ACCEPTED : ATTEMPT_RETRY, LEVEL_PROVIDER, reply->body, result);
}

static void hand_over(struct exchange *exchange, const struct http_reply *reply)
{
    struct transport_fetch fetch = exchange->fetch;
    if (fetch.landed) {
        exchange->fetch = (struct transport_fetch){0};
        http_request_fini(&exchange->request);
        wipe_lines(exchange);
        fetch.landed(fetch.user, reply);
        return;
    }
    FAULT_STEP(send_after_reply);
    struct delivery *delivery = steal(&exchange->delivery);
    if (reply->end != HTTP_REPLIED && exchange->spoilt.kind) // half a body: nobody can take it
        send_spoilt(&delivery->result, &exchange->spoilt);
    else if (delivery->probe)
        classify_probe(reply, &delivery->result);
    else if (exchange->driver->classify_as)
        exchange->driver->classify_as(&exchange->request, reply, &delivery->result);
    else
        exchange->driver->classify(reply, &delivery->result);
    delivery->result.wire_ms = clock_mono_ms() - delivery->started_ms;
    delivery->next = NULL;
    *exchange->finished->end = delivery;
    exchange->finished->end = &delivery->next;
    exchange_rewind(exchange);
    http_request_fini(&exchange->request);
    wipe_lines(exchange);
}

// The database's clock where a delivery brought it: a date that the provider names is then as far
// away as it is, whatever our own clock says.
static int64_t now_us(const struct exchange *exchange)
{
    const struct delivery *delivery = exchange->delivery;
    if (!delivery || delivery->content.now_us == 0)
        return clock_now_us();
    return delivery->content.now_us + (clock_mono_ms() - delivery->started_ms) * 1000;
}

void exchange_finish(struct exchange *exchange, const char *why)
{
    long status = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    struct http_reply reply = {
            .end = may_be_taken(exchange) ? HTTP_CUT : HTTP_NOT_SENT,
            .head = text_slice(&exchange->head),
            .body = text_slice(&exchange->body),
            .why = why,
            .barred = exchange->refused != NULL,
            .now_us = now_us(exchange),
    };
    // Once there is a final status it decides, whatever broke afterwards.
    if (status >= 200) {
        reply.end = HTTP_REPLIED;
        reply.status = (int)status;
    }
    hand_over(exchange, &reply);
}

bool exchange_begin(struct exchange *exchange)
{
    exchange_rewind(exchange);
    exchange->ready = false;
    exchange->stream = (struct stream){0};
    exchange->refused = NULL;
    exchange->why[0] = '\0';
    text_reset(&exchange->head);
    text_reset(&exchange->body);
    return curl_multi_add_handle(exchange->multi, exchange->easy) == CURLM_OK;
}

static void on_done(struct carrier *carrier, CURLcode code)
{
    struct exchange *exchange = (struct exchange *)carrier;
    curl_multi_remove_handle(exchange->multi, exchange->easy);
    if (exchange->request.http2 && exchange_goes_again(exchange))
        return;
    // Nothing was said on that connection.
    if (exchange->stale && !exchange->fresh) {
        exchange->fresh = true;
        exchange->stale = false;
        curl_easy_setopt(exchange->easy, CURLOPT_FRESH_CONNECT, 1L);
        if (exchange_begin(exchange))
            return;
    }
    const char *said = exchange->why[0] ? exchange->why : curl_easy_strerror(code);
    exchange_finish(exchange, exchange->refused ? exchange->refused : said);
}

void exchange_abort(struct exchange *exchange)
{
    exchange->wait_until_ms = 0;
    scouts_back(exchange->scouts, exchange->server, exchange->scout);
    curl_multi_remove_handle(exchange->multi, exchange->easy);
    exchange_finish(exchange, "cut off at shutdown");
}

// --- The request

bool exchange_init(struct exchange *exchange)
{
    if (exchange->easy)
        return true;
    exchange->carrier.done = on_done;
    text_init(&exchange->head, HTTP_REPLY_MAX);
    text_init(&exchange->body, HTTP_REPLY_MAX);
    exchange->easy = curl_easy_init();
    return exchange->easy != NULL;
}

void exchange_fini(struct exchange *exchange)
{
    if (exchange->delivery || exchange->fetch.landed)
        curl_multi_remove_handle(exchange->multi, exchange->easy);
    curl_easy_cleanup(exchange->easy);
    wipe_lines(exchange);
    exchange_rewind(exchange);
    http_request_fini(&exchange->request);
    text_fini(&exchange->head);
    text_fini(&exchange->body);
    *exchange = (struct exchange){0};
}

static void set_limits(const struct exchange *exchange)
{
    CURL *easy = exchange->easy;
    const struct transport_options *options = exchange->options;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // never waits for a resolver thread
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    // http_request_begin() lets http:// through for loopback alone.
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, exchange->loopback_ok ? "http,https" : "https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
            exchange->request.http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, exchange->request.http2 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_MAX_S);
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, LIFE_MAX_S);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
            exchange->fetch.landed ? (long)TRANSPORT_FETCH_MS : (long)peer_body_budget_ms(options));
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl");
}

static void set_callbacks(struct exchange *exchange)
{
    CURL *easy = exchange->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &exchange->carrier);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->why);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, sockets_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, exchange->sockets);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_line);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, exchange_give);
    curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
    if (!exchange->request.http2)
        return;
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, exchange_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, exchange_hear);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, exchange);
}

static void set_method(struct exchange *exchange)
{
    CURL *easy = exchange->easy;
    const struct http_request *request = &exchange->request;
    const char *method = request->probe    ? request->probe
                         : request->method ? request->method
                                           : "POST";
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    // libcurl begins again by itself where a kept connection ends without an answer, and without a
    // body nothing keeps it from doing so.
    exchange->fresh = request->body.len == 0;
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, exchange->fresh ? 1L : 0L);
    if (strcmp(method, "GET") == 0 && request->body.len == 0) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)http_body_size(request));
}

static bool add_line(struct exchange *exchange, struct slice line)
{
    AUTO_FREE char *copy = slice_dup(line);
    struct curl_slist *longer = curl_slist_append(exchange->lines, copy);
    explicit_bzero(copy, line.len);
    exchange->lines = longer ? longer : exchange->lines;
    return longer != NULL;
}

static bool set_lines(struct exchange *exchange)
{
    // "Expect:" takes away libcurl's question before a body; so a 417 can't make it ask twice.
    bool ok = add_line(exchange, SLICE("Expect:"));
    struct slice rest = text_slice(&exchange->request.head);
    for (const unsigned char *end; ok && rest.len && (end = memchr(rest.ptr, '\n', rest.len));) {
        size_t len = (size_t)(end - rest.ptr) + 1;
        size_t shown = len > 1 && rest.ptr[len - 2] == '\r' ? len - 2 : len - 1;
        ok = add_line(exchange, (struct slice){rest.ptr, shown});
        rest.ptr += len;
        rest.len -= len;
    }
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, exchange->lines);
    return ok;
}

static bool says_loopback(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    bool brackets = *host == '[';
    size_t len = brackets ? strcspn(host, "]") - 1 : strcspn(host, ":/?");
    return value_is_loopback((struct slice){(const unsigned char *)host + brackets, len});
}

static void take_over(
        struct exchange *exchange, struct http_request *request, const struct provider *provider)
{
    exchange->request = *request;
    *request = (struct http_request){0};
    exchange->stale = exchange->scout = false;
    exchange->again = 0;
    struct slice authority = slice_of(exchange->request.url);
    const char *path = strchr(exchange->request.url + strlen("https://"), '/');
    authority.len = path ? (size_t)(path - exchange->request.url) : authority.len;
    exchange->server = key_derive(&authority, 1);
    exchange->private_ok = provider->private_net;
    exchange->loopback_ok = (provider->private_net || !exchange->request.strange) &&
                            says_loopback(exchange->request.url);
}

static void go(struct exchange *exchange, const struct provider *provider)
{
    curl_easy_reset(exchange->easy);
    curl_easy_setopt(exchange->easy, CURLOPT_URL, exchange->request.url);
    set_limits(exchange);
    set_callbacks(exchange);
    set_tls(exchange->easy, provider->ca);
    set_method(exchange);
    if (!set_lines(exchange) || !exchange_begin_in_turn(exchange))
        exchange_finish(exchange, "libcurl took no request");
}

void exchange_start(struct exchange *exchange, const struct driver_row *driver,
        struct http_request *request, const struct provider *provider, struct delivery *delivery)
{
    exchange->driver = driver;
    exchange->delivery = delivery;
    take_over(exchange, request, provider);
    if (delivery->probe) {
        exchange->request.probe = "GET";
        text_fini(&exchange->request.body);
    }
    go(exchange, provider);
}

void exchange_fetch(struct exchange *exchange, struct http_request *request,
        const struct transport_fetch *fetch)
{
    exchange->fetch = *fetch;
    take_over(exchange, request, fetch->provider);
    go(exchange, fetch->provider);
}
