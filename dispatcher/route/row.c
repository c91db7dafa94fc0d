#include "dispatcher/route/row.h"

void row_host(const char *url, char out[ROUTE_HOST_MAX])
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    size_t len = strcspn(start, "/?#");
    out[0] = '\0';
    if (len >= ROUTE_HOST_MAX)
        return;
    for (size_t i = 0; i < len; i++)
        out[i] = ascii_lower(start[i]);
    out[len] = '\0';
}

static bool same_host(const struct row *a, const struct row *b)
{
    return a->provider && b->provider && a->host[0] && strcmp(a->host, b->host) == 0;
}

int row_transfers(const struct row *rows, size_t n, const struct row *row)
{
    int room = row->limit - row->flying;
    int flying = 0, limit = 0;
    for (size_t i = 0; i < n; i++) {
        if (!same_host(&rows[i], row))
            continue;
        flying += rows[i].flying;
        limit = rows[i].limit > limit ? rows[i].limit : limit;
    }
    if (limit > 0 && limit - flying < room)
        room = limit - flying;
    return room > 0 ? room : 0;
}

int row_room(const struct row *rows, size_t n, const struct row *row, int64_t now_ms)
{
    int transfers = row_transfers(rows, n, row);
    int let = breaker_room(&row->breaker, now_ms, transfers);
    return permits_room(&row->permits, let);
}
