#include "cli/sink/sink.h"

#include "cli/sink/session.h"
#include "common/clock.h"
#include "common/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_LINE_MAX 512

struct client {
    int fd; // 0 = free
    int64_t heard_ms;
    struct session session;
};

struct sink {
    const char *dir;
    FILE *log;
    int64_t mails;
    struct client clients[SINK_CLIENTS];
};

static bool write_mail(struct sink *sink, const struct session *session, char name[32])
{
    char path[512];
    snprintf(name, 32, "%04d.eml", (int)(sink->mails % SINK_FILES));
    snprintf(path, sizeof path, "%.470s/%s", sink->dir, name);
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    bool ok = fwrite(text_cstr(&session->mail), 1, session->mail.len, file) == session->mail.len;
    return fclose(file) == 0 && ok;
}

static bool store(void *ctx, struct session *session)
{
    struct sink *sink = ctx;
    char name[32], now[32];
    snprintf(session->kept_as, sizeof session->kept_as, "%llX", (unsigned long long)clock_now_us());
    if (!write_mail(sink, session, name))
        return false;
    sink->mails++;
    clock_rfc3339(clock_now_us(), now);
    for (size_t i = 0; i < session->n_recipients; i++)
        fprintf(sink->log, "%s\t%s\t%zu\t%s\n", now, session->recipients[i], session->mail.len,
                name);
    return fflush(sink->log) == 0;
}

static void drop(struct client *client)
{
    close(client->fd);
    session_fini(&client->session);
    *client = (struct client){0};
}

static void take_client(struct sink *sink, int listen_fd)
{
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (size_t i = 0; i < SINK_CLIENTS; i++) {
        struct client *client = &sink->clients[i];
        if (client->fd != 0)
            continue;
        client->fd = fd;
        client->heard_ms = clock_mono_ms();
        session_init(&client->session);
        return;
    }
    close(fd);
}

static bool flush(struct client *client)
{
    struct text *out = &client->session.out;
    if (out->len == 0)
        return true;
    ssize_t n = send(client->fd, out->ptr, out->len, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN;
    out->len -= (size_t)n;
    memmove(out->ptr, out->ptr + n, out->len);
    return true;
}

static bool hear(struct sink *sink, struct client *client)
{
    unsigned char part[16384];
    ssize_t n = recv(client->fd, part, sizeof part, 0);
    if (n <= 0)
        return n < 0 && errno == EAGAIN;
    client->heard_ms = clock_mono_ms();
    const struct session_store how = {store, sink};
    return session_feed(&client->session, (struct slice){part, (size_t)n}, &how);
}

static void serve(struct sink *sink, struct client *client, short revents)
{
    bool ok = !(revents & (POLLIN | POLLHUP | POLLERR)) || hear(sink, client);
    bool idle = clock_mono_ms() - client->heard_ms > SINK_IDLE_MS;
    if (!flush(client) || !ok || idle || (client->session.quit && client->session.out.len == 0))
        drop(client);
}

static void turn(struct sink *sink, int listen_fd, int signal_fd, bool *ret_end)
{
    struct pollfd fds[SINK_CLIENTS + 2] = {{signal_fd, POLLIN, 0}, {listen_fd, POLLIN, 0}};
    for (size_t i = 0; i < SINK_CLIENTS; i++) {
        const struct client *client = &sink->clients[i];
        short events = client->session.out.len > 0 ? POLLIN | POLLOUT : POLLIN;
        fds[i + 2] = (struct pollfd){client->fd ? client->fd : -1, events, 0};
    }
    if (poll(fds, SINK_CLIENTS + 2, 1000) < 0)
        return;
    int signal = fds[0].revents ? daemon_read_signal(signal_fd) : 0;
    *ret_end = signal != 0;
    for (size_t i = 0; i < SINK_CLIENTS; i++)
        if (sink->clients[i].fd)
            serve(sink, &sink->clients[i], fds[i + 2].revents);
    if (fds[1].revents)
        take_client(sink, listen_fd);
}

int sink_main(const struct sink_options *options)
{
    char path[512];
    struct sink *sink = xcalloc(1, sizeof *sink);
    AUTO_FREE void *held = sink;
    sink->dir = options->dir;
    snprintf(path, sizeof path, "%.490s/log.tsv", options->dir);
    sink->log = fopen(path, "we");
    AUTO_CLOSE int signal_fd = daemon_signal_fd();
    if (!sink->log || signal_fd < 0) {
        fprintf(stderr, "pawl: the sink can't write '%s': %s\n", path, strerror(errno));
        return EXIT_FAILURE;
    }
    for (bool end = false; !end;)
        turn(sink, options->listen_fd, signal_fd, &end);
    for (size_t i = 0; i < SINK_CLIENTS; i++)
        if (sink->clients[i].fd)
            drop(&sink->clients[i]);
    return fclose(sink->log) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

bool sink_count(const char *dir, const char *recipient, int *ret_count, struct err *err)
{
    char path[512], line[LOG_LINE_MAX];
    snprintf(path, sizeof path, "%.490s/log.tsv", dir);
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, ERR_TEMP, "can't read '%.200s': %s", path, strerror(errno));
    *ret_count = 0;
    while (fgets(line, sizeof line, file)) {
        const char *tab = strchr(line, '\t');
        size_t len = strlen(recipient);
        *ret_count += tab && strncmp(tab + 1, recipient, len) == 0 && tab[1 + len] == '\t';
    }
    fclose(file);
    return true;
}
