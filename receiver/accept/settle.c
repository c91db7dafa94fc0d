#include "receiver/accept/settle.h"

#include <stdio.h>

#define WAIT_DEFAULT_MS 60000

const char *settle_outcome_name(enum settle_outcome outcome)
{
    static const char *const names[] = {[SETTLE_MOVED] = "moved",
            [SETTLE_SAME] = "same",
            [SETTLE_STALE] = "stale",
            [SETTLE_NOTED] = "noted",
            [SETTLE_NOWHERE] = "unknown_delivery"};
    return (size_t)outcome < ARRAY_LEN(names) && names[outcome] ? names[outcome] : "none";
}

void settle_fini(struct settle *settle)
{
    free(settle->address);
    free(settle->provider_id);
    free(settle->driver);
    for (size_t i = 0; i < settle->n_failed; i++)
        free(settle->failed[i]);
    free(settle->failed);
}

void settle_failed(struct settle *settle, const char *id)
{
    settle->failed = xrealloc(settle->failed, (settle->n_failed + 1) * sizeof *settle->failed);
    settle->failed[settle->n_failed++] = xstrdup(id);
}

static bool failed_before(const struct settle *settle, const char *id)
{
    for (size_t i = 0; i < settle->n_failed; i++)
        if (strcmp(settle->failed[i], id) == 0)
            return true;
    return false;
}

// Whether the receipt is of the try that counts now. While a try is on the wire, or its outcome is
// unknown, the id that is stored is an earlier one's; else it is the last one's. Where an id lacks
// on either side, it is taken to be of this try. What is due after a try in doubt, to be asked
// about or sent again, is such an unknown outcome. While a repeat of one in doubt is on the wire,
// what is not known to be of an earlier try is taken to be of the one in doubt: it had more time.
// The words of another provider are of a try before it was passed on.
static bool of_this_try(const struct settle *settle, const struct receipt *receipt)
{
    const char *last = settle->id[0] ? settle->id : settle->provider_id;
    if (settle->driver && receipt->provider && strcmp(settle->driver, receipt->provider) != 0)
        return false;
    if (settle->state == SETTLE_WIRE && settle->doubt)
        return false;
    if (!last || !receipt->id[0])
        return true;
    if (strcmp(last, receipt->id) != 0 && failed_before(settle, receipt->id))
        return false;
    bool earlier = settle->state == SETTLE_WIRE || settle->state == SETTLE_UNKNOWN ||
                   (settle->state == SETTLE_DUE && settle->doubt);
    return (strcmp(last, receipt->id) == 0) != earlier;
}

static void move(struct settle *settle, int state, const struct receipt *receipt)
{
    settle->state = state;
    settle->changed = true;
    settle->again = settle->asks = settle->doubt = false;
    snprintf(settle->id, sizeof settle->id, "%s", receipt->id);
    snprintf(settle->reason, sizeof settle->reason, "%s",
            state == SETTLE_ACCEPTED || state == SETTLE_DELIVERED ? "" : receipt->said);
}

static bool is(int state, const int *list)
{
    for (; *list >= 0; list++)
        if (*list == state)
            return true;
    return false;
}

// A word that it was taken settles what nobody knew. Where a later word of the same message is
// known already, it is late.
static enum settle_outcome judge_accepted(struct settle *settle, const struct receipt *receipt)
{
    static const int open[] = {SETTLE_DUE, SETTLE_WIRE, SETTLE_UNKNOWN, -1};
    const char *last = settle->id[0] ? settle->id : settle->provider_id;
    if (!is(settle->state, open))
        return SETTLE_SAME;
    if ((last && strcmp(last, receipt->id) == 0) || failed_before(settle, receipt->id))
        return SETTLE_SAME;
    move(settle, SETTLE_ACCEPTED, receipt);
    return SETTLE_MOVED;
}

// Whichever try it is of: it is there.
static enum settle_outcome judge_good(
        struct settle *settle, const struct receipt *receipt, int state)
{
    static const int before_delivered[] = {SETTLE_DUE, SETTLE_WIRE, SETTLE_ACCEPTED, SETTLE_REFUSED,
            SETTLE_EXPIRED, SETTLE_DEAD, SETTLE_UNKNOWN, -1};
    static const int also_before_complained[] = {SETTLE_DELIVERED, SETTLE_BOUNCED, -1};
    if (settle->state == state)
        return SETTLE_SAME;
    if (!is(settle->state, before_delivered) &&
            !(state == SETTLE_COMPLAINED && is(settle->state, also_before_complained)))
        return SETTLE_STALE;
    move(settle, state, receipt);
    return SETTLE_MOVED;
}

static enum settle_outcome judge_bad(
        struct settle *settle, const struct receipt *receipt, int state)
{
    static const int before[] = {SETTLE_DUE, SETTLE_WIRE, SETTLE_ACCEPTED, SETTLE_UNKNOWN, -1};
    if (settle->state == SETTLE_REFUSED || settle->state == SETTLE_BOUNCED)
        return SETTLE_SAME;
    if (!is(settle->state, before) || !of_this_try(settle, receipt))
        return SETTLE_STALE;
    move(settle, state, receipt);
    return SETTLE_MOVED;
}

// The ladder's rung of this step, spread by the jitter, and never below what the provider's code
// asks for.
static int64_t wait_of(const struct settle *settle, const struct receipt *receipt,
        const struct message *message, uint32_t random)
{
    int64_t wait_ms = WAIT_DEFAULT_MS;
    if (message && message->n_wait) {
        size_t step = settle->tries > 0 ? (size_t)settle->tries - 1 : 0;
        wait_ms = message->wait_ms[step < message->n_wait ? step : message->n_wait - 1];
    }
    double spread = (double)wait_ms * (message ? message->jitter_percent : 20) / 100.0;
    wait_ms += (int64_t)(spread * ((double)random / (double)UINT32_MAX * 2.0 - 1.0));
    return wait_ms > receipt->wait_s * 1000 ? wait_ms : receipt->wait_s * 1000;
}

// It surely did not arrive: an at-least-once delivery is due again, in its own slot, while its time
// lasts; one that waits for its next try already does so in its own time. One that is at most once
// was on the wire, and stays off it.
static enum settle_outcome judge_temporary(struct settle *settle, const struct receipt *receipt,
        const struct message *message, uint32_t random)
{
    static const int before[] = {SETTLE_WIRE, SETTLE_ACCEPTED, SETTLE_UNKNOWN, -1};
    bool due = settle->state == SETTLE_DUE, waits = due && !settle->asks;
    if ((due && !settle->doubt) || settle->state == SETTLE_BOUNCED)
        return SETTLE_SAME;
    if (!(due || is(settle->state, before)) || !of_this_try(settle, receipt))
        return SETTLE_STALE;
    int64_t wait_ms = waits ? receipt->wait_s * 1000 : wait_of(settle, receipt, message, random);
    int64_t at_us = settle->now_us + wait_ms * 1000;
    bool in_time = at_us < settle->retry_until_us &&
                   (settle->expires_us == 0 || at_us < settle->expires_us);
    bool again = settle->order == AT_LEAST_ONCE && (waits || in_time);
    move(settle, again ? SETTLE_DUE : SETTLE_BOUNCED, receipt);
    settle->again = again && !(waits && wait_ms == 0);
    settle->wait_ms = settle->again ? wait_ms : 0;
    if (receipt->id[0])
        settle_failed(settle, receipt->id);
    return SETTLE_MOVED;
}

enum settle_outcome settle_judge(struct settle *settle, const struct receipt *receipt,
        const struct message *message, uint32_t random)
{
    if (!settle->there)
        return SETTLE_NOWHERE;
    if (receipt->kind == RECEIPT_UNSUBSCRIBED)
        return SETTLE_NOTED;
    if (settle->tries == 0)
        return SETTLE_STALE; // nothing of it was ever on the wire
    switch (receipt->kind) {
    case RECEIPT_ACCEPTED:
        return judge_accepted(settle, receipt);
    case RECEIPT_DELIVERED:
        return judge_good(settle, receipt, SETTLE_DELIVERED);
    case RECEIPT_COMPLAINED:
        return judge_good(settle, receipt, SETTLE_COMPLAINED);
    case RECEIPT_REFUSED:
        return judge_bad(settle, receipt, SETTLE_REFUSED);
    case RECEIPT_BOUNCED:
        return judge_bad(settle, receipt, SETTLE_BOUNCED);
    case RECEIPT_TEMPORARY:
        return judge_temporary(settle, receipt, message, random);
    case RECEIPT_NONE:
    case RECEIPT_UNSUBSCRIBED:
        break;
    }
    return SETTLE_NOTED;
}
