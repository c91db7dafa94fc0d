// gate.h: may a delivery that was taken from `due` go on the wire? Pure.
#pragma once
#include "dispatcher/delivery.h"

struct gate {
    bool open;
    enum delivery_state end; // when closed
    const char *reason;      // static text
};

// now_us is the database's clock. A delivery that is past its time ends as `expired` or `dead`; one
// with a try of unknown outcome behind it as `unknown`, since nobody knows whether it arrived.
struct gate gate_check(const struct delivery *delivery, int64_t now_us);
