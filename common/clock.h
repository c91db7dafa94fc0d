// clock.h: the two clocks: wall time for what is shown or signed, monotonic time for waits.
#pragma once
#include "common/base.h"

// Wall clock, unix time. In a build with -Dfaults=true PAWL_TEST_NOW (unix seconds) freezes it, and
// with a sign before its number puts it so many seconds ahead (+) or back (-).
int64_t clock_now_s(void);
int64_t clock_now_us(void);

// CLOCK_MONOTONIC in milliseconds: deadlines, leases' own margin, histograms.
int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);

// RFC 3339 UTC with milliseconds, e.g. 2026-11-29T12:00:00.001Z; returns out.
char *clock_rfc3339(int64_t unix_us, char out[32]);
// RFC 5322 date, UTC: "Sun, 29 Nov 2026 12:00:00 +0000"; not localised; returns out.
char *clock_rfc5322(int64_t unix_s, char out[40]);
