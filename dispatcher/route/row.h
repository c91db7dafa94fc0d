// row.h: what is remembered of one provider.
#pragma once
#include "dispatcher/delivery.h"
#include "dispatcher/route/breaker.h"
#include "dispatcher/route/budget.h"
#include "dispatcher/route/choose.h"
#include "dispatcher/route/permits.h"

enum { ROUTE_HOST_MAX = 256, ROUTE_NAME_MAX = 64 };

struct row {
    enum channel_kind channel;
    char name[ROUTE_NAME_MAX];
    const struct provider *provider; // of the active policy; NULL = not in it
    int64_t key_window_us;
    char host[ROUTE_HOST_MAX]; // of SMTP: connections to one are counted together; "" = none
    int limit, flying;
    struct breaker breaker;
    struct budget budget;
    struct permits permits;
};

// host:port of an smtp:// or smtps:// URL, in lower case; "" when it is too long.
void row_host(const char *url, char out[ROUTE_HOST_MAX]);

// What the rows say of its transfers alone: its own limit, and that of its host.
int row_transfers(const struct row *rows, size_t n, const struct row *row);

// How many tries may start with it now.
int row_room(const struct row *rows, size_t n, const struct row *row, int64_t now_ms);
