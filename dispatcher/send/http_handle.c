// What the handle of an HTTP transfer is told, and what libcurl asks on the way.
#include "common/address.h"
#include "common/fault.h"
#include "dispatcher/send/carrier.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#define LINES_MAX ((size_t)256 << 10)
#define IDLE_MAX_S 20L            // a kept connection is not used after more
#define WHOLE_MAX (64 * 1024 - 1) // libcurl sends no larger body together with its head
#define LIFE_MAX_S 600L           // so that a name that moved is asked for again
// Whoever has a device chooses its endpoint, and as many as hang hold a transfer each for so long.
#define STRANGE_MAX_MS 15000L

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

// The lines of the last response: a 1xx before it is forgotten. Those behind a chunked body come
// here too, and libcurl would keep them all in memory, however many they are.
static size_t take_line(char *bytes, size_t size, size_t n, void *user)
{
    struct exchange *exchange = user;
    struct slice line = {(const unsigned char *)bytes, size * n};
    exchange->lines_len += line.len;
    if (exchange->lines_len > LINES_MAX)
        return CURL_WRITEFUNC_ERROR;
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

// A body that it holds libcurl would send again by itself, and in silence, where a kept connection
// ends without an answer. It asks for leave each time.
static bool begins_again(struct exchange *exchange)
{
    exchange->again_refused = exchange->whole && exchange->ready;
    return exchange->again_refused;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct exchange *exchange = user;
    (void)purpose;
    // A body of which something was taken: libcurl begins again, for nothing.
    if ((exchange->request.http2 && exchange->taken > 0) || begins_again(exchange))
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
    if (begins_again(exchange))
        return CURL_PREREQFUNC_ABORT;
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
    if (exchange->whole)
        FAULT_STEP(wire_after_body);
    return CURL_PREREQFUNC_OK;
}

// --- What it is told

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

// A body by POST over HTTP/1.1, as almost all are: what such a handle was told stays true.
static bool is_plain(const struct exchange *exchange)
{
    const struct http_request *request = &exchange->request;
    return !request->http2 && !request->probe && !request->method && request->body.len > 0 &&
           !exchange->fetch.landed;
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
    exchange->whole = false;
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, exchange->fresh ? 1L : 0L);
    if (strcmp(method, "GET") == 0 && request->body.len == 0) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)http_body_size(request));
    // Head and body leave by one write, which is a system call less here and one less at the peer.
    exchange->whole = is_plain(exchange) && !request->inlays.n && request->body.len <= WHOLE_MAX;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->whole ? request->body.ptr : NULL);
}

static bool add_line(struct exchange *exchange, const char *line)
{
    struct curl_slist *longer = curl_slist_append(exchange->lines, line);
    exchange->lines = longer ? longer : exchange->lines;
    return longer != NULL;
}

static bool set_lines(struct exchange *exchange)
{
    // "Expect:" takes away libcurl's question before a body; so a 417 can't make it ask twice.
    bool ok = add_line(exchange, "Expect:");
    struct text *head = &exchange->request.head;
    for (char *line = head->ptr, *end; ok && line && (end = strchr(line, '\n')); line = end + 1) {
        char *stop = end > line && end[-1] == '\r' ? end - 1 : end, was = *stop;
        *stop = '\0'; // libcurl takes a string, and copies it
        ok = add_line(exchange, line);
        *stop = was;
    }
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, exchange->lines);
    return ok;
}

static bool same_ca(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void set_options(struct exchange *exchange, const struct provider *provider)
{
    bool plain = is_plain(exchange);
    if (plain && exchange->plain && exchange->plain_loopback == exchange->loopback_ok &&
            same_ca(exchange->plain_ca, provider->ca))
        return;
    curl_easy_reset(exchange->easy);
    set_limits(exchange);
    set_callbacks(exchange);
    set_tls(exchange->easy, provider->ca);
    free(exchange->plain_ca);
    exchange->plain_ca = plain && provider->ca ? xstrdup(provider->ca) : NULL;
    exchange->plain = plain;
    exchange->plain_loopback = exchange->loopback_ok;
}

// A handle that may remember a refusal would tell of it when another request dies (streams.h), so
// each delivery begins with one that has nothing to remember.
static bool forget_refusals(struct exchange *exchange)
{
    if (!exchange->stream.suspect && exchange->stream.id == 0)
        return true;
    curl_easy_cleanup(exchange->easy);
    exchange->easy = curl_easy_init();
    exchange->stream = (struct stream){0};
    exchange->plain = false;
    return exchange->easy != NULL;
}

static long longest_ms(const struct exchange *exchange)
{
    long most = (long)peer_body_budget_ms(exchange->options);
    if (exchange->fetch.landed)
        return TRANSPORT_FETCH_MS;
    return exchange->request.strange && most > STRANGE_MAX_MS ? STRANGE_MAX_MS : most;
}

bool exchange_set_up(struct exchange *exchange, const struct provider *provider)
{
    exchange_rewind(exchange);
    if (!forget_refusals(exchange))
        return false;
    set_options(exchange, provider);
    curl_easy_setopt(exchange->easy, CURLOPT_URL, exchange->request.url);
    curl_easy_setopt(exchange->easy, CURLOPT_TIMEOUT_MS, longest_ms(exchange));
    set_method(exchange);
    return set_lines(exchange);
}
