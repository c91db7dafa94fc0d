#include "common/place.h"

#include <stdio.h>

enum { REDRIVE_MAX = 1000000 };

void place_write(const struct delivery_place *place, char out[PLACE_MAX])
{
    char hex[KEY_HEX];
    key_hex(place->notification, hex);
    snprintf(out, PLACE_MAX, "%x-%s-%d", (unsigned)place->bucket % BUCKETS, hex,
            place->redrive % REDRIVE_MAX);
}

static int digit_of(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

// Takes a number off the front of *text; false when there is none, or it is above most.
static bool take_number(struct slice *text, int base, int most, int *ret_number)
{
    size_t n = 0;
    int number = 0;
    for (; n < text->len && digit_of(text->ptr[n]) < base; n++) {
        number = number * base + digit_of(text->ptr[n]);
        if (number > most)
            return false;
    }
    *text = (struct slice){text->ptr + n, text->len - n};
    *ret_number = number;
    return n > 0;
}

static bool take_hyphen(struct slice *text)
{
    bool there = text->len > 0 && text->ptr[0] == '-';
    if (there)
        *text = (struct slice){text->ptr + 1, text->len - 1};
    return there;
}

bool place_read(struct slice text, struct delivery_place *ret_place)
{
    struct delivery_place place;
    char again[PLACE_MAX];
    struct slice rest = text, hex;
    if (!take_number(&rest, 16, BUCKETS - 1, &place.bucket) || !take_hyphen(&rest) ||
            rest.len < KEY_HEX - 1)
        return false;
    hex = (struct slice){rest.ptr, KEY_HEX - 1};
    rest = (struct slice){rest.ptr + hex.len, rest.len - hex.len};
    if (!key_from_hex(hex, &place.notification) || !take_hyphen(&rest) ||
            !take_number(&rest, 10, REDRIVE_MAX - 1, &place.redrive) || rest.len)
        return false;
    // One spelling only.
    place_write(&place, again);
    if (!slice_eq(text, slice_of(again)))
        return false;
    *ret_place = place;
    return true;
}

struct key place_key(const struct delivery_place *place, int channel)
{
    return key_delivery(place->notification, channel, SLICE(""), place->redrive);
}
