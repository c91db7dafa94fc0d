#include "dispatcher/send/peer.h"

#include "common/clock.h"
#include "common/fault.h"
#include "dispatcher/send/attached.h"

#include <stdio.h>

#define IDLE_MAX_MS 20000 // a kept connection is closed before most servers would close it
#define USES_MAX 100      // transactions on one connection

int64_t peer_body_budget_ms(const struct transport_options *options)
{
    return options->connect_ms + 2 * options->reply_ms;
}

// Each step has reply_ms, the last one final_reply_ms.
static void touch(struct peer *peer)
{
    int64_t now = clock_mono_ms();
    if (peer->delivery && peer->dialog.phase == SMTP_END_OF_DATA) {
        peer->due_ms = now + peer->options->final_reply_ms;
        return;
    }
    peer->due_ms = now + peer->options->reply_ms;
    if (peer->delivery && peer->due_ms > peer->body_by_ms)
        peer->due_ms = peer->body_by_ms;
}

static void hand_over(struct peer *peer)
{
    struct delivery *delivery = steal(&peer->delivery);
    delivery->result.wire_ms = clock_mono_ms() - delivery->started_ms;
    delivery->next = NULL;
    *peer->finished->end = delivery;
    peer->finished->end = &delivery->next;
    dialog_let_go(&peer->dialog);
    smtp_request_fini(&peer->request);
}

static void finish(struct peer *peer, enum smtp_end end)
{
    FAULT_STEP(send_after_reply);
    struct smtp_facts facts = {
            .end = end,
            .phase = peer->dialog.phase,
            .reply = &peer->dialog.reply,
            .why = peer->why[0] ? peer->why : NULL,
    };
    smtp_classify(&facts, &peer->delivery->result);
    hand_over(peer);
}

static void drop(struct peer *peer)
{
    peer->io->drop(peer);
    peer->state = PEER_EMPTY;
}

void peer_close(struct peer *peer)
{
    size_t sent;
    (void)peer->io->send(peer, SLICE("QUIT\r\n"), &sent);
    drop(peer);
}

static bool connect_anew(struct peer *peer)
{
    dialog_fini(&peer->dialog);
    dialog_init(&peer->dialog);
    peer->dialog.phase = SMTP_CONNECT;
    peer->why[0] = '\0';
    peer->reused = false;
    peer->uses = 0;
    peer->due_ms = peer->body_by_ms;
    int64_t left = peer->body_by_ms - clock_mono_ms();
    if (left <= 0 || !peer->io->connect(peer, left))
        return false;
    peer->state = PEER_CONNECTING;
    return true;
}

// Nothing of this message was said on a kept connection that had gone stale, so a fresh one may
// follow at once. Any other failure is an end of the try.
static bool is_stale(const struct peer *peer, enum smtp_end end)
{
    bool closed = end == SMTP_CLOSED || (end == SMTP_REPLY && peer->dialog.reply.code == 421);
    return peer->delivery && peer->reused && closed && peer->dialog.phase == SMTP_MAIL;
}

void peer_failed(struct peer *peer, enum smtp_end end)
{
    bool again = is_stale(peer, end);
    drop(peer);
    if (again && connect_anew(peer))
        return;
    if (peer->delivery)
        finish(peer, end);
}

static void begin(struct peer *peer)
{
    peer->state = PEER_TALKING;
    peer->uses++;
    dialog_begin(&peer->dialog, &peer->request);
    touch(peer);
    peer_pump(peer);
}

static bool lacks_utf8(const struct peer *peer)
{
    return peer->request.needs_utf8 && !peer->dialog.offers.utf8;
}

static void refuse_utf8(struct peer *peer)
{
    peer->dialog.reply = (struct smtp_reply){0}; // of the mail before
    peer->dialog.phase = SMTP_CONNECT;
    peer_failed(peer, peer->request.sender_utf8 ? SMTP_NO_UTF8_SENDER : SMTP_NO_UTF8);
}

// The server was reached and let us in: that is all that was asked.
static void probed(struct peer *peer)
{
    struct attempt_result *result = &peer->delivery->result;
    *result = (struct attempt_result){.outcome = ATTEMPT_ACCEPTED, .code = peer->dialog.reply.code};
    snprintf(result->detail, sizeof result->detail, "%s", peer->dialog.reply.text);
    peer_close(peer);
    hand_over(peer);
}

void peer_connected(struct peer *peer)
{
    peer->why[0] = '\0';
    if (peer->request.probe)
        probed(peer);
    else if (lacks_utf8(peer))
        refuse_utf8(peer);
    else
        begin(peer);
}

void peer_start(struct peer *peer, struct smtp_request *request, struct delivery *delivery)
{
    peer->request = *request;
    *request = (struct smtp_request){0};
    peer->delivery = delivery;
    peer->body_by_ms = delivery->started_ms + peer_body_budget_ms(peer->options);
    peer->reused = peer->state == PEER_IDLE;
    if (peer->reused && !lacks_utf8(peer))
        peer_connected(peer);
    else if (peer->reused)
        refuse_utf8(peer);
    else if (!connect_anew(peer))
        peer_failed(peer, SMTP_NO_ROUTE);
}

// Best first: the provider's own kept connection, an unused slot, one in RSET, another's.
static int cost_of(const struct peer *peer, const struct key *identity)
{
    if (peer->delivery)
        return -1;
    if (peer->state == PEER_EMPTY)
        return 1;
    if (peer->state != PEER_IDLE)
        return 2;
    return memcmp(&peer->identity, identity, sizeof *identity) == 0 ? 0 : 3;
}

struct peer *peer_pick(struct peer *peers, size_t n, struct key identity)
{
    struct peer *best = NULL;
    int lowest = 0;
    for (size_t i = 0; i < n; i++) {
        struct peer *peer = &peers[i];
        int cost = cost_of(peer, &identity);
        if (cost == 0 && !peer->io->is_quiet(peer)) {
            peer_close(peer);
            cost = 1;
        }
        if (cost >= 0 && (!best || cost < lowest)) {
            best = peer;
            lowest = cost;
        }
        if (cost == 0)
            break;
    }
    if (best && lowest > 1)
        peer_close(best);
    return best;
}

// A reply has ended the transaction, or RSET was answered.
static void on_ended(struct peer *peer)
{
    enum smtp_phase phase = peer->dialog.phase;
    bool keep = dialog_reusable(&peer->dialog) && phase != SMTP_RESET && peer->uses < USES_MAX;
    if (is_stale(peer, SMTP_REPLY)) {
        peer_failed(peer, SMTP_REPLY);
        return;
    }
    if (peer->delivery)
        finish(peer, SMTP_REPLY);
    if (!keep) {
        peer_close(peer);
    } else if (phase == SMTP_IDLE || phase == SMTP_END_OF_DATA) {
        peer->state = PEER_IDLE;
        peer->due_ms = clock_mono_ms() + IDLE_MAX_MS;
    } else {
        dialog_reset(&peer->dialog);
        touch(peer);
    }
}

static bool receive_some(struct peer *peer)
{
    unsigned char bytes[4096];
    size_t n = 0;
    enum peer_io_result result = peer->io->receive(peer, bytes, sizeof bytes, &n);
    if (result == PEER_IO_AGAIN)
        return false;
    if (result == PEER_IO_CLOSED) {
        peer_failed(peer, SMTP_CLOSED);
        return false;
    }
    switch (dialog_input(&peer->dialog, (struct slice){bytes, n})) {
    case DIALOG_GOES_ON:
        touch(peer);
        break;
    case DIALOG_ENDED:
        on_ended(peer);
        break;
    case DIALOG_GARBLED:
        peer_failed(peer, SMTP_GARBLED);
        break;
    }
    return peer->state == PEER_TALKING;
}

// The body is not whole, so that no server may take it.
static void spoil(struct peer *peer)
{
    struct delivery *delivery = peer->delivery;
    send_spoilt(&delivery->result, &peer->dialog.spoilt);
    drop(peer);
    hand_over(peer);
}

static bool send_some(struct peer *peer)
{
    if (peer->dialog.spoilt.kind && peer->delivery) {
        spoil(peer);
        return false;
    }
    struct slice out = dialog_output(&peer->dialog);
    if (out.len == 0)
        return false;
    size_t n = 0;
    enum peer_io_result result = peer->io->send(peer, out, &n);
    if (result == PEER_IO_AGAIN)
        return false;
    if (result == PEER_IO_CLOSED) {
        // A peer that refuses and closes has perhaps said why: what it sent is read first.
        while (receive_some(peer))
            continue;
        if (peer->state == PEER_TALKING)
            peer_failed(peer, SMTP_CLOSED);
        return false;
    }
    enum smtp_phase before = peer->dialog.phase;
    dialog_sent(&peer->dialog, n);
    if (before != SMTP_END_OF_DATA && peer->dialog.phase == SMTP_END_OF_DATA)
        FAULT_STEP(wire_after_body);
    touch(peer);
    return true;
}

void peer_pump(struct peer *peer)
{
    do {
        while (peer->state == PEER_TALKING && send_some(peer))
            continue;
    } while (peer->state == PEER_TALKING && receive_some(peer));
}

void peer_expire(struct peer *peer, int64_t now_ms)
{
    if (peer->state == PEER_EMPTY || now_ms < peer->due_ms)
        return;
    if (peer->state == PEER_IDLE)
        peer_close(peer);
    else
        peer_failed(peer, SMTP_TIMEOUT);
}
