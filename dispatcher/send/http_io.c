// An HTTP transfer by libcurl. What must hold (docs/mail-api.md): a body is handed over once,
// and what is not known is not guessed at.
#include "common/clock.h"
#include "common/config/value.h"
#include "common/fault.h"
#include "dispatcher/send/attached.h"
#include "dispatcher/send/carrier.h"

// --- The outcome

static void wipe_lines(struct exchange *exchange)
{
    for (struct curl_slist *line = exchange->lines; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(exchange->lines);
    exchange->lines = NULL;
}

// A body may have been taken once libcurl took some of it; a request without one, or with one that
// libcurl has from the start, once it began. One with files is long, and often cut: without its end
// nobody can take it, as with SMTP's last dot.
static bool may_be_taken(const struct exchange *exchange)
{
    if (exchange->request.inlays.n && exchange->taken < http_body_size(&exchange->request))
        return false;
    if (exchange->request.http2 && stream_not_taken(&exchange->stream, exchange->goaways))
        return false;
    return exchange->request.body.len && !exchange->whole ? exchange->taken > 0 : exchange->ready;
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
    exchange->ready = exchange->again_refused = false;
    stream_begin(&exchange->stream);
    exchange->refused = NULL;
    exchange->why[0] = '\0';
    exchange->lines_len = 0;
    text_reset(&exchange->head);
    text_reset(&exchange->body);
    return curl_multi_add_handle(exchange->multi, exchange->easy) == CURLM_OK;
}

static const char *said(const struct exchange *exchange, CURLcode code)
{
    if (exchange->again_refused)
        return "the kept connection ended";
    return exchange->why[0] ? exchange->why : curl_easy_strerror(code);
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
    exchange_finish(exchange, exchange->refused ? exchange->refused : said(exchange, code));
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
    free(exchange->plain_ca);
    *exchange = (struct exchange){0};
}

static bool says_loopback(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    bool brackets = *host == '[';
    size_t len = brackets ? strcspn(host, "]") - 1 : strcspn(host, ":/?");
    return value_is_loopback((struct slice){(const unsigned char *)host + brackets, len});
}

static struct key server_of(const char *url)
{
    struct slice authority = slice_of(url);
    const char *path = strchr(url + strlen("https://"), '/');
    authority.len = path ? (size_t)(path - url) : authority.len;
    return key_derive(&authority, 1);
}

static void take_over(
        struct exchange *exchange, struct http_request *request, const struct provider *provider)
{
    exchange->request = *request;
    *request = (struct http_request){0};
    exchange->stale = exchange->scout = false;
    exchange->again = 0;
    if (exchange->request.http2)
        exchange->server = server_of(exchange->request.url);
    exchange->private_ok = provider->private_net;
    exchange->loopback_ok = (provider->private_net || !exchange->request.strange) &&
                            says_loopback(exchange->request.url);
}

static void go(struct exchange *exchange, const struct provider *provider)
{
    if (!exchange_set_up(exchange, provider) || !exchange_begin_in_turn(exchange))
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
