// keys.h: derived keys (design: hex(sha256(len-prefixed parent .. step)) cut to 32 characters) and
// their buckets.
#pragma once
#include "common/base.h"

#define KEY_BYTES 16
#define KEY_HEX 33 // with NUL
#define BUCKETS 1024

// A derived key; also what is stored in uuid columns.
struct key {
    unsigned char bytes[KEY_BYTES];
};

// sha256 over every part, each after its length as 8 bytes big endian, cut to 16 bytes.
struct key key_derive(const struct slice *parts, size_t n);

// 0..1023, from the key's first four bytes: never changes once a key exists.
int key_bucket(struct key key);

void key_hex(struct key key, char out[KEY_HEX]);
bool key_from_hex(struct slice hex, struct key *ret_key); // 32 hex digits, dashes of a uuid allowed

struct key key_random(void); // arrival ids, claim ids, worker ids

struct key key_event(struct slice source, struct slice scope, struct slice id);
struct key key_order(struct slice order_id);
struct key key_notification(struct slice once);
// The outward key of a delivery: Message-ID, Idempotency-Key.
struct key key_delivery(struct key notification, int channel, struct slice target, int redrive);

void sha256_of(struct slice bytes, unsigned char out[32]);
