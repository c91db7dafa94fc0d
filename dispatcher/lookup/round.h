// round.h: what a round of look-ups is about, and the parameters of its statements.
#pragma once
#include "dispatcher/lookup/decide.h"
#include "dispatcher/lookup/lookup.h"

struct look {
    int bucket, redrive, tries;
    struct key notification;
    enum channel_kind channel;
    char *target, *provider;
    char **failed; // the provider's ids of messages before it that failed
    size_t n_failed;
    int64_t created_us;
    struct looked looked;
    struct attempt_result result;
    struct look_decision decision;
    bool landed;
};

// The first six parameters of both statements: which deliveries, and their step.
void look_names_add(struct pg *pg, const struct look *looks, size_t n);
// $1 to $14 of look_record.sql.
void look_rows_add(struct pg *pg, const struct look *looks, size_t n);
