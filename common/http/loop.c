#include "common/http/loop.h"

#include "common/clock.h"
#include "common/http/problem.h"
#include "common/http/room.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

// Connections taken in one turn: few, so that the other loops, which wait on the same socket, get
// their share.
#define ACCEPTS_PER_TURN 4
// At the bound on connections, with others waiting: how often it is looked for room.
#define PRESSED_TURN_MS 50

#ifdef __SANITIZE_ADDRESS__
// h2o keeps a list of free blocks for each thread, and never frees the head of a message queue.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:h2o_mem_alloc_recycle\nleak:h2o_multithread_create_queue\n";
}
#endif

struct http_loop {
    struct http_loop_options options;
    h2o_globalconf_t config;
    h2o_context_t context;
    h2o_accept_ctx_t accept;
    h2o_multithread_receiver_t wake;
    h2o_socket_t *listeners[HTTP_LISTENERS_MAX];
    size_t n_listeners;
    int connections;
    struct room room;
    bool paused;  // the bound on connections is reached
    bool pressed; // and others wait
    bool draining;
    _Atomic int64_t turned_ms;
};

struct handler {
    h2o_handler_t super;
    struct http_loop *loop;
};

// One accepted connection; its socket's on_close.data.
struct connection {
    struct http_loop *loop;
    struct guest guest;
};

static struct connection *connection_of(const h2o_req_t *req)
{
    return req->conn->callbacks->get_socket(req->conn)->on_close.data;
}

// With the request's pool: it was answered, or its connection is about to end.
static void on_request_over(void *memory)
{
    struct connection *connection = *(struct connection **)memory;
    room_rest(&connection->loop->room, &connection->guest, clock_mono_ms());
}

static int on_request(h2o_handler_t *self, h2o_req_t *req)
{
    struct http_loop *loop = ((struct handler *)self)->loop;
    struct connection *connection = connection_of(req);
    struct connection **held = h2o_mem_alloc_shared(&req->pool, sizeof(*held), on_request_over);
    *held = connection;
    connection->guest.req = req;
    room_leave(&loop->room, &connection->guest);
    if (req->entity.len > loop->options.body_max)
        h2o_send_error_generic(req, 413, "Content Too Large", "", 0);
    else
        loop->options.on_request(loop->options.user, req);
    return 0;
}

static void on_connection(h2o_socket_t *listener, const char *err);

static void pause_accepting(struct http_loop *loop)
{
    loop->paused = true;
    for (size_t i = 0; i < loop->n_listeners; i++)
        h2o_socket_read_stop(loop->listeners[i]);
}

static void resume_accepting(struct http_loop *loop)
{
    loop->paused = loop->pressed = false;
    for (size_t i = 0; i < loop->n_listeners; i++)
        h2o_socket_read_start(loop->listeners[i], on_connection);
}

static void on_close(void *data)
{
    struct connection *connection = data;
    struct http_loop *loop = connection->loop;
    room_leave(&loop->room, &connection->guest);
    free(connection);
    loop->connections--;
    if (loop->paused)
        resume_accepting(loop);
}

static void on_connection(h2o_socket_t *listener, const char *err)
{
    struct http_loop *loop = listener->data;
    for (int i = 0; i < ACCEPTS_PER_TURN && !err; i++) {
        if (loop->connections >= loop->options.connections) {
            pause_accepting(loop);
            return;
        }
        h2o_socket_t *sock = h2o_evloop_socket_accept(listener);
        if (!sock)
            return;
        loop->connections++;
        sock->on_close.cb = on_close;
        struct connection *connection = xmalloc(sizeof *connection);
        *connection = (struct connection){.loop = loop};
        room_rest(&loop->room, &connection->guest, clock_mono_ms());
        sock->on_close.data = connection;
        h2o_accept(&loop->accept, sock);
    }
}

// The wake-up itself is all: nothing is carried by it.
static void on_wake(h2o_multithread_receiver_t *receiver, h2o_linklist_t *messages)
{
    (void)receiver;
    (void)messages;
}

// Every request goes to the fallback path: routing is the handler's, on the target's own bytes.
static void configure(struct http_loop *loop)
{
    h2o_globalconf_t *config = &loop->config;
    h2o_config_init(config);
    config->server_name = h2o_iovec_init(H2O_STRLIT("pawl"));
    config->http1.upgrade_to_http2 = 0;
    config->http1.req_timeout = HTTP_REQUEST_TIMEOUT_MS;
    // A body in chunks is refused from this many bytes on, one with a length above them.
    config->max_request_entity_size = loop->options.body_max + 1;
    h2o_hostconf_t *host =
            h2o_config_register_host(config, h2o_iovec_init(H2O_STRLIT("default")), 65535);
    struct handler *handler =
            (struct handler *)h2o_create_handler(&host->fallback_path, sizeof *handler);
    handler->super.on_req = on_request;
    handler->loop = loop;
    problem_filter(&host->fallback_path);
}

static bool add_listener(struct http_loop *loop, int fd, struct err *err)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return err_set(err, ERR_FATAL, "can't duplicate a listening socket: %s", strerror(errno));
    h2o_socket_t *sock =
            h2o_evloop_socket_create(loop->context.loop, own, H2O_SOCKET_FLAG_DONT_READ);
    sock->data = loop;
    loop->listeners[loop->n_listeners++] = sock;
    h2o_socket_read_start(sock, on_connection);
    return true;
}

struct http_loop *http_loop_new(const struct http_loop_options *options, struct err *err)
{
    if (options->n_fds > HTTP_LISTENERS_MAX) {
        err_set(err, ERR_INPUT, "more than %d listen addresses", HTTP_LISTENERS_MAX);
        return NULL;
    }
    struct http_loop *loop = xcalloc(1, sizeof *loop);
    loop->options = *options;
    loop->turned_ms = clock_mono_ms();
    configure(loop);
    // A socket's buffers come from a free list of the thread that made the socket, without a lock.
    // The wake-up pipe is made here, in main, but read by the loop's thread: so main's list stays
    // empty, and those buffers are malloc's. Connections are made by the loop's own thread and keep
    // theirs.
    h2o_socket_buffer_prototype.allocator.max = 0;
    h2o_context_init(&loop->context, h2o_evloop_create(), &loop->config);
    loop->accept.ctx = &loop->context;
    loop->accept.hosts = loop->config.hosts;
    h2o_multithread_register_receiver(loop->context.queue, &loop->wake, on_wake);
    for (size_t i = 0; i < options->n_fds; i++) {
        if (!add_listener(loop, options->fds[i], err)) {
            http_loop_free(loop);
            return NULL;
        }
    }
    return loop;
}

static void close_listeners(struct http_loop *loop)
{
    for (size_t i = 0; i < loop->n_listeners; i++) {
        h2o_socket_read_stop(loop->listeners[i]);
        h2o_socket_close(loop->listeners[i]);
    }
    loop->n_listeners = 0;
}

void http_loop_free(struct http_loop *loop)
{
    if (!loop)
        return;
    close_listeners(loop);
    // h2o can't dispose of a loop below an open connection; the process is about to end anyway.
    if (loop->connections > 0)
        return;
    h2o_multithread_unregister_receiver(loop->context.queue, &loop->wake);
    h2o_loop_t *evloop = loop->context.loop;
    h2o_context_dispose(&loop->context);
    h2o_config_dispose(&loop->config);
    h2o_evloop_run(evloop, 0); // closed sockets are freed at the end of a turn
    h2o_evloop_destroy(evloop);
    free(loop);
}

// A request whose head is not yet read has no version: its connection is idle, or slow. It ends by
// closing the reading side, which h2o then finds closed.
static void end_reading(h2o_req_t *req)
{
    shutdown(h2o_socket_get_fd(req->conn->callbacks->get_socket(req->conn)), SHUT_RD);
}

static bool others_wait(const struct http_loop *loop)
{
    struct pollfd fds[HTTP_LISTENERS_MAX];
    for (size_t i = 0; i < loop->n_listeners; i++)
        fds[i] = (struct pollfd){.fd = h2o_socket_get_fd(loop->listeners[i]), .events = POLLIN};
    return poll(fds, loop->n_listeners, 0) > 0;
}

static int learn_one(h2o_req_t *req, void *unused)
{
    (void)unused;
    connection_of(req)->guest.req = req;
    return 0;
}

static void learn_all(void *context)
{
    struct http_loop *loop = context;
    loop->config.http1.callbacks.foreach_request(&loop->context, learn_one, NULL);
}

// Idle keep-alive connections must not keep others out until their timeout, nor must half a body:
// the oldest go first. Those in use say "Connection: close" with their next answer (http_reply).
static void make_room(struct http_loop *loop)
{
    loop->pressed = others_wait(loop);
    for (int i = 0; loop->pressed && i < ACCEPTS_PER_TURN; i++) {
        h2o_req_t *gone = room_oldest(&loop->room, clock_mono_ms(), learn_all, loop);
        if (!gone)
            return;
        room_leave(&loop->room, &connection_of(gone)->guest);
        end_reading(gone);
    }
}

void http_loop_turn(struct http_loop *loop, int wait_ms)
{
    if (loop->paused) {
        make_room(loop);
        wait_ms = wait_ms < PRESSED_TURN_MS ? wait_ms : PRESSED_TURN_MS;
    }
    // -1 with EINTR is a turn without events.
    h2o_evloop_run(loop->context.loop, wait_ms);
    loop->turned_ms = clock_mono_ms();
}

int64_t http_loop_turned_ms(const struct http_loop *loop)
{
    return loop->turned_ms;
}

void http_loop_wake(struct http_loop *loop)
{
    h2o_multithread_send_message(&loop->wake, NULL);
}

// h2o leaves idle keep-alive connections open until their timeout.
static int close_idle(h2o_req_t *req, void *unused)
{
    (void)unused;
    if (req->version == 0)
        end_reading(req);
    return 0;
}

void http_loop_drain(struct http_loop *loop)
{
    if (!loop->draining) {
        loop->draining = true;
        loop->paused = loop->pressed = false;
        close_listeners(loop);
        // h2o_context_request_shutdown() would also start HTTP/2's timer, which nothing ends.
        loop->context.shutdown_requested = 1;
    }
    loop->config.http1.callbacks.foreach_request(&loop->context, close_idle, NULL);
}

// Both ways: neither half a body nor an answer that is not read goes on.
static int cut(h2o_req_t *req, void *unused)
{
    (void)unused;
    shutdown(h2o_socket_get_fd(req->conn->callbacks->get_socket(req->conn)), SHUT_RDWR);
    return 0;
}

void http_loop_cut(struct http_loop *loop)
{
    loop->config.http1.callbacks.foreach_request(&loop->context, cut, NULL);
}

int http_loop_connections(const struct http_loop *loop)
{
    return loop->connections;
}

h2o_context_t *http_loop_context(struct http_loop *loop)
{
    return &loop->context;
}

void http_reply_header(h2o_req_t *req, const char *name, const char *value)
{
    h2o_add_header_by_str(
            &req->pool, &req->res.headers, name, strlen(name), 1, NULL, value, strlen(value));
}

void http_reply(h2o_req_t *req, const struct http_reply *reply)
{
    const struct http_loop *loop = connection_of(req)->loop;
    if (reply->close || loop->pressed || req->conn->ctx->shutdown_requested)
        req->http1_is_persistent = 0;
    req->res.status = reply->status;
    req->res.reason = reply->reason;
    // RFC 9110 §8.6: a 204 has no length.
    req->res.content_length = reply->status == 204 ? SIZE_MAX : reply->body.len;
    if (reply->content_type)
        h2o_add_header(&req->pool, &req->res.headers, H2O_TOKEN_CONTENT_TYPE, NULL,
                reply->content_type, strlen(reply->content_type));
    h2o_send_inline(req, reply->body.len ? (const char *)reply->body.ptr : "", reply->body.len);
}
