// health.h: whether each provider takes what it is given: said once when it begins to fail, and
// once when it is well again; and whether its breaker is open. Whether the active policy can be
// used.
#pragma once
#include "common/text.h"
#include "dispatcher/delivery.h"

struct health;
struct health *health_new(void);
void health_free(struct health *health); // NULL is fine

// Takes in how a try ended at now_ms (clock_mono_ms). Only what began after the last sign to the
// contrary counts, so that tries in flight side by side don't tell of many changes.
// Logs `provider.failing` with the reason, or `provider.recovered`.
void health_note(struct health *health, const struct delivery *delivery, int64_t now_ms);

// Its breaker was opened for so long, or closed (0). Logs `provider.open` and `provider.closed`.
void health_breaker(
        struct health *health, enum channel_kind channel, const char *provider, int64_t open_ms);

// True while the provider fails.
bool health_failing(struct health *health, enum channel_kind channel, const char *provider);

// The active policy version can't be used, for this reason, or is in use (NULL). Logs
// `policy.unusable` once for each reason.
void health_policy(struct health *health, const char *why);

// Appends `{"name":"policy","ok":..,"detail":..}`; any: one is in use, be it an older one. From any
// thread.
void health_policy_check(struct health *health, bool any, struct text *out);

// Appends `,{"name":"provider_email_smtp","ok":..,"detail":..}` for each provider that was used.
// From any thread.
void health_checks(struct health *health, struct text *out);
