#include "dispatcher/stock.h"

void stock_put(struct stock *stock, struct delivery *delivery, int64_t now_ms)
{
    enum channel_kind channel = delivery->channel;
    delivery->stocked_ms = now_ms;
    delivery->next = NULL;
    if (stock->last[channel])
        stock->last[channel]->next = delivery;
    else
        stock->first[channel] = delivery;
    stock->last[channel] = delivery;
    stock->n[channel]++;
}

struct delivery *stock_take(struct stock *stock, enum channel_kind channel)
{
    struct delivery *delivery = stock->first[channel];
    if (!delivery)
        return NULL;
    stock->first[channel] = delivery->next;
    if (!delivery->next)
        stock->last[channel] = NULL;
    delivery->next = NULL;
    stock->n[channel]--;
    return delivery;
}

struct delivery *stock_take_all(struct stock *stock)
{
    struct delivery *all = NULL, **end = &all;
    for (int kind = CHANNEL_NONE; kind < CHANNEL_COUNT; kind++) {
        *end = stock->first[kind];
        if (stock->last[kind])
            end = &stock->last[kind]->next;
    }
    *stock = (struct stock){0};
    return all;
}
