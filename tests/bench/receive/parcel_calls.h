// parcel_calls.h: the receiver's statements one by one, with the parameters of a list of events.
#pragma once
#include "common/keys.h"
#include "tests/bench/receive/parcels.h"

// An event with all that its rows hold.
struct row {
    struct bench_event event;
    struct key arrival, note;
    int bucket, order_bucket;
    unsigned char fp[32];
    char once[80], contact[80], data[40], note_data[400], headers[320];
    char body[EVENT_BODY_MAX];
    size_t n; // place in the stream
    bool repeat;
};

void parcel_call(struct parcels *out, int stmt); // starts the next call

// As receiver/accept/rows.c and rows_out.c; the lists are in the order that the receiver sorts them
// in.
void call_keys(struct parcels *out, struct row **list, size_t n);
void call_repeats(struct parcels *out, struct row **list, size_t n);
void call_orders(struct parcels *out, struct row **list, size_t n);
void call_update(struct parcels *out, struct row **list, size_t n);
void call_notifications(struct parcels *out, struct row **list, size_t n);
void call_bodies(struct parcels *out, struct row **list, size_t n);
void call_moves(struct parcels *out, struct row **list, size_t n);
void call_deliveries(struct parcels *out, struct row **list, size_t n);
