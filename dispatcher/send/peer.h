// peer.h: one slot of the transport: a connection that is kept, and the try that runs on it.
//
// The connection itself (libcurl's, in transport.c) is behind struct peer_io, so that what happens
// on it can be tested without a network.
#pragma once
#include "dispatcher/send/dialog.h"
#include "dispatcher/send/send.h"

struct peer;

enum peer_io_result { PEER_IO_OK, PEER_IO_AGAIN, PEER_IO_CLOSED };

struct peer_io {
    // Starts to connect, within at most left_ms; peer_connected() or peer_failed() follows.
    bool (*connect)(struct peer *peer, int64_t left_ms);
    void (*drop)(struct peer *peer); // closes the connection, finished or not
    // PEER_IO_OK: *ret_n bytes (at least one) were handed over or read; AGAIN: none now.
    enum peer_io_result (*send)(struct peer *peer, struct slice bytes, size_t *ret_n);
    enum peer_io_result (*receive)(
            struct peer *peer, unsigned char *bytes, size_t max, size_t *ret_n);
    // False when something can be read. On a kept connection that is a goodbye.
    bool (*is_quiet)(const struct peer *peer);
};

// PEER_TALKING without a delivery is the RSET after a try that was refused.
enum peer_state { PEER_EMPTY, PEER_CONNECTING, PEER_TALKING, PEER_IDLE };

struct finished {
    struct delivery *first, **end;
};

struct peer {
    const struct peer_io *io;
    void *link; // the io's own
    const struct transport_options *options;
    struct finished *finished; // where a delivery goes when its try has ended
    enum peer_state state;
    struct key identity; // of the provider's settings: who may use the kept connection
    bool reused;         // the connection had carried another transaction before
    int uses;
    int64_t due_ms;     // monotonic: when the present wait is over
    int64_t body_by_ms; // when the last byte must be handed over
    struct smtp_dialog dialog;
    struct smtp_request request;
    struct delivery *delivery; // NULL = the slot is free
    char why[256];             // the io's words for a failure; "" = none
};

// A slot without a try, made ready: the kept connection of this identity if there is one that is
// still good, else one without a connection. NULL when all are taken.
struct peer *peer_pick(struct peer *peers, size_t n, struct key identity);

// Starts the try: on the kept connection if there is one, else on a new one. The request is owned
// by the peer from here. Whatever happens, the delivery ends in peer->finished.
void peer_start(struct peer *peer, struct smtp_request *request, struct delivery *delivery);

void peer_connected(struct peer *peer);
void peer_failed(struct peer *peer, enum smtp_end end);

// Sends and receives until neither gets on; called when the socket is ready.
void peer_pump(struct peer *peer);
// Ends a wait that is over: a reply that did not come, a connection idle for too long.
void peer_expire(struct peer *peer, int64_t now_ms);
// Says QUIT, does not wait for the answer, and closes.
void peer_close(struct peer *peer);

// All but the wait for the last reply must be over within it, however often a peer answers just in
// time.
int64_t peer_body_budget_ms(const struct transport_options *options);
