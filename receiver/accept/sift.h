// sift.h: finds which events of one request the database refuses, by trying halves of it.
#pragma once
#include "receiver/accept/txn.h"

// Runs the arrival without those that are left out, and takes it back whatever comes of it:
// TXN_DONE = the database would take it.
typedef enum txn_end sift_try(void *user);

enum { SIFT_TRIES_MAX = 100 }; // past it what is not told apart is refused together

// Marks in arrival->marks what the database refuses (TXN_BAD_DATA) as EVENT_REFUSED, all others as
// EVENT_TAKEN. TXN_DONE = that is done, or it takes all of them now and there are no marks;
// TXN_BAD_DATA = nothing could be singled out; other ends are those of a try that told nothing. No
// mark is left then. The arrival must be alone.
enum txn_end sift(struct arrival *arrival, sift_try *try, void *user);

// Takes the marks from all arrivals of the list: they are read anew.
void sift_forget(struct arrival *arrivals);

// What is refused though it means nothing any more is stored without what it brings of its own.
// False when nothing was marked as refused.
bool sift_strip(struct arrival *arrival);
