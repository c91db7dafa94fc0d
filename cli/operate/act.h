// act.h: how a command acts on deliveries: picks them, says what would happen, asks, and does it in
// batches. Each batch is one transaction whose statements change only what still is as it was seen,
// so a command that was cut off is simply run again.
#pragma once
#include "cli/context.h"
#include "cli/operate/pick.h"

enum { BATCH_MAX = 100 }; // rows of one transaction

struct act {
    const struct call *call;
    struct pg *pg;
    struct policy *policy; // the active one
    const char *who, *why;
    bool as_sent, redrive;   // resolve
    const char *provider_id; // resolve --as sent
};

struct action {
    const char *verb, *done; // "cancel", "cancelled"
    enum delivery_state fallback;
    bool asks_for_one; // a single one needs a yes too
    bool older;        // a filter finds those that were sent anew already, too
    // Reads what foretell needs to know besides; NULL = nothing.
    bool (*look)(const struct act *act, struct picks *picks, struct err *err);
    // Does it fit? Then what would happen, else why not; a short text.
    bool (*foretell)(const struct act *act, const struct picked *p, struct text *out);
    // Adds the statements of a batch; all rows of it fit.
    void (*add)(const struct act *act, struct picked *const *rows, size_t n);
    // Marks what the flight did: it began with BEGIN, so the first statement is result 1.
    void (*take)(const struct act *act, struct picked *const *rows, size_t n);
    // The filter found nothing that fits, or a single one does not: is it so already?
    bool (*already)(const struct act *act, const struct picked *p);
};

// The exit code.
int act_run(struct act *act, const struct action *action);

// The first five parameters of every statement: which deliveries.
void act_names(struct pg *pg, struct picked *const *rows, size_t n);
// The result's first column names those that were done, from 1.
void act_mark(const struct pg *pg, int call, struct picked *const *rows, size_t n);
