// zones.h: the names of time zones that the database's server knows; one that it does not know
// would fail the whole claim that asks for it.
//
// They are read when they are first wanted, and anew after a day or a claim that failed.
#pragma once
#include "dispatcher/work.h"

enum { ZONES_GOOD_MS = 24 * 3600 * 1000 };

struct zones;
struct zones *zones_new(void);
void zones_free(struct zones *zones);

// False: they must be read first; then zones_wanted() says so until they are.
bool zones_ready(struct zones *zones, int64_t now_ms);
bool zones_wanted(const struct zones *zones);
void zones_forget(struct zones *zones);
struct work_kind zones_work(struct zones *zones);

// The first of these that the server knows, else "UTC"; NULL is not a name. *ret_unknown: it is not
// the first name that was there.
const char *zones_choose(
        const struct zones *zones, const char *own, const char *fallback, bool *ret_unknown);
