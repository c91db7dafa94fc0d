#include "receiver/http/lane.h"

#include "common/clock.h"
#include "common/metrics.h"
#include "receiver/http/handler.h"

#include <stdatomic.h>

#define TURN_MS 100      // longest wait of a turn
#define DRAIN_TURN_MS 10 // and while draining
#define LAST_TURNS 5     // for the bytes of the last answers, and for what is cut then

struct lane {
    struct lane_options options;
    struct http_loop *loop;
    h2o_multithread_receiver_t inbox;
    struct parked *first, *last; // wait for an answer, in the order of their deadlines
};

// In the request's pool; its destructor is how h2o tells that the request is gone.
struct guard {
    struct parked *parked;
};

// Malloc'ed, not pool memory: it outlives its request until the arrival is back.
struct parked {
    struct lane *lane;
    h2o_req_t *req; // NULL once answered or gone
    struct guard *guard;
    struct parked *prev, *next; // linked while req is there
    char source[64];
    int64_t start_us, deadline_ms;
    enum reply_style style;
    bool tracked, copy; // app: its key is in lane->options.inflight; as a second request with it
    struct key key;
};

struct batch {
    h2o_multithread_message_t super;
    struct arrival *first;
};

static void unlink_parked(struct parked *parked)
{
    struct lane *lane = parked->lane;
    *(parked->prev ? &parked->prev->next : &lane->first) = parked->next;
    *(parked->next ? &parked->next->prev : &lane->last) = parked->prev;
    parked->req = NULL;
    parked->guard->parked = NULL;
    series_add(metric(METRIC_INFLIGHT, "receiver", NULL), -1);
}

static void on_request_gone(void *memory)
{
    struct guard *guard = memory;
    if (guard->parked)
        unlink_parked(guard->parked);
}

static void track_key(struct parked *parked, const struct parking *parking)
{
    if (!parking->app || parking->idempotency_key.len == 0)
        return;
    parked->key =
            key_event(slice_of(parked->source), (struct slice){NULL, 0}, parking->idempotency_key);
    enum inflight_entry entry = inflight_enter(parked->lane->options.inflight, parked->key);
    parked->tracked = entry != INFLIGHT_UNTRACKED;
    parked->copy = entry == INFLIGHT_COPY;
}

struct parked *lane_park(struct lane *lane, const struct parking *parking, struct arrival *arrival)
{
    struct parked *parked = xcalloc(1, sizeof *parked);
    parked->lane = lane;
    parked->req = parking->req;
    parked->start_us = parking->start_us;
    parked->style = parking->style;
    parked->deadline_ms = parking->start_us / 1000 + lane->options.deadline_ms;
    memcpy(parked->source, arrival->source, sizeof parked->source);
    parked->guard =
            h2o_mem_alloc_shared(&parking->req->pool, sizeof *parked->guard, on_request_gone);
    parked->guard->parked = parked;
    parked->prev = lane->last;
    *(lane->last ? &lane->last->next : &lane->first) = parked;
    lane->last = parked;
    track_key(parked, parking);
    arrival->request = parked;
    arrival->deadline_ms = parked->deadline_ms;
    series_inc(metric(METRIC_INFLIGHT, "receiver", NULL));
    return parked;
}

static void parked_free(struct parked *parked)
{
    if (parked->req)
        unlink_parked(parked);
    if (parked->tracked)
        inflight_leave(parked->lane->options.inflight, parked->key);
    free(parked);
}

void lane_unpark(struct parked *parked)
{
    parked_free(parked);
}

static void add_headers(h2o_req_t *req, const struct answer_shape *shape)
{
    if (shape->retry_after)
        http_reply_header(req, "retry-after", shape->soon ? ANSWER_RETRY_SOON : ANSWER_RETRY_AFTER);
    if (shape->allow)
        http_reply_header(req, "allow", shape->allow);
    if (shape->authenticate)
        http_reply_header(req, "www-authenticate", "Bearer realm=\"hooks\"");
    if (shape->replayed)
        http_reply_header(req, "idempotency-replayed", "true");
}

// Adobe Sign wants its client's id back with every answer; it was compared with the secret before.
static void send_back(h2o_req_t *req, const char *name)
{
    ssize_t at = h2o_find_header_by_str(&req->headers, name, strlen(name), -1);
    if (at >= 0)
        http_reply_header(req, name,
                h2o_strdup(&req->pool, req->headers.entries[at].value.base,
                        req->headers.entries[at].value.len)
                        .base);
}

static void count(const struct answering *to, enum answer_row row)
{
    series_inc(metric(METRIC_REQUESTS, to->source, answer_outcome(row, to->arrival), NULL));
    series_observe(metric(METRIC_ACK_SECONDS, to->source, NULL),
            (double)(clock_mono_us() - to->start_us) / 1e6);
}

void lane_answer(const struct answering *to, enum answer_row row)
{
    struct answer_shape shape;
    AUTO_TEXT struct text body;
    text_init(&body, ANSWER_BODY_MAX);
    row = answer_styled(row, to->style);
    answer_make(row, to->arrival, &shape, &body);
    add_headers(to->req, &shape);
    if (to->style == STYLE_CLIENT_ID && shape.status == 200)
        send_back(to->req, "x-adobesign-clientid");
    count(to, row);
    struct http_reply reply = {.status = shape.status,
            .reason = shape.reason,
            .content_type = shape.content_type,
            .body = text_slice(&body),
            .close = shape.close};
    http_reply(to->req, &reply);
}

// What is echoed is text for whoever reads it: no browser may take it for anything else.
void lane_greet(const struct answering *to, const struct greeting *greeting)
{
    h2o_req_t *req = to->req;
    http_reply_header(req, "x-content-type-options", "nosniff");
    if (greeting->header)
        http_reply_header(req, greeting->header,
                h2o_strdup(&req->pool, greeting->value.ptr, greeting->value.len).base);
    count(to, ROW_HANDSHAKE);
    struct http_reply reply = {.status = greeting->status,
            .reason = greeting->status == 204 ? "No Content" : "OK",
            .content_type = greeting->content_type,
            .body = text_slice(&greeting->body)};
    http_reply(req, &reply);
}

// The request is let go of before the answer, which may end it at once.
static void answer_parked(struct parked *parked, enum answer_row row, const struct arrival *arrival)
{
    struct answering to = {parked->req, parked->source, parked->start_us, arrival, parked->style};
    unlink_parked(parked);
    lane_answer(&to, row);
}

static void finish(struct arrival *arrival)
{
    struct parked *parked = arrival->request;
    if (parked->req)
        answer_parked(parked, answer_row_of(arrival->answer), arrival);
    parked_free(parked);
    arrival_free(arrival);
}

// A copy whose first is still under way is told so; everything else past its deadline is ours.
static enum answer_row row_past_deadline(const struct parked *parked)
{
    bool waits_for_another =
            parked->copy && inflight_others(parked->lane->options.inflight, parked->key);
    return waits_for_another ? ROW_IN_FLIGHT : ROW_DEADLINE;
}

// Answers all whose deadline is up to now_ms; their arrivals come back later and are dropped.
static void expire(struct lane *lane, int64_t now_ms)
{
    while (lane->first && lane->first->deadline_ms <= now_ms)
        answer_parked(lane->first, row_past_deadline(lane->first), NULL);
}

static void on_batches(h2o_multithread_receiver_t *receiver, h2o_linklist_t *messages)
{
    (void)receiver;
    while (!h2o_linklist_is_empty(messages)) {
        struct batch *batch = (struct batch *)messages->next; // super.link is its first member
        h2o_linklist_unlink(&batch->super.link);
        for (struct arrival *arrival = batch->first, *next; arrival; arrival = next) {
            next = arrival->next;
            finish(arrival);
        }
        free(batch);
    }
}

void lane_hand_back(struct lane *lane, struct arrival *batch)
{
    struct batch *message = xcalloc(1, sizeof *message);
    message->first = batch;
    h2o_multithread_send_message(&lane->inbox, &message->super);
}

static void on_request(void *user, h2o_req_t *req)
{
    handle_request(user, req);
}

struct lane *lane_new(const struct lane_options *options, struct err *err)
{
    AUTO_FREE struct lane *lane = xcalloc(1, sizeof *lane);
    lane->options = *options;
    lane->options.http.on_request = on_request;
    lane->options.http.user = lane;
    lane->loop = http_loop_new(&lane->options.http, err);
    if (!lane->loop)
        return NULL;
    h2o_multithread_register_receiver(
            http_loop_context(lane->loop)->queue, &lane->inbox, on_batches);
    return steal(&lane);
}

static void last_turns(struct lane *lane, int wait)
{
    for (int i = 0; i < LAST_TURNS; i++)
        http_loop_turn(lane->loop, wait);
}

void lane_free(struct lane *lane)
{
    if (!lane)
        return;
    last_turns(lane, 0); // takes late arrivals back
    h2o_multithread_unregister_receiver(http_loop_context(lane->loop)->queue, &lane->inbox);
    http_loop_free(lane->loop);
    free(lane);
}

static int wait_ms(const struct lane *lane, int most)
{
    if (!lane->first)
        return most;
    int64_t left = lane->first->deadline_ms - clock_mono_ms();
    return left < 0 ? 0 : left < most ? (int)left : most;
}

static void drain(struct lane *lane, int64_t grace_ms)
{
    int64_t end = clock_mono_ms() + grace_ms;
    while (clock_mono_ms() < end) {
        http_loop_drain(lane->loop);
        if (http_loop_connections(lane->loop) == 0)
            return;
        http_loop_turn(lane->loop, wait_ms(lane, DRAIN_TURN_MS));
        expire(lane, clock_mono_ms());
    }
    expire(lane, INT64_MAX);
    last_turns(lane, DRAIN_TURN_MS);
    http_loop_cut(lane->loop);
    last_turns(lane, DRAIN_TURN_MS);
}

void lane_run(struct lane *lane, const _Atomic bool *stop, const _Atomic int64_t *grace_ms)
{
    while (!*stop) {
        http_loop_turn(lane->loop, wait_ms(lane, TURN_MS));
        expire(lane, clock_mono_ms());
    }
    drain(lane, *grace_ms);
}

void lane_wake(struct lane *lane)
{
    http_loop_wake(lane->loop);
}

int64_t lane_turned_ms(const struct lane *lane)
{
    return http_loop_turned_ms(lane->loop);
}

const struct lane_options *lane_options(const struct lane *lane)
{
    return &lane->options;
}
