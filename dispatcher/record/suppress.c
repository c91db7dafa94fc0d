#include "dispatcher/record/suppress.h"

#include "common/log.h"
#include "common/metrics.h"

// The provider's own code of a refusal at address level, and what it says of the address. Codes of
// which it is not sure that this address is meant, for good, are not here.
static const struct {
    enum channel_kind channel;
    const char *code;
    enum suppression suppression;
} codes[] = {
        {CHANNEL_EMAIL, "5.1.1", SUPPRESSED_HARD_BOUNCE},  // no such mailbox
        {CHANNEL_EMAIL, "5.1.2", SUPPRESSED_HARD_BOUNCE},  // no such domain
        {CHANNEL_EMAIL, "5.1.3", SUPPRESSED_HARD_BOUNCE},  // no address at all
        {CHANNEL_EMAIL, "5.1.6", SUPPRESSED_HARD_BOUNCE},  // moved
        {CHANNEL_EMAIL, "5.1.10", SUPPRESSED_HARD_BOUNCE}, // null MX: takes no mail
        {CHANNEL_EMAIL, "5.2.1", SUPPRESSED_HARD_BOUNCE},  // disabled
        {CHANNEL_EMAIL, "406", SUPPRESSED_HARD_BOUNCE},    // postmark: inactive recipient
        {CHANNEL_SMS, "21610", SUPPRESSED_OPT_OUT},        // twilio
        {CHANNEL_SMS, "21211", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "21614", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "30005", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "30006", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "40300", SUPPRESSED_OPT_OUT}, // telnyx
        {CHANNEL_SMS, "10002", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "10016", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "40001", SUPPRESSED_HARD_BOUNCE},
        {CHANNEL_SMS, "40310", SUPPRESSED_HARD_BOUNCE},
};

static enum suppression by_code(enum channel_kind channel, const char *code)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].channel == channel && strcmp(codes[i].code, code) == 0)
            return codes[i].suppression;
    return SUPPRESSED_NOT;
}

// A token of another project is our mistake, not the device's end. One that was given to us after
// the service last found it dead may have been registered anew.
static enum suppression of_push(const struct delivery *delivery)
{
    const struct attempt_result *result = &delivery->result;
    if (strncmp(result->detail, "SENDER_ID_MISMATCH", 18) == 0)
        return SUPPRESSED_NOT;
    if (result->dead_since_ms && delivery->created_us / 1000 > result->dead_since_ms)
        return SUPPRESSED_NOT;
    return SUPPRESSED_UNREGISTERED;
}

enum suppression suppression_of(const struct delivery *delivery)
{
    const struct attempt_result *result = &delivery->result;
    // Without a code it was refused by us, before anybody was asked.
    if (result->outcome != ATTEMPT_REFUSED || result->level != LEVEL_ADDRESS || result->code == 0)
        return SUPPRESSED_NOT;
    if (delivery->channel == CHANNEL_PUSH)
        return of_push(delivery);
    return by_code(delivery->channel, result->enhanced);
}

struct count {
    int64_t slot; // which stretch of GUARD_SLOT_MS
    int results, dead;
};

struct watched {
    char *provider;
    struct count counts[GUARD_SLOTS];
    bool closed;
};

struct guard {
    struct watched *rows;
    size_t n;
};

struct guard *guard_new(void)
{
    return xcalloc(1, sizeof(struct guard));
}

void guard_free(struct guard *guard)
{
    if (!guard)
        return;
    for (size_t i = 0; i < guard->n; i++)
        free(guard->rows[i].provider);
    free(guard->rows);
    free(guard);
}

// As many as the policies name.
static struct watched *watched(struct guard *guard, const char *provider)
{
    const char *name = provider ? provider : "";
    for (size_t i = 0; i < guard->n; i++)
        if (strcmp(guard->rows[i].provider, name) == 0)
            return &guard->rows[i];
    guard->rows = xrealloc(guard->rows, (guard->n + 1) * sizeof *guard->rows);
    struct watched *row = &guard->rows[guard->n++];
    *row = (struct watched){.provider = xstrdup(name)};
    return row;
}

void guard_note(struct guard *guard, const char *provider, bool dead, int64_t now_ms)
{
    int64_t slot = now_ms / GUARD_SLOT_MS;
    struct count *count = &watched(guard, provider)->counts[slot % GUARD_SLOTS];
    if (count->slot != slot)
        *count = (struct count){.slot = slot};
    count->results++;
    count->dead += dead;
}

bool guard_allows(struct guard *guard, const char *provider, int64_t now_ms, bool *ret_changed)
{
    struct watched *row = watched(guard, provider);
    int64_t oldest = now_ms / GUARD_SLOT_MS - GUARD_SLOTS + 1;
    int64_t results = 0, dead = 0;
    for (size_t i = 0; i < GUARD_SLOTS; i++) {
        if (row->counts[i].slot < oldest)
            continue;
        results += row->counts[i].results;
        dead += row->counts[i].dead;
    }
    bool closed = dead > GUARD_DEAD_MIN && dead * 100 > results * GUARD_DEAD_PERCENT;
    *ret_changed = closed != row->closed;
    row->closed = closed;
    return !closed;
}

// What a person decided is no sign of a broken provider, and is kept whatever else happens.
static bool is_dead(enum suppression suppression)
{
    return suppression != SUPPRESSED_NOT && suppression != SUPPRESSED_OPT_OUT;
}

void suppress_note(struct guard *guard, const struct delivery *delivery, int64_t now_ms)
{
    if (delivery->result.outcome != ATTEMPT_GIVEN_BACK)
        guard_note(guard, delivery->provider, is_dead(suppression_of(delivery)), now_ms);
}

enum suppression suppress_decide(
        struct guard *guard, const struct delivery *delivery, int64_t now_ms)
{
    enum suppression suppression = suppression_of(delivery);
    if (!is_dead(suppression))
        return suppression;
    bool changed = false;
    if (guard_allows(guard, delivery->provider, now_ms, &changed))
        return suppression;
    series_inc(metric(METRIC_SUPPRESSED_NOT, channel_name(delivery->channel),
            suppression_name(suppression), NULL));
    if (changed)
        LOG(ERROR, "suppress.guard",
                "too many addresses die at once at this provider: none of them is suppressed",
                L_STR("provider", delivery->provider ? delivery->provider : ""),
                L_STR("channel", channel_name(delivery->channel)));
    return SUPPRESSED_NOT;
}
