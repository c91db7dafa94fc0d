// Counts what ended in a claim, and what the gates said.
#include "common/log.h"
#include "common/metrics.h"
#include "dispatcher/claim/member.h"

enum { RESULT_OPEN, RESULT_LATER, RESULT_END }; // and from there on the states that end

enum { RESULTS = RESULT_END + DELIVERY_COMPLAINED + 1 };

static const char *result_name(int result)
{
    if (result == RESULT_OPEN)
        return "open";
    return result == RESULT_LATER ? "later"
                                  : delivery_state_name((enum delivery_state)(result - RESULT_END));
}

static int result_of(const struct member *member)
{
    return member->fate == FATE_LATER ? RESULT_LATER : RESULT_END + (int)member->end;
}

// An end counts when the COMMIT confirmed it; one by hand was written by that hand.
static bool closed_one(const struct member *member)
{
    bool ended = member->fate == FATE_END && (member->confirmed || member->at == GATE_CANCELLED);
    return member->at < GATE_COUNT && (ended || member->fate == FATE_LATER);
}

static void count_end(const struct member *member)
{
    const struct delivery *d = member->delivery;
    const char *end = delivery_state_name(member->end);
    series_inc(metric(METRIC_DELIVERIES, channel_name(d->channel), end, NULL));
    LOG(WARNING, "delivery.end", "a delivery ended before it was sent", L_STR("once", d->once),
            L_STR("end", end), L_STR("reason", member->reason));
}

static void count_gates(const struct member *members, size_t n)
{
    int tally[GATE_COUNT][CHANNEL_COUNT][RESULTS] = {0};
    for (size_t i = 0; i < n; i++) {
        enum channel_kind channel = members[i].delivery ? members[i].delivery->channel : 0;
        bool put_back = members[i].fate == FATE_LATER && members[i].at == GATE_COUNT; // by no gate
        if (channel >= CHANNEL_COUNT || put_back)
            continue;
        for (int gate = 0; gate < (int)members[i].at; gate++)
            tally[gate][channel][RESULT_OPEN]++;
        if (closed_one(&members[i]))
            tally[members[i].at][channel][result_of(&members[i])]++;
    }
    for (int gate = 0; gate < GATE_COUNT; gate++)
        for (int channel = 0; channel < CHANNEL_COUNT; channel++)
            for (int result = 0; result < RESULTS; result++)
                if (tally[gate][channel][result])
                    series_add(metric(METRIC_GATES, gate_name((enum gate_kind)gate),
                                       channel_name((enum channel_kind)channel),
                                       result_name(result), NULL),
                            tally[gate][channel][result]);
}

void members_count(const struct member *members, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (members[i].fate == FATE_END && members[i].confirmed)
            count_end(&members[i]);
    count_gates(members, n);
}
