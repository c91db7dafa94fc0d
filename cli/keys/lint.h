// lint.h: what is wrong with the bytes of a secret's file, by the scheme that uses it. Pure.
#pragma once
#include "common/config/policy.h"

enum lint_verdict { LINT_OK, LINT_WARN, LINT_FAIL };

enum { LINTS_MAX = 8 };
struct lints {
    struct lint {
        enum lint_verdict verdict;
        char says[200];
    } rows[LINTS_MAX];
    size_t n;
};

// Adds a finding for each thing that is wrong; none of them shows any of the secret. file: all
// bytes of it.
void secret_lint(
        const struct source *source, struct slice file, int64_t now_s, struct lints *lints);

// The bytes that count: without one line end behind them.
struct slice secret_bytes(struct slice file);
void lint_add(struct lints *lints, enum lint_verdict verdict, const char *fmt, ...)
        PRINTF_LIKE(3, 4);
