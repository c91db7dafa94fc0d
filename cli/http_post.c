#include "cli/http_post.h"

#include "common/clock.h"
#include "common/text.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX (64 << 10)

bool http_target_of(const char *url, struct http_target *ret_target, struct err *err)
{
    const char *at = strncmp(url, "http://", 7) == 0 ? url + 7 : url;
    size_t len = strcspn(at, "/");
    char text[264] = "";
    memcpy(text, at, len < sizeof text ? len : sizeof text - 1);
    char *colon = strrchr(text, ':');
    if (strstr(at, "://") || !colon || strlen(colon + 1) > 5 || colon[1] == '\0' ||
            strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return err_set(err, ERR_INPUT, "'%.100s' is not http://host:port", url);
    *colon = '\0';
    char *host = text;
    if (host[0] == '[' && colon > host + 1 && colon[-1] == ']') {
        colon[-1] = '\0';
        host++;
    }
    if (!*host || strcmp(host, "0.0.0.0") == 0)
        snprintf(ret_target->host, sizeof ret_target->host, "127.0.0.1");
    else
        snprintf(ret_target->host, sizeof ret_target->host, "%.255s",
                strcmp(host, "::") == 0 ? "::1" : host);
    snprintf(ret_target->port, sizeof ret_target->port, "%.5s", colon + 1);
    return true;
}

static bool wait_for(int fd, short events, int64_t deadline_ms)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = deadline_ms - clock_mono_ms();
    return left > 0 && poll(&p, 1, (int)left) == 1;
}

static int dial_one(const struct addrinfo *to, int64_t deadline_ms)
{
    AUTO_CLOSE int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = fd < 0 ? -1 : connect(fd, to->ai_addr, to->ai_addrlen);
    int failed = 0;
    socklen_t len = sizeof failed;
    if (fd < 0 || (rc != 0 && (errno != EINPROGRESS || !wait_for(fd, POLLOUT, deadline_ms) ||
                                      getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) != 0 ||
                                      failed != 0)))
        return -1;
    int held = fd;
    fd = -1;
    return held;
}

// "localhost" is ::1 and 127.0.0.1, and the program may listen at the second alone.
static int dial(const struct http_target *target, int64_t deadline_ms)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(target->host, target->port, &hints, &found) != 0)
        return -1;
    int fd = -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = dial_one(at, deadline_ms);
    freeaddrinfo(found);
    return fd;
}

static bool send_all(int fd, struct slice bytes, int64_t deadline_ms)
{
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && (errno != EAGAIN || !wait_for(fd, POLLOUT, deadline_ms)))
            return false;
        if (n > 0)
            bytes = (struct slice){bytes.ptr + n, bytes.len - (size_t)n};
    }
    return true;
}

// Reads to the end of the connection: it was asked to be closed.
static bool read_all(int fd, struct text *in, int64_t deadline_ms)
{
    unsigned char part[4096];
    for (;;) {
        ssize_t n = recv(fd, part, sizeof part, 0);
        if (n == 0)
            return true;
        if (n < 0 && (errno != EAGAIN || !wait_for(fd, POLLIN, deadline_ms)))
            return false;
        if (n > 0 && !text_add(in, (struct slice){part, (size_t)n}))
            return true;
    }
}

static int status_of(const struct text *in)
{
    const char *text = text_cstr(in);
    if (strncmp(text, "HTTP/1.", 7) != 0 || strlen(text) < 12)
        return 0;
    long status = strtol(text + 9, NULL, 10);
    return status >= 100 && status <= 599 ? (int)status : 0;
}

static bool exchange(int fd, const struct http_target *target, const struct http_request *request,
        int64_t deadline_ms, struct text *in)
{
    AUTO_TEXT struct text head = {0};
    text_init(&head, HEAD_MAX);
    bool v6 = strchr(target->host, ':') != NULL;
    text_fmt(&head, "%s %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\n", request->method,
            request->path, v6 ? "[" : "", target->host, v6 ? "]" : "", target->port);
    if (request->body.len > 0)
        text_fmt(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                request->body.len);
    text_add(&head, request->headers);
    text_str(&head, "\r\n");
    return !head.overflow && send_all(fd, text_slice(&head), deadline_ms) &&
           send_all(fd, request->body, deadline_ms) && read_all(fd, in, deadline_ms);
}

void http_exchange_read(const struct http_target *target, const struct http_request *request,
        struct http_answer *ret_answer, struct text *in)
{
    int64_t from_us = clock_mono_us();
    int64_t deadline_ms = clock_mono_ms() + request->timeout_ms;
    *ret_answer = (struct http_answer){0};
    AUTO_CLOSE int fd = dial(target, deadline_ms);
    ret_answer->reached = fd >= 0;
    if (fd < 0)
        snprintf(ret_answer->why, sizeof ret_answer->why, "nobody answers at %.80s:%s",
                target->host, target->port);
    else if (!exchange(fd, target, request, deadline_ms, in))
        snprintf(ret_answer->why, sizeof ret_answer->why, "no answer within %d ms",
                request->timeout_ms);
    ret_answer->status = status_of(in);
    if (ret_answer->status == 0 && !ret_answer->why[0])
        snprintf(ret_answer->why, sizeof ret_answer->why, "what came is no HTTP answer");
    ret_answer->took_us = clock_mono_us() - from_us;
}

void http_exchange(const struct http_target *target, const struct http_request *request,
        struct http_answer *ret_answer)
{
    AUTO_TEXT struct text in = {0};
    text_init(&in, HTTP_ANSWER_MAX);
    http_exchange_read(target, request, ret_answer, &in);
}

struct copies {
    const struct http_target *target;
    const struct http_request *request;
    struct http_answer *answers;
    size_t n;
    atomic_size_t next;
};

static void *send_copies(void *arg)
{
    struct copies *copies = arg;
    for (size_t i = atomic_fetch_add(&copies->next, 1); i < copies->n;
            i = atomic_fetch_add(&copies->next, 1))
        http_exchange(copies->target, copies->request, &copies->answers[i]);
    return NULL;
}

void http_copies(const struct http_target *target, const struct http_request *request, size_t n,
        size_t parallel, struct http_answer *answers)
{
    struct copies copies = {.target = target, .request = request, .answers = answers, .n = n};
    pthread_t threads[HTTP_PARALLEL_MAX];
    size_t started = 0;
    while (started + 1 < parallel && started < HTTP_PARALLEL_MAX &&
            pthread_create(&threads[started], NULL, send_copies, &copies) == 0)
        started++;
    send_copies(&copies); // this thread is one of them
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
