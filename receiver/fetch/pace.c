#include "receiver/fetch/pace.h"

// A bucket of `burst` permits, one more each `each_ms`, kept as the moment when it is full again.
static bool has_permit(const struct pace_bucket *bucket, int burst, int each_ms, int64_t mono_ms)
{
    return bucket->full_ms - mono_ms <= (int64_t)(burst - 1) * each_ms;
}

static void take(struct pace_bucket *bucket, int each_ms, int64_t mono_ms)
{
    bucket->full_ms = (bucket->full_ms > mono_ms ? bucket->full_ms : mono_ms) + each_ms;
}

static struct pace_bucket *bucket_of(struct pace *pace, const char *source)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (const char *at = source; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return &pace->sources[hash % PACE_SOURCES];
}

bool pace_take(struct pace *pace, const char *source, int64_t mono_ms)
{
    struct pace_bucket *own = bucket_of(pace, source);
    if (!has_permit(&pace->all, PACE_ALL_BURST, PACE_ALL_EACH_MS, mono_ms) ||
            !has_permit(own, PACE_SOURCE_BURST, PACE_SOURCE_EACH_MS, mono_ms))
        return false;
    take(&pace->all, PACE_ALL_EACH_MS, mono_ms);
    take(own, PACE_SOURCE_EACH_MS, mono_ms);
    return true;
}
