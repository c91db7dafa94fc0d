// order.h: the order in which rows of deliveries are locked, everywhere: that of their primary key.
#pragma once
#include "dispatcher/delivery.h"

// Below, equal to or above 0 as for qsort.
static inline int delivery_compare(const struct delivery *a, const struct delivery *b)
{
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    int order = memcmp(&a->notification, &b->notification, sizeof a->notification);
    if (order != 0)
        return order;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    order = strcmp(a->target, b->target);
    return order != 0 ? order : a->redrive - b->redrive;
}
