#include "cli/up/ports.h"

#include "common/daemon.h"
#include "common/err.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PORTS_TRIED 200

static int reserve(int port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "pawl-up-port-%d", port);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, size) != 0)
        return -1;
    int held = fd;
    fd = -1;
    return held;
}

static bool nobody_listens(int port)
{
    char address[32];
    struct err ignored;
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    AUTO_CLOSE int fd = daemon_listen(address, NULL, &ignored);
    return fd >= 0;
}

static bool take_one(struct ports *ports, int port)
{
    AUTO_CLOSE int fd = ports->n < PORTS_MAX ? reserve(port) : -1;
    if (fd < 0 || !nobody_listens(port))
        return false;
    ports->held[ports->n++] = fd;
    fd = -1;
    return true;
}

static void drop_to(struct ports *ports, size_t n)
{
    while (ports->n > n)
        close(ports->held[--ports->n]);
}

int ports_take(struct ports *ports, int from, int n)
{
    size_t before = ports->n;
    for (int port = from; port < from + PORTS_TRIED; port++) {
        while (ports->n < before + (size_t)n && take_one(ports, port + (int)(ports->n - before)))
            continue;
        if (ports->n == before + (size_t)n)
            return port;
        drop_to(ports, before);
    }
    return 0;
}

void ports_free(struct ports *ports)
{
    drop_to(ports, 0);
}
