#include "common/clock.h"

#include <stdio.h>
#include <time.h>
#ifdef PAWL_FAULTS
#include <pthread.h>
#endif

static int64_t read_us(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#ifdef PAWL_FAULTS
static int64_t frozen_us = -1, ahead_us;

static void read_test_now(void)
{
    const char *text = getenv("PAWL_TEST_NOW");
    if (!text || !*text)
        return;
    if (*text == '+' || *text == '-')
        ahead_us = strtoll(text, NULL, 10) * 1000000;
    else
        frozen_us = strtoll(text, NULL, 10) * 1000000;
}
#endif

int64_t clock_now_us(void)
{
#ifdef PAWL_FAULTS
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_test_now);
    return frozen_us >= 0 ? frozen_us : read_us(CLOCK_REALTIME) + ahead_us;
#else
    return read_us(CLOCK_REALTIME);
#endif
}

int64_t clock_now_s(void)
{
    return clock_now_us() / 1000000;
}

int64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

// Time before 1970 or after the year 9999 has no place in either format: it is shown as the bound.
static struct tm utc(int64_t unix_s)
{
    static const int64_t last = 253402300799;
    time_t bounded = unix_s < 0 ? 0 : unix_s > last ? last : unix_s;
    struct tm tm;
    gmtime_r(&bounded, &tm);
    return tm;
}

char *clock_rfc3339(int64_t unix_us, char out[32])
{
    struct tm tm = utc(unix_us / 1000000);
    int ms = unix_us < 0 ? 0 : (int)(unix_us / 1000 % 1000);
    char head[24];
    strftime(head, sizeof head, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, 32, "%s.%03dZ", head, ms);
    return out;
}

char *clock_rfc5322(int64_t unix_s, char out[40])
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm tm = utc(unix_s);
    char tail[24];
    strftime(tail, sizeof tail, "%Y %H:%M:%S +0000", &tm);
    snprintf(out, 40, "%s, %02d %s %s", days[tm.tm_wday % 7], tm.tm_mday % 32,
            months[tm.tm_mon % 12], tail);
    return out;
}
