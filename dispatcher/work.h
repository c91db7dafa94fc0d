// work.h: how a stage runs its transaction on one of the loop's connections: flight by
// flight, never waiting.
#pragma once
#include "common/pg/pg.h"

enum work {
    WORK_FLYING, // a flight was launched: come back with next() when it has landed
    WORK_DONE,   // nothing is open any more
    WORK_FAILED, // err says why; the loop rolls back and calls fail()
};

// One kind of work. self is the stage's own object. After start() returned WORK_FLYING the loop
// calls next() once a flight until it returns something else; fail() instead when a flight failed,
// was not answered in time (pg may be dead then), or start() or next() said WORK_FAILED.
struct work_kind {
    const char *name;
    void *self;
    enum work (*start)(void *self, struct pg *pg, struct err *err);
    enum work (*next)(void *self, struct pg *pg, struct err *err);
    void (*fail)(void *self, struct pg *pg);
    // May be NULL. Called while a flight is in the air, once a turn of the loop: does a little of
    // what comes next. True: there is more of it.
    bool (*meanwhile)(void *self);
};
