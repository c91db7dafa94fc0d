#include "tests/test.h"

#include "cli/up/ports.h"
#include "common/daemon.h"
#include "common/err.h"

#include <stdio.h>
#include <unistd.h>

#define FROM 33100

static void two_never_choose_the_same(void **state)
{
    (void)state;
    struct ports a = {0}, b = {0};
    int first = ports_take(&a, FROM, 2), second = ports_take(&b, FROM, 2);
    assert_true(first >= FROM);
    assert_true(second >= first + 2);
    ports_free(&a);
    struct ports c = {0};
    assert_int_equal(ports_take(&c, FROM, 2), first);
    ports_free(&b);
    ports_free(&c);
}

static void a_port_that_someone_listens_on_is_passed_over(void **state)
{
    (void)state;
    struct ports ports = {0};
    struct err err;
    int port = ports_take(&ports, FROM + 50, 1);
    ports_free(&ports);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    int fd = daemon_listen(address, NULL, &err);
    assert_true(fd >= 0);
    assert_true(ports_take(&ports, port, 1) > port);
    assert_true(ports_take(&ports, port - 1, 2) > port);
    ports_free(&ports);
    close(fd);
}

static void no_more_are_held_than_fit(void **state)
{
    (void)state;
    struct ports ports = {0};
    assert_true(ports_take(&ports, FROM + 100, PORTS_MAX) > 0);
    assert_int_equal(ports_take(&ports, FROM + 100, 1), 0);
    ports_free(&ports);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(two_never_choose_the_same),
            cmocka_unit_test(a_port_that_someone_listens_on_is_passed_over),
            cmocka_unit_test(no_more_are_held_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
