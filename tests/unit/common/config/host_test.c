// The host file.
#include "common/config/host.h"
#include "tests/unit/common/config/kit.h"

static struct host_config *of_text(const char *text, struct diag *diag)
{
    char path[] = "/tmp/pawl-host-XXXXXX";
    AUTO_CLOSE int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    struct host_config *config = host_config_new(path, diag);
    unlink(path);
    return config;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void every_key_is_read(void **state)
{
    (void)state;
    struct diag diag = {0};
    AUTO_FREE char *path = kit_path("pawl.yaml");
    struct host_config *config = host_config_new(path, &diag);
    assert_non_null(config);
    assert_string_equal(config->database, "host=/run/postgresql dbname=pawl");
    assert_int_equal(config->n_policy, 2);
    assert_string_equal(config->policy[1], "policies.d/*.yaml");
    assert_int_equal(config->receiver.n_listen, 2);
    assert_string_equal(config->receiver.listen[1], "[::1]:8080");
    assert_int_equal(config->receiver.n_trusted_proxies, 2);
    assert_int_equal(config->receiver.threads, 2);
    assert_int_equal(config->receiver.body_max, 1048576);
    assert_int_equal(config->receiver.deadline_ms, 2000);
    assert_int_equal(config->receiver.connections, 100);
    assert_int_equal(config->receiver.grace_ms, 5000);
    assert_int_equal(config->dispatcher.transfers, 20);
    assert_int_equal(config->dispatcher.poll_ms, 20);
    assert_int_equal(config->dispatcher.lease_ms, 60000);
    assert_int_equal(config->dispatcher.grace_ms, 3000);
    assert_string_equal(config->admin.listen[0], "127.0.0.1:9464");
    assert_string_equal(config->log.format, "text");
    assert_string_equal(config->log.level, "debug");
    host_config_free(config);
    diag_fini(&diag);
}

static void names_are_relative_to_the_file(void **state)
{
    (void)state;
    struct diag diag = {0};
    AUTO_FREE char *path = kit_path("pawl.yaml");
    struct host_config *config = host_config_new(path, &diag);
    assert_non_null(config);
    assert_true(
            config->templates[0] == '/' && ends_with(config->templates, "vectors/config/texts"));
    assert_true(config->credentials[0] == '/');
    assert_true(ends_with(config->credentials, "vectors/config/secrets"));
    assert_true(ends_with(config->dir, "vectors/config"));
    host_config_free(config);
    diag_fini(&diag);
}

static void a_small_file_gets_every_default(void **state)
{
    (void)state;
    struct diag diag = {0};
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials/pawl", 1);
    struct host_config *config = of_text("pawl: 1\ndatabase: dbname=pawl\n", &diag);
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_non_null(config);
    assert_string_equal(config->credentials, "/run/credentials/pawl");
    assert_string_equal(config->policy[0], "policy.yaml");
    assert_string_equal(config->templates, "/tmp/templates");
    assert_string_equal(config->receiver.listen[0], "127.0.0.1:8080");
    assert_int_equal(config->receiver.n_trusted_proxies, 0);
    assert_int_equal(config->receiver.threads, 0);
    assert_int_equal(config->receiver.body_max, 2 << 20);
    assert_int_equal(config->receiver.deadline_ms, 2500);
    assert_int_equal(config->receiver.connections, 4096);
    assert_int_equal(config->receiver.grace_ms, 10000);
    assert_int_equal(config->dispatcher.transfers, 200);
    assert_int_equal(config->dispatcher.poll_ms, 50);
    assert_int_equal(config->dispatcher.lease_ms, 120000);
    assert_string_equal(config->admin.listen[0], "127.0.0.1:9464");
    assert_string_equal(config->log.format, "json");
    assert_string_equal(config->log.level, "info");
    host_config_free(config);
    config = of_text("pawl: 1\ndatabase: dbname=pawl\n", &diag);
    assert_null(config->credentials);
    host_config_free(config);
    diag_fini(&diag);
}

static void tls_is_told_as_not_active(void **state)
{
    (void)state;
    struct diag diag = {0};
    struct host_config *config = of_text("pawl: 1\ndatabase: dbname=pawl\nreceiver:\n"
                                         "  tls: { certificate: a.pem, key: credential:key }\n",
            &diag);
    assert_non_null(config);
    assert_int_equal(diag.inactive, 1);
    assert_int_equal(diag.rows[0].line, 4);
    host_config_free(config);
    diag_fini(&diag);
}

static void all_errors_come_at_once(void **state)
{
    (void)state;
    struct diag diag = {0};
    assert_null(of_text("pawl: 2\ndatabse: x\nreceiver: { deadline: 1, threads: none }\n"
                        "log: { level: loud }\nadmin: { listen: [here] }\n",
            &diag));
    assert_int_equal(diag.errors, 7); // six as written, and database is missing
    diag_fini(&diag);
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct diag diag = {0};
    assert_null(host_config_new("/nonexistent/pawl.yaml", &diag));
    assert_null(host_config_new("/dev/null", &diag));
    assert_null(host_config_new("/tmp", &diag));
    assert_int_equal(diag.errors, 3);
    assert_string_equal(diag.rows[0].code, "file");
    diag_fini(&diag);
}

static void the_shared_example_loads_as_it_stands(void **state)
{
    (void)state;
    const char *shared = getenv("PAWL_SHARED"), *root = getenv("PAWL_ROOT");
    AUTO_FREE char *dir = shared ? xstrdup(shared) : path_join(root ? root : ".", "../shared");
    AUTO_FREE char *path = path_join(dir, "example/pawl.yaml");
    if (access(path, R_OK) != 0)
        skip();
    struct diag diag = {0};
    struct host_config *config = host_config_new(path, &diag);
    if (!config)
        kit_show(&diag);
    assert_non_null(config);
    assert_int_equal(diag.errors + diag.warnings, 0);
    assert_string_equal(config->credentials, "/etc/pawl/credentials");
    assert_int_equal(config->receiver.threads, 0);
    host_config_free(config);
    diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_key_is_read),
            cmocka_unit_test(names_are_relative_to_the_file),
            cmocka_unit_test(a_small_file_gets_every_default),
            cmocka_unit_test(tls_is_told_as_not_active),
            cmocka_unit_test(all_errors_come_at_once),
            cmocka_unit_test(a_file_that_is_not_there_is_an_error),
            cmocka_unit_test(the_shared_example_loads_as_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
