// health.h: whether each provider takes what it is given: said once when it begins to fail, and
// once when it is well again; and whether its breaker is open.
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

// Appends `,{"name":"provider_email_smtp","ok":..,"detail":..}` for each provider that was used.
// From any thread.
void health_checks(struct health *health, struct text *out);
