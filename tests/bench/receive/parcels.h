// parcels.h: the receiver's own statements for batches of events, with every parameter made before
// the clock starts.
//
// A parcel is one transaction in up to four flights, as receiver/accept/txn.c runs it when every
// event is applied.
#pragma once
#include "tests/bench/receive/events.h"

#define PARCEL_FLIGHTS 4

enum { CALL_BEGIN = -1, CALL_COMMIT = -2 }; // in place of a number of accept_sql.h

struct parcel_param {
    size_t offset; // into parcels.bytes
    int len;       // -1 = NULL
};

struct parcel_call {
    int stmt;
    size_t param; // its first
    int n_params;
};

struct parcel {
    size_t call[PARCEL_FLIGHTS + 1]; // flight f is calls call[f] .. call[f + 1] - 1; may be empty
    int n_events, n_orders;
};

struct parcels {
    struct text bytes;
    struct parcel_param *params;
    struct parcel_call *calls;
    struct parcel *items;
    size_t n_params, params_room, n_calls, calls_room, n;
};

struct parcel_options {
    uint64_t run;
    size_t events, batch; // distinct events in all; events of a transaction, at most 1024
    int repeat_percent;   // so many of a batch's events came before
};

struct parcels *parcels_new(const struct parcel_options *options);
void parcels_free(struct parcels *parcels);
