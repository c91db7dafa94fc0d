// lane.h: one loop thread of the receiver: requests that wait for their commit, and their end.
//
// A request is parked from the moment its arrival is handed over until the arrival comes back. It
// is answered once: by the arrival, by its deadline, or never, when its client is gone before. All
// functions but lane_hand_back() and lane_turned_ms() belong to the lane's own thread.
#pragma once
#include "common/http/loop.h"
#include "receiver/http/answer.h"
#include "receiver/http/inflight.h"
#include "receiver/http/rate.h"
#include "receiver/http/stages.h"

struct lane;
struct parked;

struct lane_options {
    struct http_loop_options http; // on_request is the lane's own
    const struct stages *stages;
    struct inflight *inflight;
    struct rates *rates; // of all lanes
    int index;
    int64_t deadline_ms; // from the whole request to a 503
};

MUST_CHECK struct lane *lane_new(const struct lane_options *options, struct err *err);
void lane_free(struct lane *lane); // its thread has ended; arrivals that still came back are freed

// Serves until *stop, then drains at most grace_ms: takes no new connection, answers what is
// parked.
void lane_run(struct lane *lane, const _Atomic bool *stop, const _Atomic int64_t *grace_ms);
void lane_wake(struct lane *lane);               // any thread
int64_t lane_turned_ms(const struct lane *lane); // any thread

// Arrivals that are done, linked by .next; any thread; ownership goes over.
void lane_hand_back(struct lane *lane, struct arrival *batch);

const struct lane_options *lane_options(const struct lane *lane);

// What the handler says of a request it hands over.
struct parking {
    h2o_req_t *req;
    const struct source *source;
    int64_t start_us;
    bool app;
    enum reply_style style;
    struct slice idempotency_key;
};
// Parks the request and ties the arrival to it (arrival->request, arrival->deadline_ms).
struct parked *lane_park(struct lane *lane, const struct parking *parking, struct arrival *arrival);
// Takes it back: the arrival was not accepted after all. The request is the caller's to answer.
void lane_unpark(struct parked *parked);

// Sends an answer and counts it. source is a label: a configured name or "unknown".
struct answering {
    h2o_req_t *req;
    const char *source;
    int64_t start_us;
    const struct arrival *arrival; // may be NULL
    enum reply_style style;
};
void lane_answer(const struct answering *to, enum answer_row row);
// The same for a handshake that is answered.
void lane_greet(const struct answering *to, const struct greeting *greeting);
