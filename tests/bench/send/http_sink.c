// http_sink.c: takes every HTTP/1.1 request and answers 200 with a small JSON body: http_sink PORT.
//
// The cheapest server that both contestants can send to: one thread, epoll, nothing is kept.
#include "common/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 64 * 1024, EVENTS = 64 };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Content-Length: 45\r\n\r\n"
                             "{\"id\":\"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794\"}";

struct conn {
    int fd;
    size_t have;
    char data[ROOM + 1];
};

static int listen_on(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
            .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 512) == 0;
    return ok ? fd : -1;
}

// Bytes of the request at the start of what is there; 0 = it is not whole.
static size_t whole_request(struct conn *conn)
{
    conn->data[conn->have] = '\0';
    const char *end = strstr(conn->data, "\r\n\r\n");
    const char *length = end ? strcasestr(conn->data, "\r\ncontent-length:") : NULL;
    size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
    size_t size = end ? (size_t)(end - conn->data) + 4 + body : 0;
    return size && size <= conn->have ? size : 0;
}

static bool serve(struct conn *conn)
{
    ssize_t got = read(conn->fd, conn->data + conn->have, ROOM - conn->have);
    if (got <= 0)
        return false;
    conn->have += (size_t)got;
    for (size_t size; (size = whole_request(conn)) > 0;) {
        if (write(conn->fd, answer, sizeof answer - 1) != (ssize_t)sizeof answer - 1)
            return false;
        conn->have -= size;
        memmove(conn->data, conn->data + size, conn->have);
    }
    return conn->have < ROOM;
}

static void take(int poll, int listener)
{
    struct conn *conn = xcalloc(1, sizeof *conn);
    conn->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
    if (conn->fd < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, conn->fd, &event) != 0)
        free(conn);
}

static void turn(int poll, int listener)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(poll, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
        struct conn *conn = events[i].data.ptr;
        if (!conn) {
            take(poll, listener);
        } else if (!serve(conn)) {
            close(conn->fd);
            free(conn);
        }
    }
}

int main(int argc, char **argv)
{
    int listener = argc == 2 ? listen_on(argv[1]) : -1, poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (listener < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) != 0) {
        fprintf(stderr, "usage: http_sink PORT\n");
        return 64;
    }
    for (;;)
        turn(poll, listener);
}
