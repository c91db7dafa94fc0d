#include "common/daemon.h"

#include "common/clock.h"
#include "common/err.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_FD_FIRST 3
#define FEED_EVERY_MS 1000
#define BACKLOG 4096 // the kernel cuts it to net.core.somaxconn

static sigset_t handled(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void daemon_block_signals(void)
{
    sigset_t set = handled();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int daemon_signal_fd(void)
{
    sigset_t set = handled();
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int daemon_read_signal(int fd)
{
    struct signalfd_siginfo info;
    ssize_t n = read(fd, &info, sizeof info);
    return n == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void daemon_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    size_t len = strlen(path);
    memcpy(to.sun_path, path, len);
    if (path[0] == '@')
        to.sun_path[0] = '\0'; // an abstract socket
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to, to_len);
}

static long env_number(const char *name)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return -1;
    char *end;
    long n = strtol(text, &end, 10);
    return *end ? -1 : n;
}

int daemon_listen_fds(int max, struct err *err)
{
    long n = env_number("LISTEN_FDS");
    if (env_number("LISTEN_PID") != (long)getpid() || n <= 0)
        return 0;
    if (n > max) {
        err_set(err, ERR_INPUT,
                "%ld inherited sockets (LISTEN_FDS), at most %d: name fewer ListenStream= in the "
                "socket unit",
                n, max);
        return -1;
    }
    for (int fd = LISTEN_FD_FIRST; fd < LISTEN_FD_FIRST + (int)n; fd++) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    return (int)n;
}

// "host:port", "[v6]:port" or ":port" (all addresses) into its two parts.
static bool split_address(const char *address, char host[256], char port[8])
{
    const char *colon = strrchr(address, ':');
    if (!colon || strlen(colon + 1) == 0 || strlen(colon + 1) >= 8)
        return false;
    size_t len = (size_t)(colon - address);
    if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
        address++;
        len -= 2;
    }
    if (len >= 256)
        return false;
    memcpy(host, address, len);
    host[len] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return strspn(port, "0123456789") == strlen(port);
}

static int bind_one(const struct addrinfo *to)
{
    AUTO_CLOSE int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
        return -1;
    if (to->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, to->ai_addr, to->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
        return -1;
    int held = fd;
    fd = -1;
    return held;
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } addr = {.v6 = {0}};
    socklen_t len = sizeof addr;
    if (getsockname(fd, &addr.any, &len) != 0)
        return 0;
    return ntohs(addr.any.sa_family == AF_INET6 ? addr.v6.sin6_port : addr.v4.sin_port);
}

int daemon_listen(const char *address, int *ret_port, struct err *err)
{
    char host[256], port[8];
    if (!split_address(address, host, port)) {
        err_set(err, ERR_INPUT, "listen address '%s' is not address:port", address);
        return -1;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
    if (rc != 0) {
        err_set(err, ERR_INPUT, "listen address '%s': %s", address, gai_strerror(rc));
        return -1;
    }
    int fd = bind_one(found);
    int saved = errno;
    freeaddrinfo(found);
    if (fd < 0) {
        err_set(err, ERR_TEMP, "can't listen on '%s': %s", address, strerror(saved));
        return -1;
    }
    if (ret_port)
        *ret_port = port_of(fd);
    return fd;
}

void daemon_die_with_parent(int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
}

void daemon_guard_memory(void)
{
    const struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
#if !defined(PAWL_FAULTS) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

int64_t daemon_raise_files(int64_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    const rlim_t want = (rlim_t)wanted, was = limit.rlim_cur;
    if (limit.rlim_cur < want) {
        limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            limit.rlim_cur = was;
    }
    return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}

void daemon_feed_watchdog(int64_t *at_ms)
{
    int64_t now_ms = clock_mono_ms();
    if (*at_ms && now_ms - *at_ms < FEED_EVERY_MS)
        return;
    *at_ms = now_ms;
    daemon_notify("WATCHDOG=1");
}
