// test.h: cmocka with its prerequisites, and the table helper that unit tests share.
#pragma once
#include "common/base.h"

// cmocka.h needs these four before it.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

// Says which row of a table failed.
#define assert_row(condition, name)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("case '%s': %s", (name), #condition);                                         \
    } while (0)
