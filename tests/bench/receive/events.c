#include "tests/bench/receive/events.h"

#include <stdio.h>

// splitmix64, public domain: https://prng.di.unimi.it/splitmix64.c
uint64_t event_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct bench_event event_nth(uint64_t run, uint64_t n)
{
    uint64_t round = n / (EVENT_STRIDE * EVENT_STEPS), within = n % (EVENT_STRIDE * EVENT_STEPS);
    uint64_t order = round * EVENT_STRIDE + within % EVENT_STRIDE;
    struct bench_event event = {.step = (int)(within / EVENT_STRIDE) + 1};
    uint64_t a = event_mix(run * 0x9e3779b97f4a7c15u + n);
    snprintf(event.id, sizeof event.id, "msg_%016llx%08llx", (unsigned long long)a,
            (unsigned long long)event_mix(a) >> 32);
    snprintf(event.order, sizeof event.order, "%08llx-%llu",
            (unsigned long long)event_mix(run) >> 32, 100000 + (unsigned long long)order);
    snprintf(event.email, sizeof event.email, "buyer.%llu@example.net", (unsigned long long)order);
    return event;
}

void event_body(const struct bench_event *event, const char *iso, struct text *out)
{
    text_fmt(out,
            "{\"type\":\"order.s%d\",\"timestamp\":\"%s\",\"data\":{\"order\":{\"id\":\"%s\","
            "\"total\":\"149.90\",\"currency\":\"EUR\",\"lines\":[{\"sku\":\"AB-10442-XL\","
            "\"count\":2,"
            "\"price\":\"49.95\"},{\"sku\":\"CK-00021\",\"count\":1,\"price\":\"50.00\"}]},"
            "\"customer\":{\"email\":\"%s\",\"name\":\"Maria "
            "Beispiel\",\"zone\":\"Europe/Berlin\"},"
            "\"shipping\":{\"street\":\"Lange Gasse 7\",\"city\":\"Nuernberg\",\"code\":\"90403\","
            "\"country\":\"DE\"},\"note\":\"Please ring twice, the bell on the left side is "
            "broken.\"}}",
            event->step, iso, event->order, event->email);
}
