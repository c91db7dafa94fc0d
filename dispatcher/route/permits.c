#include "dispatcher/route/permits.h"

int permits_batch(double rate)
{
    double batch = rate * PERMITS_DEPTH_S;
    return batch > 1 ? (int)batch : 1;
}

void permits_rate(struct permits *permits, double rate)
{
    permits->rate = rate > 0 ? rate : 0;
    if (permits->held > permits_batch(permits->rate))
        permits->held = permits_batch(permits->rate);
}

int permits_room(const struct permits *permits, int limit)
{
    if (!(permits->rate > 0))
        return limit;
    return permits->held < limit ? permits->held : limit;
}

bool permits_wanted(const struct permits *permits, int64_t now_ms)
{
    return permits->rate > 0 && permits->held == 0 && now_ms >= permits->ask_ms;
}

void permits_use(struct permits *permits)
{
    if (permits->rate > 0 && permits->held > 0)
        permits->held--;
}

void permits_back(struct permits *permits)
{
    if (permits->rate > 0 && permits->held < permits_batch(permits->rate))
        permits->held++;
}

void permits_granted(struct permits *permits, int n, int64_t next_ms, int64_t now_ms)
{
    permits->held += n;
    if (permits->held > permits_batch(permits->rate)) // some came back meanwhile
        permits->held = permits_batch(permits->rate);
    permits->ask_ms = now_ms + (next_ms > 0 ? next_ms : 0);
}
