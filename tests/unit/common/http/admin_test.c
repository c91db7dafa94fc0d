#include "common/daemon.h"
#include "common/http/admin.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_ready = true, is_live = true;
static const char *checks_text = "{\"name\":\"database\",\"ok\":true,\"detail\":\"\"}";

static bool ready(void *user, struct text *checks)
{
    (void)user;
    text_str(checks, checks_text);
    return is_ready;
}

static bool live(void *user)
{
    (void)user;
    return is_live;
}

static struct admin *admin;
static char got[1 << 20];

static int start(void **state)
{
    (void)state;
    daemon_block_signals();
    struct admin_options options = {.listen = "127.0.0.1:0", .ready = ready, .live = live};
    admin = admin_start(&options, NULL);
    return admin ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    admin_stop(admin);
    return 0;
}

// Sends the bytes and reads until the other side closes or five seconds pass.
static const char *ask(const char *bytes)
{
    AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)admin_port(admin))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct timeval wait = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    assert_int_equal(send(fd, bytes, strlen(bytes), 0), (ssize_t)strlen(bytes));
    size_t len = 0;
    ssize_t n;
    while (len < sizeof got - 1 && (n = recv(fd, got + len, sizeof got - 1 - len, 0)) > 0)
        len += (size_t)n;
    got[len] = '\0';
    return got;
}

#define CLOSE " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static void serves_metrics_as_text(void **state)
{
    (void)state;
    ask("GET /metrics" CLOSE);
    assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(got, "content-type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert_non_null(strstr(got, "# TYPE pawl_moves_total counter\n"));
    assert_non_null(strstr(got, "process_open_fds "));
}

static void tells_life_and_readiness(void **state)
{
    (void)state;
    assert_non_null(strstr(ask("GET /livez" CLOSE), " 200 OK\r\n"));
    is_live = false;
    assert_non_null(strstr(ask("GET /livez" CLOSE), " 503 "));
    is_live = true;
    assert_non_null(strstr(ask("GET /readyz" CLOSE), "{\"status\":\"ready\",\"checks\":[{"));
    checks_text = "{\"name\":\"source shop\",\"ok\":false,\"detail\":\"no live secret\"}";
    assert_non_null(strstr(ask("GET /readyz" CLOSE), "{\"status\":\"degraded\",\"checks\":[{"));
    assert_non_null(strstr(got, " 200 OK\r\n"));
    is_ready = false;
    ask("GET /readyz" CLOSE);
    assert_non_null(strstr(got, " 503 Service Unavailable\r\n"));
    assert_non_null(strstr(got, "content-type: application/problem+json\r\n"));
    assert_non_null(strstr(got, "\"code\":\"not_ready\",\"checks\":[{\"name\":\"source shop\""));
    is_ready = true;
}

static void answers_errors_as_problems(void **state)
{
    (void)state;
    static const struct {
        const char *request, *want;
    } rows[] = {
            {"GET /" CLOSE, "HTTP/1.1 404 Not Found\r\n"},
            {"GET /metrics/" CLOSE, "HTTP/1.1 404 Not Found\r\n"},
            {"GET /x/../metrics" CLOSE, "HTTP/1.1 404 Not Found\r\n"},
            {"POST /metrics" CLOSE, "HTTP/1.1 405 Method Not Allowed\r\n"},
            {"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", "HTTP/1.1 400 "},
            {"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n", "HTTP/1.1 413 "},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ask(rows[i].request);
        assert_row(strncmp(got, rows[i].want, strlen(rows[i].want)) == 0, rows[i].request);
        assert_row(strstr(got, "content-type: application/problem+json\r\n"), rows[i].request);
        assert_row(strstr(got, "\"code\":\""), rows[i].request);
    }
    assert_non_null(strstr(ask("POST /livez" CLOSE), "allow: GET, HEAD\r\n"));
}

static void sends_no_body_to_head(void **state)
{
    (void)state;
    ask("HEAD /livez" CLOSE);
    assert_non_null(strstr(got, " 200 OK\r\n"));
    assert_null(strstr(got, "alive"));
    assert_non_null(strstr(got, "Content-Length: 19\r\n"));
}

static void speaks_http_1_1_only(void **state)
{
    (void)state;
    ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_null(strstr(got, "HTTP/2"));
    ask("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
    assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
}

static void refuses_an_address_that_is_taken(void **state)
{
    (void)state;
    char taken[32];
    snprintf(taken, sizeof taken, "127.0.0.1:%d", admin_port(admin));
    struct admin_options options = {.listen = taken};
    struct err err = {0};
    assert_null(admin_start(&options, &err));
    assert_int_equal(err.kind, ERR_TEMP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(serves_metrics_as_text),
            cmocka_unit_test(tells_life_and_readiness),
            cmocka_unit_test(answers_errors_as_problems),
            cmocka_unit_test(sends_no_body_to_head),
            cmocka_unit_test(speaks_http_1_1_only),
            cmocka_unit_test(refuses_an_address_that_is_taken),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
