#include "common/http/admin.h"

#include "common/daemon.h"
#include "common/http/loop.h"
#include "common/http/problem.h"
#include "common/metrics.h"

#include <pthread.h>
#include <stdatomic.h>

#define CONNECTIONS_MAX 64
#define BODY_MAX 1024
#define METRICS_MAX ((size_t)16 << 20)
#define CHECKS_MAX ((size_t)256 << 10)
#define STOP_GRACE_TURNS 20

struct admin {
    struct admin_options options;
    struct http_loop *loop;
    pthread_t thread;
    int port;
    atomic_bool stop;
};

static void answer(h2o_req_t *req, int status, const char *type, struct slice body)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{200, "OK"}, {404, "Not Found"}, {405, "Method Not Allowed"},
            {500, "Internal Server Error"}, {503, "Service Unavailable"}};
    size_t i = 0;
    while (i < ARRAY_LEN(reasons) - 1 && reasons[i].status != status)
        i++;
    struct http_reply reply = {
            .status = status, .reason = reasons[i].reason, .content_type = type, .body = body};
    http_reply(req, &reply);
}

static void answer_metrics(struct admin *admin, h2o_req_t *req)
{
    (void)admin;
    AUTO_TEXT struct text out;
    text_init(&out, METRICS_MAX);
    if (!metrics_write(&out)) {
        answer(req, 500, PROBLEM_TYPE,
                SLICE("{\"title\":\"too many series\",\"status\":500,"
                      "\"code\":\"metrics_overflow\"}\n"));
        return;
    }
    answer(req, 200, "text/plain; version=0.0.4; charset=utf-8", text_slice(&out));
}

static void answer_livez(struct admin *admin, h2o_req_t *req)
{
    if (!admin->options.live || admin->options.live(admin->options.user))
        answer(req, 200, "application/json", SLICE("{\"status\":\"alive\"}\n"));
    else
        answer(req, 503, PROBLEM_TYPE,
                SLICE("{\"type\":\"about:blank\",\"title\":\"A loop does not turn\",\"status\":503,"
                      "\"code\":\"not_alive\"}\n"));
}

// A check that failed without making the process unready is a degradation: 200, so that a load
// balancer keeps sending what does work.
static void answer_readyz(struct admin *admin, h2o_req_t *req)
{
    AUTO_TEXT struct text checks;
    text_init(&checks, CHECKS_MAX);
    bool ready = !admin->options.ready || admin->options.ready(admin->options.user, &checks);
    bool all_ok = !strstr(text_cstr(&checks), "\"ok\":false");
    AUTO_TEXT struct text body;
    text_init(&body, CHECKS_MAX + 256);
    if (ready)
        text_fmt(&body, "{\"status\":\"%s\",\"checks\":[%s]}\n", all_ok ? "ready" : "degraded",
                text_cstr(&checks));
    else
        text_fmt(&body,
                "{\"type\":\"about:blank\",\"title\":\"Not ready\",\"status\":503,"
                "\"code\":\"not_ready\",\"checks\":[%s]}\n",
                text_cstr(&checks));
    answer(req, ready ? 200 : 503, ready ? "application/json" : PROBLEM_TYPE, text_slice(&body));
}

static bool is_read(const h2o_req_t *req)
{
    return h2o_memis(req->method.base, req->method.len, H2O_STRLIT("GET")) ||
           h2o_memis(req->method.base, req->method.len, H2O_STRLIT("HEAD"));
}

static void on_request(void *user, h2o_req_t *req)
{
    static const struct {
        const char *path;
        void (*answer)(struct admin *, h2o_req_t *);
    } routes[] = {
            {"/metrics", answer_metrics}, {"/livez", answer_livez}, {"/readyz", answer_readyz}};
    size_t len = req->query_at == SIZE_MAX ? req->path.len : req->query_at;
    struct slice path = {(const unsigned char *)req->path.base, len};
    size_t i = 0;
    while (i < ARRAY_LEN(routes) && !slice_eq(path, slice_of(routes[i].path)))
        i++;
    if (i == ARRAY_LEN(routes)) {
        answer(req, 404, PROBLEM_TYPE,
                SLICE("{\"type\":\"about:blank\",\"title\":\"Not Found\","
                      "\"status\":404,\"code\":\"not_found\"}\n"));
    } else if (!is_read(req)) {
        http_reply_header(req, "allow", "GET, HEAD");
        answer(req, 405, PROBLEM_TYPE,
                SLICE("{\"type\":\"about:blank\",\"title\":\"Method Not Allowed\",\"status\":405,"
                      "\"code\":\"method_not_allowed\"}\n"));
    } else {
        routes[i].answer(user, req);
    }
}

static void *run(void *arg)
{
    struct admin *admin = arg;
    while (!admin->stop)
        http_loop_turn(admin->loop, 1000);
    for (int i = 0; i < STOP_GRACE_TURNS; i++) {
        http_loop_drain(admin->loop);
        if (http_loop_connections(admin->loop) == 0)
            break;
        http_loop_turn(admin->loop, 10);
    }
    return NULL;
}

struct admin *admin_start(const struct admin_options *options, struct err *err)
{
    int port = 0;
    AUTO_CLOSE int fd = daemon_listen(options->listen, &port, err);
    if (fd < 0) {
        err_prefix(err, "admin");
        return NULL;
    }
    AUTO_FREE struct admin *admin = xcalloc(1, sizeof *admin);
    admin->options = *options;
    admin->port = port;
    struct http_loop_options loop = {.fds = &fd,
            .n_fds = 1,
            .connections = CONNECTIONS_MAX,
            .body_max = BODY_MAX,
            .on_request = on_request,
            .user = admin};
    admin->loop = http_loop_new(&loop, err);
    if (!admin->loop)
        return NULL;
    int rc = pthread_create(&admin->thread, NULL, run, admin);
    if (rc != 0) {
        http_loop_free(admin->loop);
        err_set(err, ERR_FATAL, "can't start the admin thread: %s", strerror(rc));
        return NULL;
    }
    return steal(&admin);
}

int admin_port(const struct admin *admin)
{
    return admin->port;
}

void admin_stop(struct admin *admin)
{
    if (!admin)
        return;
    admin->stop = true;
    http_loop_wake(admin->loop);
    pthread_join(admin->thread, NULL);
    http_loop_free(admin->loop); // not by the thread: it may see the stop before its waking is over
    free(admin);
}
