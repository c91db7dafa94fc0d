// Every broken configuration of tests/vectors/config/broken.cases, and all that is said about it.
#include "common/config/host.h"
#include "tests/unit/common/config/kit.h"

enum { WANTS_MAX = 8, TEMPLATES_MAX = 16, CASES_LEAST = 150 };

struct broken {
    const char *name;
    bool host;
    char *text; // of the file
    size_t len;
    const char *wants[WANTS_MAX];
    size_t n_wants;
    struct policy_text templates[TEMPLATES_MAX];
    size_t n_templates;
    const char *old;
};

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

// Escapes as in C.
static char *unescape(const char *from, size_t *ret_len)
{
    char *to = xmalloc(strlen(from) + 1);
    size_t n = 0;
    for (; *from; from++) {
        if (*from != '\\') {
            to[n++] = *from;
            continue;
        }
        from++;
        if (*from == 'x') {
            to[n++] = (char)(hex(from[1]) * 16 + hex(from[2]));
            from += 2;
        } else {
            to[n++] = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from == 'r' ? '\r' : *from;
        }
    }
    to[n] = '\0';
    *ret_len = n;
    return to;
}

static void replace(struct broken *broken, const char *new_escaped)
{
    AUTO_FREE char *base = kit_read(broken->host ? "pawl.yaml" : "policy.yaml");
    size_t old_len = 0, new_len = 0;
    AUTO_FREE char *old = unescape(broken->old, &old_len);
    AUTO_FREE char *new = unescape(new_escaped, &new_len);
    char *at = strstr(base, old);
    assert_row(at && !strstr(at + 1, old), broken->name);
    AUTO_TEXT struct text text = {.max = 1 << 20};
    text_add(&text, (struct slice){(unsigned char *)base, (size_t)(at - base)});
    text_add(&text, (struct slice){(unsigned char *)new, new_len});
    text_str(&text, at + old_len);
    free(broken->text);
    broken->len = text.len;
    broken->text = text_steal(&text);
}

static void add_template(struct broken *broken, const char *value)
{
    const char *equals = strchr(value, '=');
    assert_row(equals && broken->n_templates < TEMPLATES_MAX, broken->name);
    AUTO_FREE char *path =
            slice_dup((struct slice){(const unsigned char *)value, (size_t)(equals - value)});
    size_t len = 0;
    AUTO_FREE char *body = unescape(equals + 1, &len);
    broken->templates[broken->n_templates++] = kit_text(path, body, len);
}

static void drop_template(struct broken *broken, const char *path)
{
    for (size_t i = 0; i < broken->n_templates; i++) {
        if (strcmp(broken->templates[i].path, path) != 0)
            continue;
        free(broken->templates[i].path);
        free(broken->templates[i].body);
        broken->templates[i] = broken->templates[--broken->n_templates];
        return;
    }
    fail_msg("case '%s': no template '%s'", broken->name, path);
}

static void begin(struct broken *broken, const char *name)
{
    *broken = (struct broken){.name = name};
    struct policy_text *templates = kit_templates(&broken->n_templates);
    memcpy(broken->templates, templates, broken->n_templates * sizeof *templates);
    free(templates);
    broken->text = kit_read("policy.yaml");
    broken->len = strlen(broken->text);
}

static void drop_templates(struct broken *broken)
{
    for (size_t i = 0; i < broken->n_templates; i++) {
        free(broken->templates[i].path);
        free(broken->templates[i].body);
    }
    broken->n_templates = 0;
}

static void end(struct broken *broken)
{
    drop_templates(broken);
    free(broken->text);
}

static void take_field(struct broken *broken, const char *key, const char *value)
{
    if (!strcmp(key, "in")) {
        broken->host = !strcmp(value, "host");
    } else if (!strcmp(key, "policy") || !strcmp(key, "host")) {
        broken->host = !strcmp(key, "host");
        free(broken->text);
        broken->text = unescape(value, &broken->len);
        drop_templates(broken);
    } else if (!strcmp(key, "old")) {
        broken->old = value;
    } else if (!strcmp(key, "new")) {
        replace(broken, value);
    } else if (!strcmp(key, "add")) {
        add_template(broken, value);
    } else if (!strcmp(key, "drop")) {
        drop_template(broken, value);
    } else if (!strcmp(key, "want")) {
        assert_row(broken->n_wants < WANTS_MAX, broken->name);
        broken->wants[broken->n_wants++] = value;
    } else {
        fail_msg("case '%s': unknown field '%s'", broken->name, key);
    }
}

static void run(const struct broken *broken, struct diag *diag)
{
    if (!broken->host) {
        struct policy_text file = {
                .path = (char[]){"f.yaml"}, .body = broken->text, .len = broken->len};
        policy_unref(
                policy_new(&file, 1, broken->templates, broken->n_templates, &kit_known, diag));
        return;
    }
    char path[] = "/tmp/pawl-broken-XXXXXX";
    AUTO_CLOSE int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, broken->text, broken->len), broken->len);
    host_config_free(host_config_new(path, diag));
    unlink(path);
}

static bool is_wanted(const struct broken *broken, const char *line)
{
    for (size_t i = 0; i < broken->n_wants; i++) {
        if (strncmp(line, broken->wants[i], strlen(broken->wants[i])) == 0)
            return true;
    }
    return false;
}

static void check(const struct broken *broken)
{
    struct diag diag = {0};
    run(broken, &diag);
    size_t said = 0;
    for (size_t i = 0; i < diag.n; i++) {
        const struct diag_row *row = &diag.rows[i];
        char line[DIAG_TEXT_MAX + 128];
        snprintf(line, sizeof line, "%s %d:%d [%s] %s",
                row->level == DIAG_ERROR ? "error" : "warning", row->line, row->column, row->code,
                row->text);
        if (row->level == DIAG_INACTIVE)
            continue;
        said++;
        if (!is_wanted(broken, line))
            fail_msg("case '%s': not wanted: %s", broken->name, line);
    }
    if (said != broken->n_wants) {
        kit_show(&diag);
        fail_msg("case '%s': %zu findings, wanted %zu", broken->name, said, broken->n_wants);
    }
    diag_fini(&diag);
}

static void every_broken_configuration_is_told_as_the_table_says(void **state)
{
    (void)state;
    AUTO_FREE char *cases = kit_read("broken.cases");
    struct broken broken = {0};
    size_t n = 0;
    for (char *line = cases, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char *value = strstr(line, ": ");
        bool empty = *line && line[strlen(line) - 1] == ':';
        if (*line == '#' || *line == '\0')
            continue;
        assert_true(value || empty);
        line[strcspn(line, ":")] = '\0';
        value = value ? value + 2 : line + strlen(line) + 1;
        if (strcmp(line, "name") != 0) {
            take_field(&broken, line, value);
            continue;
        }
        if (n++)
            check(&broken);
        end(&broken);
        begin(&broken, value);
    }
    check(&broken);
    end(&broken);
    assert_true(n >= CASES_LEAST);
}

static void the_good_files_have_nothing_to_say(void **state)
{
    (void)state;
    struct diag diag = {0};
    AUTO_FREE char *body = kit_read("policy.yaml");
    AUTO_FREE char *host = kit_path("pawl.yaml");
    struct policy *policy = kit_policy(body, &diag);
    struct host_config *config = host_config_new(host, &diag);
    if (diag.errors || diag.warnings)
        kit_show(&diag);
    assert_non_null(policy);
    assert_non_null(config);
    assert_int_equal(diag.errors + diag.warnings, 0);
    host_config_free(config);
    policy_unref(policy);
    diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_good_files_have_nothing_to_say),
            cmocka_unit_test(every_broken_configuration_is_told_as_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
