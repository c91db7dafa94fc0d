// A load generator: signed requests made beforehand, sent over keep-alive connections, each sending
// its next when the answer is there. Prints one JSON line.
#include "common/clock.h"
#include "tests/bench/receive/requests.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define ANSWER_MAX 8192
#define BIN_US 10 // width of a histogram's bin
#define BINS (10 * 1000 * 1000 / BIN_US)
#define REPEAT_NEAREST 512 // a repeat is of an event at least so long ago: its first was answered
#define REPEAT_SPREAD 2048
#define GRACE_MS 3000 // for what is in flight at the end

struct conn {
    int fd;
    const struct request *request; // in flight, NULL = idle
    size_t sent;
    int64_t start_us;
    char answer[ANSWER_MAX];
    size_t got;
};

struct load {
    struct requests *requests;
    int port, connections, epoll;
    int repeat_percent;
    int64_t stop_us, last_us;
    size_t next;
    uint64_t random;
    struct conn *conns;
    uint32_t *bins;
    long ok, other, broken, repeats, in_flight;
    int first_other; // status of the first answer that is not 200
    bool ran_out;
};

static const struct request *next_request(struct load *load)
{
    load->random = event_mix(load->random);
    bool repeat = (int)(load->random % 100) < load->repeat_percent;
    if (repeat && load->next > REPEAT_NEAREST) {
        size_t most = load->next - REPEAT_NEAREST < REPEAT_SPREAD ? load->next - REPEAT_NEAREST
                                                                  : REPEAT_SPREAD;
        load->repeats++;
        return &load->requests->items[load->next - REPEAT_NEAREST - (load->random >> 32) % most];
    }
    if (load->next == load->requests->n) {
        load->ran_out = true;
        return NULL;
    }
    return &load->requests->items[load->next++];
}

static bool push(struct conn *conn)
{
    while (conn->sent < conn->request->len) {
        ssize_t n = send(conn->fd, conn->request->bytes + conn->sent,
                conn->request->len - conn->sent, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        conn->sent += (size_t)n;
    }
    return true;
}

static void start_next(struct load *load, struct conn *conn, int64_t now_us)
{
    const struct request *request = now_us < load->stop_us ? next_request(load) : NULL;
    conn->request = request;
    if (!request)
        return;
    conn->sent = conn->got = 0;
    conn->start_us = now_us;
    load->in_flight++;
    if (!push(conn))
        conn->got = ANSWER_MAX; // told by the next event on the socket
}

static bool open_conn(struct load *load, struct conn *conn)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
            .sin_port = htons((uint16_t)load->port),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    conn->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (conn->fd < 0 || connect(conn->fd, (struct sockaddr *)&to, sizeof to) != 0)
        return false;
    setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(conn->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = conn};
    return epoll_ctl(load->epoll, EPOLL_CTL_ADD, conn->fd, &event) == 0;
}

// Status of a whole answer, 0 = not whole yet, -1 = not an answer with a length.
static int whole_answer(const struct conn *conn)
{
    const char *end = memmem(conn->answer, conn->got, "\r\n\r\n", 4);
    if (!end)
        return 0;
    size_t head = (size_t)(end - conn->answer) + 4;
    const char *length = NULL;
    for (const char *at = conn->answer; at < end && !length; at++)
        if (strncasecmp(at, "\ncontent-length:", 16) == 0)
            length = at + 16;
    if (!length || conn->got < 13)
        return -1;
    if (conn->got < head + strtoul(length, NULL, 10))
        return 0;
    return (int)strtol(conn->answer + 9, NULL, 10);
}

static void answered(struct load *load, struct conn *conn, int status, int64_t now_us)
{
    int64_t took = (now_us - conn->start_us) / BIN_US;
    load->bins[took < BINS ? took : BINS - 1]++;
    load->in_flight--;
    load->last_us = now_us;
    if (status == 200) {
        load->ok++;
    } else if (load->other++ == 0) {
        load->first_other = status;
        fprintf(stderr, "load: not 200: %.*s\n", (int)conn->got, conn->answer);
    }
    start_next(load, conn, now_us);
}

static void give_up(struct load *load, struct conn *conn)
{
    load->broken++;
    load->in_flight -= conn->request != NULL;
    conn->request = NULL;
    close(conn->fd);
    conn->fd = -1;
}

static void pull(struct load *load, struct conn *conn)
{
    while (conn->fd >= 0) {
        ssize_t n = conn->got < ANSWER_MAX
                            ? recv(conn->fd, conn->answer + conn->got, ANSWER_MAX - conn->got, 0)
                            : 0;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            give_up(load, conn);
            return;
        }
        conn->got += (size_t)n;
        int status = whole_answer(conn);
        if (status < 0)
            give_up(load, conn);
        else if (status > 0)
            answered(load, conn, status, clock_mono_us());
    }
}

static void run(struct load *load, double seconds)
{
    struct epoll_event events[256];
    int64_t start_us = clock_mono_us();
    load->stop_us = start_us + (int64_t)(seconds * 1e6);
    for (int i = 0; i < load->connections; i++)
        start_next(load, &load->conns[i], clock_mono_us());
    while (load->in_flight > 0 && clock_mono_us() < load->stop_us + GRACE_MS * 1000) {
        int n = epoll_wait(load->epoll, events, 256, 100);
        for (int i = 0; i < n; i++) {
            struct conn *conn = events[i].data.ptr;
            if ((events[i].events & EPOLLOUT) && conn->request && !push(conn))
                give_up(load, conn);
            pull(load, conn);
        }
    }
}

static double quantile_ms(const struct load *load, double q)
{
    uint64_t total = 0, seen = 0;
    for (int i = 0; i < BINS; i++)
        total += load->bins[i];
    for (int i = 0; i < BINS; i++) {
        seen += load->bins[i];
        if (seen > 0 && (double)seen >= q * (double)total)
            return (double)(i + 1) * BIN_US / 1000.0;
    }
    return 0;
}

static void print(const struct load *load, int64_t start_us)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(load->last_us - start_us) / 1e6;
    printf("{\"answered\": %ld, \"seconds\": %.3f, \"repeats\": %ld, \"other\": %ld, "
           "\"first_other\": %d, "
           "\"broken\": %ld, \"lost\": %ld, \"ran_out\": %s, \"distinct\": %zu, \"p50_ms\": %.2f, "
           "\"p99_ms\": %.2f, \"max_ms\": %.2f, \"cpu_s\": %.3f}\n",
            load->ok, seconds, load->repeats, load->other, load->first_other, load->broken,
            load->in_flight, load->ran_out ? "true" : "false", load->next, quantile_ms(load, 0.5),
            quantile_ms(load, 0.99), quantile_ms(load, 1),
            (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                    (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6);
}

int main(int argc, char **argv)
{
    if (argc != 9) {
        fprintf(stderr, "usage: load PORT PATH SECRET RUN EVENTS CONNECTIONS SECONDS REPEAT%%\n");
        return 2;
    }
    struct load load = {.port = (int)strtol(argv[1], NULL, 10),
            .connections = (int)strtol(argv[6], NULL, 10),
            .repeat_percent = (int)strtol(argv[8], NULL, 10),
            .epoll = epoll_create1(0)};
    uint64_t run_number = strtoull(argv[4], NULL, 10);
    load.random = event_mix(run_number);
    if (load.connections < 1 || load.connections > CONNECTIONS_MAX)
        return 2;
    load.requests = requests_new(argv[2], argv[3], run_number, strtoul(argv[5], NULL, 10));
    load.conns = xcalloc((size_t)load.connections, sizeof *load.conns);
    load.bins = xcalloc(BINS, sizeof *load.bins);
    for (int i = 0; i < load.connections; i++) {
        if (!open_conn(&load, &load.conns[i])) {
            fprintf(stderr, "load: could not connect: %s\n", strerror(errno));
            return 1;
        }
    }
    struct rusage before;
    getrusage(RUSAGE_SELF, &before);
    int64_t start_us = clock_mono_us();
    run(&load, strtod(argv[7], NULL));
    print(&load, start_us);
    requests_free(load.requests);
    free(load.conns);
    free(load.bins);
    return 0;
}
