// desk.h: one connection to the database that does one piece of work at a time, and never waits.
#pragma once
#include "dispatcher/connector.h"
#include "dispatcher/work.h"

enum { DESK_FLIGHT_MAX_MS = 10000 }; // a database that answers nothing for so long is gone

struct desk {
    struct connector *connector;
    struct pg *pg; // NULL = not connected
    bool working;  // .work has a flight in the air
    struct work_kind work;
    int64_t launched_ms, quiet_until_ms; // nothing begins before
    int watched_fd;                      // by desk_watch(), -1 = none
    short watched;                       // for these events
};

// options must outlive it; wake is as connector.h says.
void desk_init(
        struct desk *desk, const struct pg_options *options, void (*wake)(void *user), void *user);
void desk_fini(struct desk *desk); // zeroed is fine

// Connects; call again until it is CONNECTED. A failure is logged and counted.
enum connecting desk_connect(struct desk *desk, struct err *err);
void desk_disconnect(struct desk *desk);

// Begins a piece of work / goes on with it. True when it has ended well, which may be at once.
// Work that failed was told so, and begins nothing for a moment after.
bool desk_begin(struct desk *desk, struct work_kind work);
bool desk_go_on(struct desk *desk);

// What its work can do while the flight is in the air; true: there is more of it.
bool desk_meanwhile(struct desk *desk);

// Connected, without work, and not quiet.
bool desk_free(const struct desk *desk, int64_t now_ms);

// Has epoll_fd tell when the flight in the air can go on; without one, nothing.
void desk_watch(struct desk *desk, int epoll_fd);

// When it wants a turn although nothing happens: a flight that hangs, a connection.
int64_t desk_next_ms(const struct desk *desk, int64_t now_ms);

// Counts an error of the database by its class; of the connection when pg has none.
void desk_count_failure(const struct pg *pg);
