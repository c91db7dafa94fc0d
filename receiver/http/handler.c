#include "receiver/http/handler.h"

#include "common/clock.h"
#include "common/config/unsubscribe.h"
#include "common/log.h"
#include "common/metrics.h"
#include "receiver/http/coded.h"
#include "receiver/http/head.h"
#include "receiver/http/peer.h"
#include "receiver/http/rate.h"
#include "receiver/http/route.h"
#include "receiver/http/taken.h"

#define REJECTED "webhook.rejected"
#define GREETED "webhook.handshake"
#define UNKNOWN "unknown" // label of what is no configured source

// One request on its way through the steps; lives on the stack.
struct visit {
    struct lane *lane;
    h2o_req_t *req;
    int64_t start_us;
    const struct source *source; // of policy; NULL until routed
    struct received received;
    struct received_header headers[H2O_MAX_HEADERS];
    struct verdict verdict;
};

static struct slice slice_of_iovec(h2o_iovec_t bytes)
{
    return (struct slice){(const unsigned char *)bytes.base, bytes.len};
}

static const char *label_of(const struct visit *visit)
{
    return visit->source ? visit->source->name : UNKNOWN;
}

static void answer(const struct visit *visit, enum answer_row row)
{
    struct answering to = {
            visit->req, label_of(visit), visit->start_us, NULL, visit->verdict.style};
    lane_answer(&to, row);
}

static void reject(const struct visit *visit, enum answer_row row, const char *reason)
{
    series_inc(metric(METRIC_REJECTED, label_of(visit), reason, NULL));
    int64_t left_out = 0;
    if (log_each_minute(REJECTED, label_of(visit), reason, visit->start_us / 1000, &left_out))
        LOG(WARNING, REJECTED, "a request was refused; at most one line a minute of each kind",
                L_STR("source", label_of(visit)), L_STR("reason", reason),
                L_INT("left_out", left_out));
    answer(visit, row);
}

// The head is still at the start of the connection's input: h2o drops it with the answer.
static enum head_fault scan_raw_head(const h2o_req_t *req)
{
    const h2o_socket_t *sock = req->conn->callbacks->get_socket(req->conn);
    return head_scan((struct slice){(const unsigned char *)sock->input->bytes, sock->input->size});
}

static void describe(struct visit *visit)
{
    const h2o_req_t *req = visit->req;
    size_t n = req->headers.size < H2O_MAX_HEADERS ? req->headers.size : H2O_MAX_HEADERS;
    for (size_t i = 0; i < n; i++) {
        const h2o_header_t *header = &req->headers.entries[i];
        visit->headers[i] = (struct received_header){
                slice_of_iovec(*header->name), slice_of_iovec(header->value)};
    }
    visit->received = (struct received){.method = slice_of_iovec(req->input.method),
            .target = slice_of_iovec(req->input.path),
            .headers = visit->headers,
            .n_headers = n,
            .body = slice_of_iovec(req->entity),
            .body_max = lane_options(visit->lane)->http.body_max,
            .now_s = clock_now_s()};
}

// What is wrong with the request before its signature is looked at; NULL = nothing, and routed.
static const char *check_form(
        struct visit *visit, const struct policy *policy, enum answer_row *ret_row)
{
    struct slice name;
    *ret_row = ROW_NOT_FOUND;
    if (!route_hook(visit->received.target, &name))
        return "unknown_path";
    visit->source = policy_source(policy, name);
    if (!visit->source)
        return "unknown_source";
    *ret_row = ROW_TOO_LARGE;
    if (visit->source->body_max && visit->received.body.len > visit->source->body_max)
        return "too_large";
    return NULL;
}

// Before the signature, whose check is what a flood would have us do.
static bool check_rate(const struct visit *visit)
{
    if (rates_take(lane_options(visit->lane)->rates, visit->source, visit->start_us))
        return true;
    series_inc(metric(METRIC_REJECTED, visit->source->name, "rate", NULL));
    answer(visit, ROW_RATE);
    return false;
}

// Before the signature too: what was refused for another reason would be of no use later.
static bool check_coding(const struct visit *visit)
{
    if (coded_taken(visit->source, &visit->received))
        return true;
    reject(visit, ROW_CODING, "content_encoding");
    return false;
}

// A GET or HEAD can only be a handshake.
static bool check_method(const struct visit *visit)
{
    if (slice_eq(visit->received.method, SLICE("POST")))
        return true;
    reject(visit, ROW_METHOD, "method");
    return false;
}

static void tell_greeting(const struct visit *visit, const struct greeting *greeting)
{
    int64_t left_out = 0;
    if (!log_each_minute(
                GREETED, visit->source->name, greeting->name, visit->start_us / 1000, &left_out))
        return;
    LOG(INFO, GREETED,
            greeting->offers_secret
                    ? "a handshake was answered; it offers the secret that later requests are "
                      "signed with: who created the webhook sees it in the provider's answer, and "
                      "puts it into a credential of this source"
                    : "a handshake was answered",
            L_STR("source", visit->source->name), L_STR("handshake", greeting->name),
            L_INT("left_out", left_out));
}

// True when the request was the provider's question whether somebody is there: it is answered.
static bool check_greeting(const struct visit *visit)
{
    static const enum answer_row rows[] = {[GREETING_REFUSED] = ROW_UNAUTHORIZED,
            [GREETING_MALFORMED] = ROW_BAD_HANDSHAKE,
            [GREETING_UNABLE] = ROW_NO_SECRET};
    const struct stages *stages = lane_options(visit->lane)->stages;
    AUTO_GREETING struct greeting greeting = {.kind = GREETING_NONE};
    if (stages->greet)
        stages->greet(visit->source, &visit->received, &greeting);
    if (greeting.kind == GREETING_NONE)
        return false;
    if (greeting.kind != GREETING_ANSWERED) {
        reject(visit, rows[greeting.kind], greeting.reason);
        return true;
    }
    tell_greeting(visit, &greeting);
    struct answering to = {visit->req, label_of(visit), visit->start_us, NULL, STYLE_DEFAULT};
    lane_greet(&to, &greeting);
    return true;
}

// What may have been refused wrongly is kept for a while.
static void keep_refused(const struct visit *visit)
{
    const struct stages *stages = lane_options(visit->lane)->stages;
    char peer[PEER_MAX];
    struct refused refused = {visit->source, &visit->received, visit->verdict.reason, peer};
    peer_write(visit->req, peer);
    if (stages->refused)
        stages->refused(stages->user, &refused);
}

static void count_secret(const struct visit *visit)
{
    int index = visit->verdict.secret_index;
    const struct source *source = visit->source;
    if (index < 0 || (size_t)index >= source->n_secrets) {
        series_inc(metric(METRIC_VERIFIED, source->name, "none", NULL));
        return;
    }
    const struct secret *secret = &source->secrets[index];
    series_inc(metric(METRIC_VERIFIED, source->name, secret->credential, NULL));
    if (secret_used(secret, visit->received.now_s))
        series_set(metric(METRIC_SECRET_USED, source->name, secret->credential, NULL),
                (double)visit->received.now_s);
}

static bool check_signature(struct visit *visit)
{
    static const enum answer_row rows[] = {[VERDICT_OK] = ROW_RECEIVED,
            [VERDICT_REFUSED] = ROW_UNAUTHORIZED,
            [VERDICT_NO_KEY] = ROW_NO_KEY,
            [VERDICT_NO_SECRET] = ROW_NO_SECRET,
            [VERDICT_KEY_AWAY] = ROW_KEY_AWAY};
    const struct stages *stages = lane_options(visit->lane)->stages;
    visit->verdict = stages->verify(visit->source, &visit->received);
    if (visit->verdict.kind != VERDICT_OK) {
        // The next try has its key: it is not kept.
        if (visit->verdict.kind != VERDICT_KEY_AWAY)
            keep_refused(visit);
        reject(visit, rows[visit->verdict.kind], visit->verdict.reason);
        return false;
    }
    count_secret(visit);
    return true;
}

static void submit_arrival(const struct visit *visit, struct arrival *arrival)
{
    const struct lane_options *options = lane_options(visit->lane);
    struct parking parking = {.req = visit->req,
            .start_us = visit->start_us,
            .app = visit->verdict.app,
            .style = visit->verdict.style,
            .idempotency_key = visit->verdict.id};
    struct parked *parked = lane_park(visit->lane, &parking, arrival);
    bool full = false;
    if (options->stages->submit(options->stages->user, options->index, arrival, &full))
        return;
    lane_unpark(parked);
    arrival_free(arrival);
    answer(visit, full ? ROW_QUEUE_FULL : ROW_UNAVAILABLE);
}

static void submit(struct visit *visit)
{
    const char *wrong = NULL;
    struct arrival *arrival =
            taken_arrival(visit->source, &visit->received, &visit->verdict, &wrong);
    if (arrival)
        submit_arrival(visit, arrival);
    else
        reject(visit, strcmp(wrong, "inflated_too_large") == 0 ? ROW_TOO_LARGE : ROW_CODING, wrong);
}

// A link that is followed changes nothing (scanners follow every link): it shows the button that
// posts. Its page loads nothing and says nothing of who it is about.
static void show_button(const struct visit *visit)
{
    AUTO_GREETING struct greeting greeting = {.kind = GREETING_ANSWERED,
            .name = "unsubscribe",
            .status = 200,
            .content_type = "text/html; charset=utf-8"};
    text_init(&greeting.body, GREETING_BODY_MAX);
    text_str(&greeting.body,
            "<!doctype html><html lang=\"en\"><meta name=\"robots\" content=\"noindex\">"
            "<meta name=\"referrer\" content=\"no-referrer\"><title>Unsubscribe</title>"
            "<form method=\"post\"><input type=\"hidden\" name=\"List-Unsubscribe\" "
            "value=\"One-Click\"><p>No more messages of this kind?</p>"
            "<button>Unsubscribe</button></form></html>\n");
    struct answering to = {visit->req, "unsubscribe", visit->start_us, NULL, STYLE_DEFAULT};
    lane_greet(&to, &greeting);
}

// As a form or as multipart/form-data (RFC 8058, 3.1): the pair is in both.
static bool is_one_click(struct slice body)
{
    return slice_has(body, SLICE("List-Unsubscribe")) && slice_has(body, SLICE("One-Click"));
}

static void leave(struct visit *visit, const struct delivery_place *place)
{
    struct arrival *arrival = arrival_new(SLICE("unsubscribe"), SLICE(""), SLICE(""), SLICE(""));
    arrival->unsubscribes = true;
    arrival->place = *place;
    visit->verdict = (struct verdict){.kind = VERDICT_OK, .style = STYLE_UNSUBSCRIBED};
    submit_arrival(visit, arrival);
}

static void unsubscribe(struct visit *visit, const struct policy *policy, struct slice token)
{
    struct delivery_place place;
    bool post = slice_eq(visit->received.method, SLICE("POST"));
    bool get = slice_eq(visit->received.method, SLICE("GET"));
    if (!post && !get)
        reject(visit, ROW_LINK_METHOD, "method");
    else if (!unsubscribe_read(policy, token, visit->received.now_s, &place))
        reject(visit, ROW_NO_LINK, "unsubscribe_token");
    else if (get)
        show_button(visit);
    else if (!is_one_click(visit->received.body))
        reject(visit, ROW_NO_CLICK, "unsubscribe_body");
    else if (!rates_take_link(lane_options(visit->lane)->rates, token, visit->start_us))
        reject(visit, ROW_RATE, "unsubscribe_rate");
    else
        leave(visit, &place);
}

static void run_steps(struct visit *visit, const struct policy *policy)
{
    enum answer_row row;
    struct slice token;
    if (route_unsubscribe(visit->received.target, &token)) {
        unsubscribe(visit, policy, token);
        return;
    }
    const char *wrong = check_form(visit, policy, &row);
    if (wrong)
        reject(visit, row, wrong);
    else if (check_rate(visit) && !check_greeting(visit) && check_method(visit) &&
             check_coding(visit) && check_signature(visit))
        submit(visit);
}

void handle_request(struct lane *lane, h2o_req_t *req)
{
    struct visit visit;
    visit.lane = lane;
    visit.req = req;
    visit.start_us = clock_mono_us();
    visit.source = NULL;
    visit.verdict.style = STYLE_DEFAULT;
    enum head_fault fault = scan_raw_head(req);
    if (fault != HEAD_OK) {
        reject(&visit, ROW_MALFORMED, head_fault_name(fault));
        return;
    }
    describe(&visit);
    const struct stages *stages = lane_options(lane)->stages;
    struct policy *policy = stages->policy(stages->user);
    if (policy)
        run_steps(&visit, policy);
    else
        answer(&visit, ROW_UNAVAILABLE);
    policy_unref(policy);
}
