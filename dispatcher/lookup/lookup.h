// lookup.h: asks providers what became of tries whose outcome is unknown: in rounds, each under a
// lease as a claim has, so that a crash neither loses nor settles anything.
//
// A round: take rows of a channel's look-up lane, with a claim row (one transaction); ask; record
// all that was said behind the fence, and drop the claim (another). A lease that ran out puts its
// rows back (takeover.sql). A round lasts as long as its slowest answer, so each channel has its
// own: a provider that hangs holds up no other channel's.
#pragma once
#include "dispatcher/delivery.h"
#include "dispatcher/lease.h"
#include "dispatcher/work.h"

enum {
    LOOKS_MAX = 8,                                // of one round, asked at once
    LOOKS_ROUNDS = CHANNEL_COUNT - CHANNEL_EMAIL, // one a channel
    LOOKS_EVERY_MS = 1000,                        // an idle dispatcher looks for a round so often
    LOOKS_MORE_MS = 50,                           // after a full one
    LOOKS_LANE = 9,                               // channel * 10 + 9: where no claim looks
};

struct look; // one that is being asked about; its answer goes to look_landed()

struct lookup_options {
    struct leases *leases;
    const struct policy *(*sender)(void *user);
    // Builds and sends the question to this provider; false: it can't be asked (any more).
    bool (*ask)(void *user, const struct provider *provider, enum channel_kind channel,
            const char *key_hex, int64_t created_us, struct look *look);
    void *user;
};

struct lookups;
struct lookups *lookups_new(const struct lookup_options *options);
void lookups_free(struct lookups *lookups); // NULL is fine

// Is this provider's id that of a message before, of which a receipt said that it failed? It is not
// what is asked about.
bool look_failed(const struct look *look, const char *id);

// What the provider said: outcome is FOUND, NOT_FOUND or UNANSWERED.
void look_landed(struct look *look, const struct attempt_result *result);

// When it has work next (clock_mono_ms), INT64_MAX = it waits for answers; may_begin: a new round.
int64_t lookups_next_ms(const struct lookups *lookups, bool may_begin);
bool lookups_busy(const struct lookups *lookups); // a round is under way

// That work: a step of one round, of the one whose turn is first.
struct work_kind lookups_work(struct lookups *lookups, bool may_begin);
