// The host file that `pawl up` writes keeps what one's own host file says.
#include "tests/test.h"

#include "cli/up/starter.h"
#include "common/config/host.h"

#include <stdio.h>
#include <unistd.h>

static char dir[] = "/tmp/pawl-starter-XXXXXX";

static struct host_config *host_of(const char *name, const char *text)
{
    char path[128];
    struct diag diag = {0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (text) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        assert_true(fputs(text, file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    struct host_config *host = host_config_new(path, &diag);
    diag_fini(&diag);
    unlink(path);
    assert_non_null(host);
    return host;
}

static const char own[] =
        "pawl: 1\ndatabase: dbname=x\npolicy: [a.yaml, /etc/b.yaml]\ntemplates: texts\n"
        "credentials: keys\n"
        "receiver:\n  threads: 3\n  body_max: 4MiB\n  deadline: 1s\n  connections: 77\n"
        "  fetch: { ca: ca.pem, connect: [\"a.example=127.0.0.1:1\", \"b.example=127.0.0.1:2\"] }\n"
        "dispatcher: { transfers: 9, poll: 70ms, lease: 60s, attachments: files }\n"
        "log: { format: json, level: debug }\n";

static void what_ones_own_host_file_says_is_kept(void **state)
{
    (void)state;
    struct err err;
    struct host_config *was = host_of("own.yaml", own);
    const struct starter_host how = {
            .dir = dir, .database = "dbname=y", .port = 8080, .admin_port = 9464, .of = was};
    assert_true(starter_host_write(&how, &err));
    struct host_config *is = host_of("pawl.yaml", NULL);
    assert_string_equal(is->templates, was->templates);
    assert_string_equal(is->credentials, was->credentials);
    assert_int_equal(is->n_policy, 2);
    assert_int_equal(is->receiver.threads, 3);
    assert_int_equal(is->receiver.body_max, was->receiver.body_max);
    assert_int_equal(is->receiver.deadline_ms, 1000);
    assert_int_equal(is->receiver.connections, 77);
    assert_non_null(is->receiver.fetch.ca);
    assert_string_equal(is->receiver.fetch.ca, was->receiver.fetch.ca);
    assert_int_equal(is->receiver.fetch.n_connect, 2);
    assert_string_equal(is->receiver.fetch.connect[1], "b.example=127.0.0.1:2");
    assert_int_equal(is->dispatcher.transfers, 9);
    assert_int_equal(is->dispatcher.poll_ms, 70);
    assert_int_equal(is->dispatcher.lease_ms, 60000);
    assert_non_null(is->dispatcher.attachments);
    assert_string_equal(is->dispatcher.attachments, was->dispatcher.attachments);
    assert_string_equal(is->log.level, "debug");
    host_config_free(was);
    host_config_free(is);
}

static void without_one_it_is_a_host_file_too(void **state)
{
    (void)state;
    struct err err;
    const struct starter_host how = {
            .dir = dir, .database = "dbname=y", .port = 8080, .admin_port = 9464};
    assert_true(starter_host_write(&how, &err));
    struct host_config *is = host_of("pawl.yaml", NULL);
    assert_null(is->dispatcher.attachments);
    host_config_free(is);
}

static int make(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_ones_own_host_file_says_is_kept),
            cmocka_unit_test(without_one_it_is_a_host_file_too)};
    return cmocka_run_group_tests(tests, make, clean);
}
