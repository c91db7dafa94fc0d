// ports.h: free TCP ports on loopback, so that two `pawl up` on one machine never choose the same.
#pragma once
#include "common/base.h"

enum { PORTS_MAX = 8 };

// What is reserved: an abstract unix socket a port, named after it; the kernel drops it with the
// process, and it is seen by every user of the same network namespace. Begin with a zeroed one.
struct ports {
    int held[PORTS_MAX];
    size_t n;
};

// The first of n neighbouring ports from `from` on that nobody listens on and nobody has reserved;
// 0 when there is none among 200.
int ports_take(struct ports *ports, int from, int n);
void ports_free(struct ports *ports);
