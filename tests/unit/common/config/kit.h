// kit.h: what the configuration's tests share: the vectors' folder, files, and a program's
// knowledge.
#pragma once
#include "common/config/file.h"
#include "common/config/policy.h"
#include "common/template/template.h"
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

static inline char *kit_path(const char *name)
{
    const char *root = getenv("PAWL_ROOT");
    AUTO_FREE char *vectors = path_join(root ? root : ".", "tests/vectors/config");
    return path_join(vectors, name);
}

// Not inlined: gcc 12 takes the result for the variable it came through (-Wdangling-pointer).
__attribute__((noinline, unused)) static char *kit_read(const char *name)
{
    AUTO_FREE char *path = kit_path(name);
    char *bytes = NULL;
    size_t len = 0;
    struct err err = {0};
    if (!file_read(path, 1 << 20, &bytes, &len, &err))
        fail_msg("%s", err.msg);
    return bytes;
}

static inline bool kit_scheme(const char *name, bool *ret_active)
{
    *ret_active = !strcmp(name, "stripe") || !strcmp(name, "custom") || !strcmp(name, "app") ||
                  !strcmp(name, "none");
    return *ret_active || !strcmp(name, "twilio") || !strcmp(name, "easypost") ||
           !strcmp(name, "aws-sns") || !strcmp(name, "plaid") || !strcmp(name, "jwt");
}

static inline const char *kit_scheme_at(size_t i)
{
    static const char *const names[] = {"app", "stripe", "twilio"};
    return i < ARRAY_LEN(names) ? names[i] : NULL;
}

static inline bool kit_template_ok(const char *src, size_t len, struct err *err)
{
    struct template *t = template_new("t", (struct slice){(const unsigned char *)src, len}, err);
    template_free(t);
    return t != NULL;
}

static inline int64_t kit_horizon_s(const char *scheme)
{
    return strcmp(scheme, "stripe") == 0 ? 3 * 86400 : 0;
}

static inline bool kit_signs_url(const char *scheme)
{
    return strcmp(scheme, "twilio") == 0;
}

static inline enum policy_keys kit_keys(const char *scheme)
{
    return !strcmp(scheme, "aws-sns")                           ? KEYS_TOPICS
           : !strcmp(scheme, "plaid") || !strcmp(scheme, "jwt") ? KEYS_SET
           : !strcmp(scheme, "none")                            ? KEYS_ANYBODY
                                                                : KEYS_SECRETS;
}

static inline const char *kit_receipts_of(const char *scheme)
{
    return !strcmp(scheme, "twilio") ? "twilio" : !strcmp(scheme, "aws-sns") ? "ses" : NULL;
}

static inline enum channel_kind kit_receipts_channel(const char *provider)
{
    return !strcmp(provider, "twilio") || !strcmp(provider, "vonage") ? CHANNEL_SMS
           : !strcmp(provider, "ses")                                 ? CHANNEL_EMAIL
                                                                      : CHANNEL_NONE;
}

static inline int64_t kit_key_window_s(enum channel_kind channel, const char *driver)
{
    return channel == CHANNEL_EMAIL && !strcmp(driver, "resend") ? 86400 : 0;
}

static inline void *kit_row(const struct source *source)
{
    return source->verify->signed_form && !source->verify->algorithm ? NULL : xcalloc(1, 1);
}

static const struct policy_known kit_known = {.is_new = true,
        .now_s = 1780272000, // 2026-06-01
        .scheme = kit_scheme,
        .scheme_at = kit_scheme_at,
        .row = kit_row,
        .template_ok = kit_template_ok,
        .horizon_s = kit_horizon_s,
        .signs_url = kit_signs_url,
        .keys = kit_keys,
        .key_window_s = kit_key_window_s,
        .receipts_of = kit_receipts_of,
        .receipts_channel = kit_receipts_channel};

static inline struct policy_text kit_text(const char *path, const char *body, size_t len)
{
    return (struct policy_text){.path = xstrdup(path),
            .body = slice_dup((struct slice){(const unsigned char *)body, len}),
            .len = len};
}

// The templates of the good policy.
static inline struct policy_text *kit_templates(size_t *ret_n)
{
    static const char *const rows[][2] = {{"receipt/email.en.subject.mustache", "Thanks"},
            {"receipt/email.en.text.mustache", "Hello {{name}}"},
            {"sent/email.en.subject.mustache", "Sent"},
            {"sent/email.en.text.mustache", "On its way"},
            {"sent/push.en.text.mustache", "On its way"},
            {"login-code/email.en.subject.mustache", "Code"},
            {"login-code/email.en.html.mustache", "<p>{{code}}</p>"}};
    struct policy_text *texts = xcalloc(ARRAY_LEN(rows), sizeof *texts);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        texts[i] = kit_text(rows[i][0], rows[i][1], strlen(rows[i][1]));
    *ret_n = ARRAY_LEN(rows);
    return texts;
}

// A policy of one text and the good templates; NULL when there were errors.
static inline struct policy *kit_policy(const char *body, struct diag *diag)
{
    size_t n = 0;
    struct policy_text *templates = kit_templates(&n),
                       file = kit_text("f.yaml", body, strlen(body));
    struct policy *policy = policy_new(&file, 1, templates, n, &kit_known, diag);
    policy_texts_free(templates, n);
    free(file.path);
    free(file.body);
    return policy;
}

static inline void kit_show(const struct diag *diag)
{
    AUTO_TEXT struct text out = {.max = 1 << 20};
    diag_print(diag, &out);
    print_error("%s", text_cstr(&out));
}

static inline const struct diag_row *kit_find(const struct diag *diag, const char *code)
{
    for (size_t i = 0; i < diag->n; i++) {
        if (strcmp(diag->rows[i].code, code) == 0)
            return &diag->rows[i];
    }
    return NULL;
}
