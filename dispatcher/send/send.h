// send.h: puts one delivery on the wire through its provider and says how that ended.
//
// transport.c drives all transfers with libcurl's multi interface; a driver (smtp.c) only builds
// the request from the content and classifies the outcome: both pure.
#pragma once
#include "dispatcher/delivery.h"

struct transport;

struct transport_options {
    int transfers;      // in flight at once
    int64_t connect_ms; // connect timeout
    int64_t reply_ms;   // wait for one server reply (after the final dot longer: final_reply_ms)
    int64_t final_reply_ms;
    const char *attachments; // folder of the files that mails carry; borrowed; NULL = none
};

MUST_CHECK struct transport *transport_new(
        const struct transport_options *options, struct err *err);
void transport_free(struct transport *transport);

// The longest one transfer may take in all: no try starts with less of its lease left than this.
int64_t transport_timeout_ms(const struct transport *transport);
int transport_free_slots(const struct transport *transport);

// Starts the try (with this shared token; NULL = its driver needs none), or a probe (accepted = the
// server was reached and let us in); the delivery stays the caller's and must live until it is
// done. False + err: it never started (result.outcome is set too: refused for a bad address, retry
// else).
MUST_CHECK bool transport_start(struct transport *transport, const struct channel *channel,
        const struct provider *provider, const struct bearer *bearer, struct delivery *delivery,
        struct err *err);

// A request of our own beside the deliveries, that takes none of their slots: landed() gets the
// reply once, from transport_poll() or transport_abort(). False + err: it never started. The
// request is taken over; provider says what may be connected to.
struct http_request;
struct http_reply;
struct transport_fetch {
    const struct provider *provider;
    void (*landed)(void *user, const struct http_reply *reply);
    void *user; // the caller's, until landed()
};
MUST_CHECK bool transport_fetch(struct transport *transport, struct http_request *request,
        const struct transport_fetch *fetch, struct err *err);
#define TRANSPORT_FETCHES 28     // at once
#define TRANSPORT_FETCH_MS 15000 // one takes so long at most

// Waits at most wait_ms for transfers, extra_fd (the database's; -1 = none) or a wake-up.
// *ret_extra: poll events seen.
void transport_poll(struct transport *transport, int64_t wait_ms, int extra_fd, short extra_events,
        short *ret_extra);
void transport_wakeup(struct transport *transport); // from a signal-handling thread

// The next finished delivery with .result filled, or NULL.
struct delivery *transport_done(struct transport *transport);

// Cuts off what is still on the wire (end of the grace time): each comes back through
// transport_done(), unknown if bytes of the message may have been taken.
void transport_abort(struct transport *transport);
