// stock.h: what was claimed ahead: deliveries that wait for a free transfer, a queue a channel.
// Pure.
#pragma once
#include "dispatcher/delivery.h"

struct stock {
    struct delivery *first[CHANNEL_COUNT], *last[CHANNEL_COUNT]; // by next; owned
    int n[CHANNEL_COUNT];
};

// Zeroed: empty. The delivery, which stands in no list, is the last of its channel's.
void stock_put(struct stock *stock, struct delivery *delivery, int64_t now_ms);
struct delivery *stock_take(struct stock *stock, enum channel_kind channel); // NULL = none
struct delivery *stock_take_all(struct stock *stock);                        // by next
