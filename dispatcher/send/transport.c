#include "dispatcher/send/send.h"

#include "common/clock.h"
#include "common/fault.h"
#include "common/place.h"
#include "dispatcher/send/attached.h"
#include "dispatcher/send/carrier.h"

#include <poll.h>
#include <stdio.h>

struct transport {
    struct transport_options options;
    CURLM *multi;
    size_t n;
    int busy; // transfers that were started and not handed on so far
    struct peer *peers;
    struct link *links;
    struct exchange *exchanges; // n, too: either kind may have all slots
    struct exchange fetches[TRANSPORT_FETCHES];
    struct sockets sockets;
    struct goaways goaways;
    struct scouts scouts;
    struct curl_waitfd *waits; // of those peers that talk, and one more
    struct peer **waiting;     // these
    size_t n_waits;
    struct finished finished;
};

void set_tls(CURL *easy, const char *ca)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

static bool fill(struct transport *transport)
{
    transport->multi = curl_multi_init();
    if (!transport->multi)
        return false;
    // More room than connections, so that libcurl never closes one of its own accord.
    curl_multi_setopt(
            transport->multi, CURLMOPT_MAXCONNECTS, (long)transport->n * 2 + TRANSPORT_FETCHES);
    for (size_t i = 0; i < transport->n; i++) {
        struct link *link = &transport->links[i];
        transport->peers[i] = (struct peer){.io = &link_io,
                .link = link,
                .options = &transport->options,
                .finished = &transport->finished};
        dialog_init(&transport->peers[i].dialog);
        transport->exchanges[i] = (struct exchange){.options = &transport->options,
                .multi = transport->multi,
                .sockets = &transport->sockets,
                .goaways = &transport->goaways,
                .scouts = &transport->scouts,
                .finished = &transport->finished};
        if (!link_init(link, &transport->peers[i], transport->multi))
            return false;
    }
    for (size_t i = 0; i < TRANSPORT_FETCHES; i++)
        transport->fetches[i] = (struct exchange){.options = &transport->options,
                .multi = transport->multi,
                .sockets = &transport->sockets,
                .goaways = &transport->goaways,
                .scouts = &transport->scouts};
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
    transport->exchanges = xcalloc(transport->n, sizeof *transport->exchanges);
    transport->waits = xcalloc(transport->n + 1, sizeof *transport->waits);
    transport->waiting = xcalloc(transport->n, sizeof(struct peer *));
    transport->finished.end = &transport->finished.first;
    if (fill(transport))
        return transport;
    err_set(err, ERR_FATAL, "can't make libcurl handles");
    transport_free(transport);
    return NULL;
}

static void abort_fetches(struct transport *transport)
{
    for (size_t i = 0; i < TRANSPORT_FETCHES; i++)
        if (transport->fetches[i].fetch.landed)
            exchange_abort(&transport->fetches[i]);
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    abort_fetches(transport);
    for (size_t i = 0; i < transport->n; i++) {
        struct peer *peer = &transport->peers[i];
        if (peer->state == PEER_IDLE)
            peer_close(peer);
        else if (peer->state != PEER_EMPTY)
            peer->io->drop(peer);
        exchange_fini(&transport->exchanges[i]);
        curl_easy_cleanup(transport->links[i].easy);
        dialog_fini(&peer->dialog);
        smtp_request_fini(&peer->request);
    }
    for (size_t i = 0; i < TRANSPORT_FETCHES; i++)
        exchange_fini(&transport->fetches[i]);
    curl_multi_cleanup(transport->multi);
    sockets_fini(&transport->sockets);
    free(transport->peers);
    free(transport->links);
    free(transport->exchanges);
    free(transport->waits);
    free(transport->waiting);
    free(transport);
    curl_global_cleanup();
}

int64_t transport_timeout_ms(const struct transport *transport)
{
    return peer_body_budget_ms(&transport->options) + transport->options.final_reply_ms;
}

int transport_free_slots(const struct transport *transport)
{
    return (int)transport->n - transport->busy;
}

static bool never_started(struct delivery *delivery, enum attempt_outcome outcome,
        enum failure_level level, const struct err *err)
{
    delivery->result.outcome = outcome;
    delivery->result.level = level;
    snprintf(delivery->result.detail, sizeof delivery->result.detail, "%.199s", err->msg);
    return false;
}

static bool no_slot(struct delivery *delivery, struct err *err)
{
    err_set(err, ERR_TEMP, "no free transfer");
    return never_started(delivery, ATTEMPT_GIVEN_BACK, LEVEL_PROVIDER, err);
}

#define AUTO_REQUEST __attribute__((cleanup(smtp_request_fini)))

static bool not_built(struct delivery *delivery, enum failure_level level, const struct err *err)
{
    return never_started(
            delivery, level == LEVEL_PROVIDER ? ATTEMPT_RETRY : ATTEMPT_REFUSED, level, err);
}

static bool start_smtp(struct transport *transport, const struct provider *provider,
        struct delivery *delivery, struct err *err)
{
    AUTO_REQUEST struct smtp_request request = {0};
    enum failure_level level = LEVEL_MESSAGE;
    if (!smtp_build(&delivery->content, provider, send_domain_to_ascii, &request, &level, err))
        return not_built(delivery, level, err);
    request.probe = delivery->probe;
    request.inlays.folder = transport->options.attachments;
    struct key identity = smtp_identity(provider, request.url);
    struct peer *peer = peer_pick(transport->peers, transport->n, identity);
    if (!peer)
        return no_slot(delivery, err);
    FAULT_STEP(wire_before_start);
    if (peer->state != PEER_IDLE) {
        link_set(peer->link, request.url, provider);
        peer->identity = identity;
    }
    delivery->started_ms = clock_mono_ms();
    peer_start(peer, &request, delivery);
    FAULT_STEP(wire_after_start);
    return true;
}

static struct exchange *idle(struct exchange *exchanges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!exchanges[i].delivery && !exchanges[i].fetch.landed)
            return &exchanges[i];
    return NULL;
}

static bool add_bearer(const struct bearer *bearer, struct delivery *delivery,
        struct http_request *request, struct err *err)
{
    delivery->bearer = bearer ? bearer->use : (struct bearer_use){0};
    return !bearer || http_head_secret(request, "Authorization", "Bearer ", bearer->token, err) ||
           never_started(delivery, ATTEMPT_RETRY, LEVEL_PROVIDER, err);
}

// The same for all tries of one message.
static void write_repeat_key(struct key key, const char *failed_id, char out[KEY_HEX])
{
    struct slice parts[] = {{key.bytes, KEY_BYTES}, slice_of(failed_id)};
    key_hex(failed_id ? key_derive(parts, ARRAY_LEN(parts)) : key, out);
}

static bool build_http(const struct driver_row *driver, const struct provider *provider,
        struct delivery *delivery, struct http_request *request, struct err *err)
{
    struct content content = delivery->content; // members are borrowed
    bool mail = delivery->channel == CHANNEL_EMAIL;
    AUTO_FREE char *from = mail ? send_with_ascii_domain(content.from) : NULL;
    AUTO_FREE char *to = mail ? send_with_ascii_domain(content.to) : NULL;
    content.from = from ? from : content.from;
    content.to = to ? to : content.to;
    struct key key = key_delivery(delivery->notification, (int)delivery->channel,
            slice_of(delivery->target), delivery->redrive);
    char hex[KEY_HEX], repeat[KEY_HEX], place[PLACE_MAX];
    key_hex(key, hex);
    write_repeat_key(key, delivery->failed_id, repeat);
    place_write(
            &(struct delivery_place){delivery->bucket, delivery->notification, delivery->redrive},
            place);
    content.place = place;
    content.repeat_key = repeat;
    enum failure_level level = LEVEL_MESSAGE;
    if (!driver->build(&content, provider, hex, request, &level, err))
        return not_built(delivery, level, err);
    if (delivery->probe) {
        request->probe = "GET"; // what is signed is what is asked
        text_reset(&request->body);
    }
    if (!send_request_ready(driver, request, &delivery->result, err))
        return false;
    int64_t now_s = content.now_us ? content.now_us / 1000000 : clock_now_s();
    return !driver->sign || driver->sign(provider, &content, now_s, request, err) ||
           not_built(delivery, LEVEL_PROVIDER, err);
}

static bool start_http(struct transport *transport, const struct driver_row *driver,
        const struct provider *provider, const struct bearer *bearer, struct delivery *delivery,
        struct err *err)
{
    AUTO_HTTP_REQUEST struct http_request request = {
            .inlays.folder = transport->options.attachments};
    if (!build_http(driver, provider, delivery, &request, err) ||
            !add_bearer(bearer, delivery, &request, err))
        return false;
    struct exchange *exchange = idle(transport->exchanges, transport->n);
    if (!exchange || !exchange_init(exchange))
        return no_slot(delivery, err);
    FAULT_STEP(wire_before_start);
    delivery->started_ms = clock_mono_ms();
    exchange_start(exchange, driver, &request, provider, delivery);
    FAULT_STEP(wire_after_start);
    return true;
}

bool transport_start(struct transport *transport, const struct channel *channel,
        const struct provider *provider, const struct bearer *bearer, struct delivery *delivery,
        struct err *err)
{
    struct err own;
    err = err ? err : &own;
    delivery->result = (struct attempt_result){0};
    const struct driver_row *driver = driver_find(channel->kind, provider->driver_name);
    if (!driver) {
        err_set(err, ERR_FATAL, "no driver for this channel's provider");
        return never_started(delivery, ATTEMPT_RETRY, LEVEL_PROVIDER, err);
    }
    if (transport_free_slots(transport) <= 0)
        return no_slot(delivery, err);
    if (!send_files_ready(delivery, transport->options.attachments, err))
        return false;
    bool started = driver->build ? start_http(transport, driver, provider, bearer, delivery, err)
                                 : start_smtp(transport, provider, delivery, err);
    transport->busy += started;
    return started;
}

bool transport_fetch(struct transport *transport, struct http_request *request,
        const struct transport_fetch *fetch, struct err *err)
{
    struct exchange *exchange = idle(transport->fetches, TRANSPORT_FETCHES);
    if (!exchange || !exchange_init(exchange))
        return err_set(err, ERR_TEMP, "no room for another request of our own");
    exchange_fetch(exchange, request, fetch);
    return true;
}

static void run_multi(struct transport *transport)
{
    int ignored;
    curl_multi_perform(transport->multi, &ignored);
    CURLMsg *msg;
    while ((msg = curl_multi_info_read(transport->multi, &ignored))) {
        CURLcode code = msg->data.result;
        struct carrier *carrier = NULL;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &carrier);
        carrier->done(carrier, code);
    }
    int64_t now = clock_mono_ms();
    for (size_t i = 0; i < transport->n; i++)
        if (transport->exchanges[i].wait_until_ms)
            exchange_look(&transport->exchanges[i], now);
}

// Lists which peers to wait for; shortens *wait_ms to the nearest deadline.
static void prepare(struct transport *transport, int64_t *wait_ms)
{
    int64_t now = clock_mono_ms();
    transport->n_waits = 0;
    for (size_t i = 0; i < transport->n; i++) {
        struct peer *peer = &transport->peers[i];
        if (peer->state != PEER_EMPTY && peer->due_ms - now < *wait_ms)
            *wait_ms = peer->due_ms > now ? peer->due_ms - now : 0;
        if (peer->state != PEER_TALKING)
            continue;
        short events = dialog_output(&peer->dialog).len ? CURL_WAIT_POLLOUT : 0;
        transport->waiting[transport->n_waits] = peer;
        transport->waits[transport->n_waits++] = (struct curl_waitfd){
                .fd = transport->links[i].fd, .events = (short)(events | CURL_WAIT_POLLIN)};
    }
    if (transport->finished.first)
        *wait_ms = 0;
}

// What was begun since the last time makes libcurl not wait at all, so one run is enough: each
// looks at every transfer that is under way.
void transport_poll(struct transport *transport, int64_t wait_ms, int extra_fd, short extra_events,
        short *ret_extra)
{
    prepare(transport, &wait_ms);
    struct curl_waitfd *extra = &transport->waits[transport->n_waits];
    short in = extra_events & POLLIN ? CURL_WAIT_POLLIN : 0;
    short out = extra_events & POLLOUT ? CURL_WAIT_POLLOUT : 0;
    *extra = (struct curl_waitfd){.fd = extra_fd, .events = (short)(in | out)};
    curl_multi_poll(transport->multi, transport->waits, (unsigned)transport->n_waits + 1,
            (int)(wait_ms < 60000 ? wait_ms : 60000), NULL);
    *ret_extra = (short)((extra->revents & CURL_WAIT_POLLIN ? POLLIN : 0) |
                         (extra->revents & CURL_WAIT_POLLOUT ? POLLOUT : 0));
    run_multi(transport);
    for (size_t i = 0; i < transport->n_waits; i++)
        if (transport->waits[i].revents && transport->waiting[i]->state == PEER_TALKING)
            peer_pump(transport->waiting[i]);
    int64_t now = clock_mono_ms();
    for (size_t i = 0; i < transport->n; i++)
        peer_expire(&transport->peers[i], now);
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
    transport->busy--;
    return delivery;
}

void transport_abort(struct transport *transport)
{
    for (size_t i = 0; i < transport->n; i++) {
        if (transport->peers[i].delivery)
            peer_failed(&transport->peers[i], SMTP_ABORTED);
        if (transport->exchanges[i].delivery)
            exchange_abort(&transport->exchanges[i]);
    }
    abort_fetches(transport);
}
