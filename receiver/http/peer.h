// peer.h: the address at the other end of a connection, which may be a proxy's.
#pragma once
#include "common/http/loop.h"

enum { PEER_MAX = 64 }; // an IPv6 address with its zone, NUL included

// Writes the address without its port; "" when it is not known (a UNIX socket).
void peer_write(h2o_req_t *req, char out[PEER_MAX]);
