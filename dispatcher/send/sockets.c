#include "dispatcher/send/carrier.h"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

void sockets_fini(struct sockets *sockets)
{
    free(sockets->rows);
    *sockets = (struct sockets){0};
}

void sockets_add(struct sockets *sockets, curl_socket_t fd)
{
    if (sockets->n == sockets->room) {
        sockets->room = sockets->room ? sockets->room * 2 : 16;
        sockets->rows = xrealloc(sockets->rows, sockets->room * sizeof *sockets->rows);
    }
    sockets->rows[sockets->n++] = (struct socket_row){.fd = fd};
}

int sockets_close(void *user, curl_socket_t fd)
{
    struct sockets *sockets = user;
    for (size_t i = 0; i < sockets->n; i++) {
        if (sockets->rows[i].fd != fd)
            continue;
        sockets->rows[i] = sockets->rows[--sockets->n];
        break;
    }
    return close(fd);
}

static int local_port(curl_socket_t fd)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return 0;
    // RFC 3493: the port stands at the same place in both families.
    struct sockaddr_in v4;
    memcpy(&v4, &address, sizeof v4);
    return ntohs(v4.sin_port);
}

// Two connections to different hosts may share a local port: then both must be quiet.
bool sockets_quiet(struct sockets *sockets, int port)
{
    for (size_t i = 0; i < sockets->n; i++) {
        struct socket_row *row = &sockets->rows[i];
        if (row->port == 0)
            row->port = local_port(row->fd);
        struct pollfd wait = {.fd = row->fd, .events = POLLIN};
        if (row->port == port && poll(&wait, 1, 0) != 0)
            return false;
    }
    return true;
}
