// streams.h: which HTTP/2 streams a peer surely did not process, as far as libcurl lets one know.
//
// A peer that goes away says the last stream it took; what is above was not processed (RFC 9113
// 6.8), and neither was a refused stream (8.7). libcurl gives the same code for these as for a
// connection that died without an answer, on which a request may have been taken. Only its words
// tell them apart: those of 7.88 are read here, and where they are others nothing is known, which
// is the safe side.
#pragma once
#include "common/keys.h"

#define GOAWAYS_KEPT 16

struct goaways {
    struct goaway {
        long connection; // libcurl's number, 0 = none, so that it is kept plus 1
        int64_t last;    // stream
    } rows[GOAWAYS_KEPT];
    size_t next;
};

// One request's.
struct stream {
    long connection; // plus 1
    int64_t id;
    bool refused, told; // believed / said
    bool free;          // it was not taken, and libcurl began again
    bool suspect;       // libcurl's handle may remember a refusal from before this stream
};

// Takes one line of libcurl's. True: it says that the peer goes away.
bool stream_line(struct stream *stream, struct goaways *goaways, struct slice line);
bool stream_not_taken(const struct stream *stream, const struct goaways *goaways);
// A refusal on a kept connection is remembered by the handle without a word of it, and told of a
// later request that died. Before each begin: what is known of a new stream of this handle, whose
// words about refusals are believed only if nothing can be left of the one before.
void stream_begin(struct stream *stream);

// How many streams a peer takes at once it says a round trip after a connection's first request;
// APNs begins with one. Until something was answered, one request goes ahead on it, and the others
// to that peer wait.
#define SCOUTS 8
#define SCOUT_PROVEN_MS 15000 // after the last answer; a kept connection is idle for 20 s at most
struct scouts {
    struct scout {
        struct key peer;
        bool out;         // one is under way
        int64_t until_ms; // the connection is proven
    } rows[SCOUTS];
};

// May a request to this peer begin? *ret_scout: it goes ahead, and scouts_back() follows.
bool scouts_may_go(struct scouts *scouts, struct key peer, int64_t now_ms, bool *ret_scout);
void scouts_back(struct scouts *scouts, struct key peer, bool scout);
// Something was answered / the peer goes away.
void scouts_prove(struct scouts *scouts, struct key peer, int64_t now_ms);
void scouts_forget(struct scouts *scouts, struct key peer);
