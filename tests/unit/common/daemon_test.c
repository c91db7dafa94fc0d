#include "common/daemon.h"
#include "common/err.h"
#include "tests/test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void binds_loopback_and_tells_the_port(void **state)
{
    (void)state;
    static const char *const rows[] = {"127.0.0.1:0", "[::1]:0"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        int port = 0;
        int fd = daemon_listen(rows[i], &port, &err);
        if (fd < 0 && i == 1)
            continue; // a machine without IPv6
        assert_row(fd >= 0 && port > 0, rows[i]);
        close(fd);
    }
}

static void refuses_an_address_that_is_none_or_taken(void **state)
{
    (void)state;
    static const char *const rows[] = {
            "127.0.0.1", "", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:99999999", "not an ip:80"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        assert_row(daemon_listen(rows[i], NULL, &err) == -1, rows[i]);
        assert_row(err.kind == ERR_INPUT && err.msg[0], rows[i]);
    }
    int port = 0;
    int first = daemon_listen("127.0.0.1:0", &port, NULL);
    char again[32];
    snprintf(again, sizeof again, "127.0.0.1:%d", port);
    struct err err = {0};
    assert_int_equal(daemon_listen(again, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_TEMP);
    close(first);
}

static void reads_signals_from_a_descriptor(void **state)
{
    (void)state;
    daemon_block_signals();
    int fd = daemon_signal_fd();
    assert_int_equal(daemon_read_signal(fd), 0);
    kill(getpid(), SIGHUP);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 1000), 1);
    assert_int_equal(daemon_read_signal(fd), SIGHUP);
    close(fd);
}

static int bind_notify(const struct sockaddr_un *at, socklen_t len)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)at, len), 0);
    return fd;
}

static void notifies_an_abstract_socket_and_a_path(void **state)
{
    (void)state;
    char names[2][64];
    snprintf(names[0], sizeof names[0], "@pawl-notify-%d", getpid());
    snprintf(names[1], sizeof names[1], "/tmp/pawl-notify-%d", getpid());
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        memcpy(at.sun_path, names[i], strlen(names[i]));
        if (i == 0)
            at.sun_path[0] = '\0';
        int fd = bind_notify(
                &at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(names[i])));
        setenv("NOTIFY_SOCKET", names[i], 1);
        daemon_notify("READY=1");
        char got[32] = {0};
        assert_row(read(fd, got, sizeof got - 1) == 7, names[i]);
        assert_string_equal(got, "READY=1");
        close(fd);
        unlink(names[i]);
    }
    unsetenv("NOTIFY_SOCKET");
    daemon_notify("READY=1"); // nobody listens: nothing happens
}

static void takes_inherited_sockets_only_when_they_are_meant_for_it(void **state)
{
    (void)state;
    char pid[16];
    snprintf(pid, sizeof pid, "%d", getpid());
    const struct {
        const char *pid, *n;
        int want;
    } rows[] = {{pid, "2", 2}, {"1", "2", 0}, {pid, "x", 0}, {pid, "-1", 0}, {pid, "3", -1},
            {"1", "3", 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        setenv("LISTEN_PID", rows[i].pid, 1);
        setenv("LISTEN_FDS", rows[i].n, 1);
        assert_row(daemon_listen_fds(2, &err) == rows[i].want, rows[i].n);
        assert_row((strstr(err.msg, "LISTEN_FDS") != NULL) == (rows[i].want < 0), rows[i].n);
    }
    unsetenv("LISTEN_PID");
    assert_int_equal(daemon_listen_fds(2, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(binds_loopback_and_tells_the_port),
            cmocka_unit_test(refuses_an_address_that_is_none_or_taken),
            cmocka_unit_test(reads_signals_from_a_descriptor),
            cmocka_unit_test(notifies_an_abstract_socket_and_a_path),
            cmocka_unit_test(takes_inherited_sockets_only_when_they_are_meant_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
