#include "cli/context.h"
#include "cli/keys/keys.h"
#include "cli/keys/lint.h"
#include "cli/keys/owner.h"
#include "cli/out.h"
#include "cli/policy/active.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/config/file.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

enum { SECRET_MAX = 64 * 1024 };
#define OUTPUT_MAX (4 << 20)

// A file that was read, to be compared with the others.
struct seen {
    const struct source *source;
    const char *credential;
    unsigned char *bytes; // as much as counts
    size_t len;
};

struct checking {
    const char *dir;
    struct owner owner;
    bool guarded; // by systemd: the folder lets nobody in
    struct table table;
    struct seen *seen;
    size_t n_seen, fails;
    int64_t now_s;
};

static void checking_fini(struct checking *checking)
{
    for (size_t i = 0; i < checking->n_seen; i++) {
        OPENSSL_cleanse(checking->seen[i].bytes, checking->seen[i].len);
        free(checking->seen[i].bytes);
    }
    free(checking->seen);
    table_fini(&checking->table);
}
#define AUTO_CHECKING __attribute__((cleanup(checking_fini)))

static void add_row(struct checking *checking, const struct source *source, const char *credential,
        enum lint_verdict verdict, const char *says)
{
    static const char *const words[] = {
            [LINT_OK] = "ok", [LINT_WARN] = "warn", [LINT_FAIL] = "fail"};
    checking->fails += verdict == LINT_FAIL;
    table_cell(&checking->table, slice_of(words[verdict]));
    table_cell(&checking->table, slice_of(source->name));
    table_cell(&checking->table, credential ? slice_of(credential) : (struct slice){NULL, 0});
    table_cell(&checking->table, slice_of(says));
}

static void lint_mode(const struct checking *checking, const char *path, struct lints *lints)
{
    struct stat st;
    if (stat(path, &st) != 0 || checking->guarded)
        return;
    if (st.st_mode & (S_IROTH | S_IWOTH))
        lint_add(lints, LINT_FAIL, "others can read or write it: chmod o-rwx '%.150s'", path);
    else if (st.st_mode & S_IWGRP)
        lint_add(lints, LINT_WARN, "its group can write it: chmod g-w '%.150s'", path);
    if (!owner_reads(&checking->owner, path)) {
        struct owner_names names;
        owner_names(&checking->owner, &names);
        lint_add(lints, LINT_WARN, "not readable as the others are: chown %.32s:%.32s '%.99s'",
                names.user, names.group, path);
    }
}

// One secret in two places: who takes it away from one leaves the other.
static void lint_twice(const struct checking *checking, const struct source *source,
        const char *credential, struct slice bytes, struct lints *lints)
{
    for (size_t i = 0; i < checking->n_seen; i++) {
        const struct seen *seen = &checking->seen[i];
        bool same = seen->len == bytes.len && bytes.len &&
                    CRYPTO_memcmp(seen->bytes, bytes.ptr, bytes.len) == 0;
        if (!same || (seen->source == source && strcmp(seen->credential, credential) == 0))
            continue;
        lint_add(lints, LINT_WARN, "the same as credential '%.60s' of source '%.60s'",
                seen->credential, seen->source->name);
        return;
    }
}

// Takes the bytes over.
static void remember(struct checking *checking, const struct source *source, const char *credential,
        unsigned char *bytes, size_t len)
{
    checking->seen = xrealloc(checking->seen, (checking->n_seen + 1) * sizeof *checking->seen);
    checking->seen[checking->n_seen++] = (struct seen){source, credential, bytes, len};
}

static void lint_file(struct checking *checking, const struct source *source,
        const struct secret *secret, bool is_secret, struct lints *lints)
{
    AUTO_FREE char *path = path_join(checking->dir, secret->credential);
    char *bytes = NULL;
    size_t len = 0;
    struct err err = {0};
    lint_mode(checking, path, lints);
    if (!file_read(path, SECRET_MAX, &bytes, &len, &err)) {
        lint_add(lints, LINT_FAIL, "%.190s", err.msg);
        return;
    }
    struct slice file = {(unsigned char *)bytes, len};
    if (is_secret) {
        secret_lint(source, file, checking->now_s, lints);
        lint_twice(checking, source, secret->credential, secret_bytes(file), lints);
    } else if (secret_bytes(file).len == 0) {
        lint_add(lints, LINT_FAIL, "the file is empty");
    }
    remember(checking, source, secret->credential, (unsigned char *)bytes, secret_bytes(file).len);
}

static void check_secret(struct checking *checking, const struct source *source,
        const struct secret *secret, bool is_secret)
{
    struct lints lints = {.n = 0};
    if (!secret->credential)
        return;
    lint_file(checking, source, secret, is_secret, &lints);
    for (size_t i = 0; i < lints.n; i++)
        add_row(checking, source, secret->credential, lints.rows[i].verdict, lints.rows[i].says);
    if (lints.n == 0)
        add_row(checking, source, secret->credential, LINT_OK, "");
}

static void check_source(struct checking *checking, const struct source *source)
{
    if (source->verify && source->verify->none)
        add_row(checking, source, NULL, LINT_WARN, "`verify: none`: anybody is believed");
    for (size_t i = 0; i < source->n_secrets; i++)
        check_secret(checking, source, &source->secrets[i], true);
    check_secret(checking, source, &source->handshake_token, false);
}

static int show(const struct call *call, const struct checking *checking)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON))
        table_json(&checking->table, &out);
    else
        table_text(&checking->table, out_width(), &out);
    return out_data(&out, checking->fails ? EXIT_NEGATIVE : EXIT_DONE);
}

static int check_all(const struct call *call, const struct policy *policy, const char *dir)
{
    static const struct column columns[] = {{"verdict", COLUMN_TEXT}, {"source", COLUMN_TEXT},
            {"secret", COLUMN_TEXT}, {"finding", COLUMN_TEXT}};
    const char *only = call->values[FLAG_SOURCE], *systemd = getenv("CREDENTIALS_DIRECTORY");
    AUTO_CHECKING struct checking checking = {
            .dir = dir, .guarded = systemd && strcmp(systemd, dir) == 0, .now_s = clock_now_s()};
    owner_of(dir, &checking.owner);
    table_init(&checking.table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < policy->n_sources; i++) {
        if (!only || strcmp(policy->sources[i].name, only) == 0)
            check_source(&checking, &policy->sources[i]);
    }
    return show(call, &checking);
}

int keys_check(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    const char *only = call->values[FLAG_SOURCE];
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_POLICY struct policy *policy = policy_active(call, &context, &err);
    if (!policy)
        return out_fail(call, &err);
    const char *dir = credentials_dir(&context);
    if (!dir)
        err_set(&err, ERR_FATAL,
                "there is no credentials directory: name it as `credentials` in the host file");
    else if (only && !policy_source(policy, slice_of(only)))
        err_set(&err, ERR_NOTFOUND, "the policy has no source '%.60s'", only);
    else
        return check_all(call, policy, dir);
    return out_fail(call, &err);
}
