// carrier.h: what the transport and its two kinds of transfers share; libcurl's types stop here.
#pragma once
#include "dispatcher/send/peer.h"
#include "dispatcher/send/providers.h"
#include "dispatcher/send/send.h"
#include "dispatcher/send/streams.h"

#include <curl/curl.h>

// First member of what an easy handle belongs to (CURLOPT_PRIVATE).
struct carrier {
    void (*done)(struct carrier *carrier, CURLcode code);
};

// One SMTP connection: libcurl's part of a peer.
struct link {
    struct carrier carrier;
    struct peer *peer;
    CURL *easy;
    CURLM *multi;
    curl_socket_t fd; // CURL_SOCKET_BAD until connected
    bool in_multi;
    char why[CURL_ERROR_SIZE];
};
extern const struct peer_io link_io;

bool link_init(struct link *link, struct peer *peer, CURLM *multi);
// Makes the link ready for connect(): a link whose peer has no connection.
void link_set(struct link *link, const char *url, const struct provider *provider);

// The sockets of HTTP connections, so that a kept one can be looked at: libcurl does not say which
// one it is about to use, only its local port.
struct sockets {
    struct socket_row {
        curl_socket_t fd;
        int port; // local; 0 = not asked yet
    } * rows;
    size_t n, room;
};
void sockets_fini(struct sockets *sockets); // after the multi handle is gone
// Nothing can be read on any connection of this local port.
bool sockets_quiet(struct sockets *sockets, int port);
void sockets_add(struct sockets *sockets, curl_socket_t fd);
int sockets_close(void *sockets, curl_socket_t fd); // CURLOPT_CLOSESOCKETFUNCTION

// One HTTP transfer at a time; connections belong to the multi handle and are shared.
struct exchange {
    struct carrier carrier;
    CURL *easy;
    CURLM *multi;
    const struct transport_options *options;
    struct finished *finished;
    struct sockets *sockets;
    const struct driver_row *driver;
    struct http_request request;
    struct curl_slist *lines;
    struct delivery *delivery;    // NULL = the slot is free, or this is a fetch
    struct transport_fetch fetch; // landed NULL = none
    size_t taken;                 // bytes of the body that libcurl has taken
    struct inlay_reader *reader;  // of a body with files, NULL = at its start
    struct err spoilt;            // why such a body can't go on; ERR_NONE = it can
    bool ready;                   // a connection was there, and the request began
    bool whole;                   // libcurl holds the body, and sends it with the head
    bool again_refused;           // it would have sent that a second time
    bool fresh;                   // no kept connection for this try
    bool stale;                   // the kept one had bytes that nobody asked for
    struct stream stream;         // HTTP/2: what is known of it
    struct goaways *goaways;
    struct scouts *scouts;
    struct key server;     // HTTP/2: whom it goes to
    bool scout;            // goes ahead on a new connection
    int64_t wait_until_ms; // waits for the one that does, 0 = does not
    int again;             // so often it was surely not taken
    bool private_ok;       // private addresses too
    bool loopback_ok;      // the URL says loopback
    bool plain;            // .easy is set up for a POST over HTTP/1.1, and for these:
    bool plain_loopback;
    char *plain_ca; // owned; NULL = the system's
    struct text head, body;
    size_t lines_len;    // bytes of all lines that came, 1xx and trailers too
    const char *refused; // why an address was not connected to, or NULL
    char why[CURL_ERROR_SIZE];
};

bool exchange_init(struct exchange *exchange); // its handle, where there is none yet
void exchange_fini(struct exchange *exchange);
// Takes the request over. Whatever happens, the delivery ends in exchange->finished.
void exchange_start(struct exchange *exchange, const struct driver_row *driver,
        struct http_request *request, const struct provider *provider, struct delivery *delivery);
// The same for a request of our own, in an exchange that has none under way.
void exchange_fetch(struct exchange *exchange, struct http_request *request,
        const struct transport_fetch *fetch);
// For one that waits: begins it when it may, and ends it when it waited for too long.
void exchange_look(struct exchange *exchange, int64_t now_ms);
void exchange_abort(struct exchange *exchange); // only with a delivery or a fetch

// Tells the handle all of the request that was taken over. False: libcurl had no memory.
bool exchange_set_up(struct exchange *exchange, const struct provider *provider);

// Between http_io.c and http2_io.c: begins the transfer / ends it with what is known by now.
bool exchange_begin(struct exchange *exchange);
void exchange_finish(struct exchange *exchange, const char *why);
// CURLOPT_READFUNCTION; and back to the body's start.
size_t exchange_give(char *out, size_t size, size_t n, void *user);
void exchange_rewind(struct exchange *exchange);
// CURLOPT_DEBUGFUNCTION: libcurl's words; among them are our headers, so they go nowhere else.
int exchange_hear(CURL *easy, curl_infotype type, char *text, size_t n, void *user);
// CURLOPT_SEEKFUNCTION: back to the start only where nothing was taken yet; a handle that begins
// anew after a refused stream asks for that.
int exchange_seek(void *user, curl_off_t offset, int origin);
// Begins; over HTTP/2 it may have to wait for the request that goes ahead.
bool exchange_begin_in_turn(struct exchange *exchange);
// An HTTP/2 transfer ended. True: the peer surely did not process it, and it goes again.
bool exchange_goes_again(struct exchange *exchange);

// The form of a domain that mail can go to without SMTPUTF8 (IDNA); false where there is none.
bool send_domain_to_ascii(const char *domain, char out[256]);
// A copy of the mailbox with its domain in ASCII; NULL where it is so already, or has no such form.
char *send_with_ascii_domain(const char *mailbox);

// What TLS must be, for both kinds.
void set_tls(CURL *easy, const char *ca);
