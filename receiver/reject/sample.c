#include "receiver/reject/sample.h"

#define MINUTE_US ((int64_t)60 * 1000000)
#define DAY_US ((int64_t)86400 * 1000000)
#define CHAINS 64

// A week of a flood of all kinds is below a gigabyte a process.
const struct sample_limits sample_limits_default = {.each_minute = 20,
        .source_bytes = (size_t)2 << 20,
        .bytes = (size_t)8 << 20,
        .source_a_day = (size_t)16 << 20,
        .a_day = (size_t)96 << 20,
        .kinds = 256};

// Room for bytes that comes back with time.
struct room {
    double bytes;
    int64_t at_us;
};

struct seen {
    struct seen *next;
    int source;
    int kept; // in this minute
    int64_t minute;
    struct room room;
};

struct sampler {
    struct sample_limits limits;
    struct seen *chains[CHAINS];
    struct room room;
    struct tally *tallies;
    size_t n_tallies;
};

const char *sample_name(enum sample sample)
{
    static const char *const names[] = {
            [SAMPLE_KEEP] = "kept", [SAMPLE_MANY] = "sampled", [SAMPLE_FULL] = "full"};
    return names[sample];
}

struct sampler *sampler_new(const struct sample_limits *limits)
{
    struct sampler *sampler = xcalloc(1, sizeof *sampler);
    sampler->limits = *limits;
    sampler->room = (struct room){(double)limits->bytes, 0};
    sampler->tallies = xcalloc(limits->kinds + 1, sizeof *sampler->tallies); // one for the others
    return sampler;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    for (size_t i = 0; i < CHAINS; i++) {
        for (struct seen *seen = sampler->chains[i], *next; seen; seen = next) {
            next = seen->next;
            free(seen);
        }
    }
    free(sampler->tallies);
    free(sampler);
}

// Sources come of policies, so there are few.
static struct seen *find(struct sampler *sampler, int source)
{
    struct seen **at = &sampler->chains[(unsigned)source % CHAINS];
    while (*at && (*at)->source != source)
        at = &(*at)->next;
    if (!*at) {
        *at = xcalloc(1, sizeof **at);
        (*at)->source = source;
        (*at)->room.bytes = (double)sampler->limits.source_bytes;
    }
    return *at;
}

// A clock that goes back gives no room, and takes none.
static void refill(struct room *room, size_t most, size_t a_day, int64_t now_us)
{
    if (room->at_us && now_us > room->at_us)
        room->bytes += (double)(now_us - room->at_us) / (double)DAY_US * (double)a_day;
    if (now_us > room->at_us)
        room->at_us = now_us;
    if (room->bytes > (double)most)
        room->bytes = (double)most;
}

enum sample sampler_take(struct sampler *sampler, int source, size_t bytes, int64_t now_us)
{
    const struct sample_limits *limits = &sampler->limits;
    struct seen *seen = find(sampler, source);
    if (seen->minute != now_us / MINUTE_US)
        seen->kept = 0;
    seen->minute = now_us / MINUTE_US;
    if (seen->kept >= limits->each_minute)
        return SAMPLE_MANY;
    refill(&seen->room, limits->source_bytes, limits->source_a_day, now_us);
    refill(&sampler->room, limits->bytes, limits->a_day, now_us);
    if (seen->room.bytes < (double)bytes || sampler->room.bytes < (double)bytes)
        return SAMPLE_FULL;
    seen->room.bytes -= (double)bytes;
    sampler->room.bytes -= (double)bytes;
    seen->kept++;
    return SAMPLE_KEEP;
}

static struct tally *known(struct sampler *sampler, int source, const char *reason)
{
    for (size_t i = 0; i < sampler->n_tallies; i++) {
        struct tally *tally = &sampler->tallies[i];
        if (tally->source == source && strcmp(tally->reason, reason) == 0)
            return tally;
    }
    return NULL;
}

static struct tally *tally_of(struct sampler *sampler, int source, const char *reason)
{
    struct tally *tally = known(sampler, source, reason);
    if (!tally && sampler->n_tallies >= sampler->limits.kinds) {
        source = 0;
        reason = "several";
        tally = known(sampler, source, reason);
    }
    if (tally)
        return tally;
    tally = &sampler->tallies[sampler->n_tallies++];
    *tally = (struct tally){.source = source, .reason = reason};
    return tally;
}

void sampler_count(struct sampler *sampler, const struct tally *more)
{
    struct tally *tally = tally_of(sampler, more->source, more->reason);
    if (tally->n == 0 || more->first_us < tally->first_us)
        tally->first_us = more->first_us;
    if (more->last_us > tally->last_us)
        tally->last_us = more->last_us;
    tally->n += more->n;
}

bool sampler_tally(struct sampler *sampler, int64_t began_before_us, struct tally *ret_tally)
{
    for (size_t i = 0; i < sampler->n_tallies; i++) {
        if (sampler->tallies[i].first_us >= began_before_us)
            continue;
        *ret_tally = sampler->tallies[i];
        sampler->tallies[i] = sampler->tallies[--sampler->n_tallies];
        return true;
    }
    return false;
}
