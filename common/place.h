// place.h: where a delivery's row stands, as a text that goes out beside its key and comes back in
// a provider's receipts, so that no index is needed to find the row.
//
// "3ff-0123456789abcdef0123456789abcdef-0": bucket in hex, the notification's id, the redrive. It
// is a hint: it counts only together with the key, which is derived of it (place_key()).
#pragma once
#include "common/keys.h"

#define PLACE_MAX 48 // with NUL

struct delivery_place {
    int bucket;
    struct key notification;
    int redrive;
};

void place_write(const struct delivery_place *place, char out[PLACE_MAX]);
// False for anything that place_write() does not write.
bool place_read(struct slice text, struct delivery_place *ret_place);
// The outward key of the delivery there, of a channel whose deliveries have no target.
struct key place_key(const struct delivery_place *place, int channel);
