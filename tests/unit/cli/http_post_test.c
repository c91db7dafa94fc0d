// The commands' own HTTP client: who is asked, and what is said when no answer comes.
#include "tests/test.h"

#include "cli/http_post.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct peer {
    int fd;
    const char *says;
    pthread_t thread;
    struct http_target target;
};

static void *answer_one(void *arg)
{
    const struct peer *peer = arg;
    char ignored[4096];
    AUTO_CLOSE int fd = accept(peer->fd, NULL, NULL);
    if (fd >= 0 && recv(fd, ignored, sizeof ignored, 0) > 0)
        send(fd, peer->says, strlen(peer->says), MSG_NOSIGNAL);
    return NULL;
}

// Listens at 127.0.0.1 alone.
static void start(struct peer *peer, const char *host, const char *says)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    *peer = (struct peer){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .says = says};
    assert_int_equal(bind(peer->fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(peer->fd, 4), 0);
    assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&at, &len), 0);
    snprintf(peer->target.host, sizeof peer->target.host, "%s", host);
    snprintf(peer->target.port, sizeof peer->target.port, "%d", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&peer->thread, NULL, answer_one, peer), 0);
}

static struct http_answer ask(const char *host, const char *says)
{
    struct peer peer;
    struct http_answer answer;
    const struct http_request request = {.method = "GET", .path = "/", .timeout_ms = 10000};
    start(&peer, host, says);
    http_exchange(&peer.target, &request, &answer);
    shutdown(peer.fd, SHUT_RDWR); // ends the accept of one that nobody asked
    pthread_join(peer.thread, NULL);
    close(peer.fd);
    return answer;
}

static void every_address_of_a_name_is_tried(void **state)
{
    (void)state;
    struct http_answer answer = ask("localhost", "HTTP/1.1 204 No Content\r\n\r\n");
    assert_string_equal(answer.why, "");
    assert_int_equal(answer.status, 204);
}

static void what_is_no_answer_has_a_reason(void **state)
{
    (void)state;
    static const char *const rows[] = {"", "HTTP/1.1", "SSH-2.0-x\r\n", "HTTP/1.1 999 x\r\n\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_answer answer = ask("127.0.0.1", rows[i]);
        assert_row(answer.status == 0 && answer.why[0], rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_address_of_a_name_is_tried),
            cmocka_unit_test(what_is_no_answer_has_a_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
