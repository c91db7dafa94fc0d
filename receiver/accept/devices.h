// devices.h: the devices that a contact names: each is sent a push message of its own.
#pragma once
#include "common/base.h"

enum {
    DEVICES_MAX = 64,          // further ones of a contact are left out
    DEVICE_ADDRESS_MAX = 4096, // bytes
    DEVICE_TARGET_ROOM = 32,
};

struct device {
    // "webpush-0f31..": its kind and a hash of its token, in 16 hex digits. The same device has the
    // same target, so that it is sent a message once.
    char target[DEVICE_TARGET_ROOM];
    char *address; // the token; of webpush the subscription as JSON
};

// Reads contact.push: a list of {"kind": "apns" | "fcm" | "webpush", "token": ..}; the token of
// webpush is the browser's subscription, as an object or as its JSON text. What is none of these is
// left out, and so is one that is there twice. Returns how many; devices_free() the list.
size_t devices_read(const char *contact, struct device **ret_list);
void devices_free(struct device *list, size_t n);
