// play.h: the real server on a loopback port, with verify and accept played by the test.
#pragma once
#include "common/daemon.h"
#include "receiver/http/server.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEADLINE_MS 250 // times PAWL_SLOW, where the test runs under a checker
#define BODY_MAX 4096

static struct source sources[] = {
        {.name = (char[]){"shop"}, .body_max = 64},
        {.name = (char[]){"app"}},
};
static struct policy policy = {
        .refs = 1000000, .sources = sources, .n_sources = ARRAY_LEN(sources)};

static struct {
    struct server *server;
    int port;
    bool no_policy, full, away;
    enum verdict_kind verdict;
    enum answers { AT_ONCE, LATER, NEVER } answers; // by set_answers()
    struct arrival *held;                           // LATER and NEVER: handed back by release()
    pthread_mutex_t lock;
    int taken;
    char headers[1024];
} play = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct policy *give_policy(void *user)
{
    (void)user;
    return play.no_policy ? NULL : policy_ref(&policy);
}

static struct verdict verify(const struct source *source, const struct received *received)
{
    struct verdict verdict = {.kind = play.verdict,
            .reason = "signature_mismatch",
            .secret_index = -1,
            .app = strcmp(source->name, "app") == 0};
    for (size_t i = 0; verdict.app && i < received->n_headers; i++)
        if (slice_eq(received->headers[i].name, SLICE("idempotency-key")))
            verdict.id = received->headers[i].value;
    return verdict;
}

static bool submit(void *user, int lane, struct arrival *arrival, bool *ret_full)
{
    (void)user;
    *ret_full = play.full;
    if (play.full || play.away)
        return false;
    pthread_mutex_lock(&play.lock);
    play.taken++;
    snprintf(play.headers, sizeof play.headers, "%s", arrival->headers);
    arrival->answer = ANSWER_OK;
    if (play.answers == AT_ONCE) {
        arrival->next = NULL;
        server_hand_back(play.server, lane, arrival);
    } else {
        arrival->next = play.held;
        play.held = arrival;
    }
    pthread_mutex_unlock(&play.lock);
    return true;
}

static void set_answers(enum answers answers)
{
    pthread_mutex_lock(&play.lock);
    play.answers = answers;
    pthread_mutex_unlock(&play.lock);
}

// Hands back what is held, as one batch; the tests use one lane.
static void release(void)
{
    pthread_mutex_lock(&play.lock);
    if (play.held)
        server_hand_back(play.server, 0, play.held);
    play.held = NULL;
    pthread_mutex_unlock(&play.lock);
}

static int deadline_ms(void)
{
    const char *slow = getenv("PAWL_SLOW");
    return (int)(DEADLINE_MS * (slow ? strtol(slow, NULL, 10) : 1));
}

static int start(void **state)
{
    (void)state;
    daemon_block_signals();
    AUTO_CLOSE int fd = daemon_listen("127.0.0.1:0", &play.port, NULL);
    struct server_options options = {.fds = &fd,
            .n_fds = 1,
            .lanes = 1,
            .connections = 16,
            .body_max = BODY_MAX,
            .deadline_ms = deadline_ms(),
            .stages = {.policy = give_policy, .verify = verify, .submit = submit}};
    play.server = server_new(&options, NULL);
    return play.server && server_start(play.server, NULL) ? 0 : -1;
}

static void *stop(void *unused)
{
    server_drain(play.server, 1000);
    release();
    server_free(play.server);
    return unused;
}

static int reset(void **state)
{
    (void)state;
    release();
    play.no_policy = play.full = play.away = false;
    play.verdict = VERDICT_OK;
    play.answers = AT_ONCE;
    play.taken = 0;
    return 0;
}

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)play.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct timeval wait = {.tv_sec = 30};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    return fd;
}

static char got[65536];

// Everything until the other side closes.
static const char *read_all(int fd)
{
    size_t len = 0;
    ssize_t n;
    while (len < sizeof got - 1 && (n = recv(fd, got + len, sizeof got - 1 - len, 0)) > 0)
        len += (size_t)n;
    got[len] = '\0';
    return got;
}

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static const char *ask(const char *request)
{
    int fd = dial();
    send_text(fd, request);
    read_all(fd);
    close(fd);
    return got;
}
