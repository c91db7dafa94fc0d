// providers.h: the table of drivers: who makes a provider's request, who reads its reply, and what
// can be relied on with that provider.
#pragma once
#include "dispatcher/send/http.h"

// What can be asked after a reply was lost.
enum lookup {
    LOOKUP_NONE,
    LOOKUP_REPEAT, // the same request again, with the same key
    LOOKUP_SEARCH, // a search by a reference of ours
};

struct driver_row {
    const char *name;
    enum channel_kind channel;
    // Both pure. NULL: SMTP, which is no request and reply.
    // False + err: *ret_level says what it is about (ERR_FATAL with LEVEL_PROVIDER: the settings).
    bool (*build)(const struct content *content, const struct provider *provider,
            const char *key_hex, struct http_request *request, enum failure_level *ret_level,
            struct err *err);
    void (*classify)(const struct http_reply *reply, struct attempt_result *result);
    // NULL, or in place of classify: what the reply means stands in the request that was built.
    void (*classify_as)(const struct http_request *request, const struct http_reply *reply,
            struct attempt_result *result);
    // NULL, or appends what lets us in and is made anew for each try: a token that this process
    // signs by itself. Errors as build.
    bool (*sign)(const struct provider *provider, const struct content *content, int64_t now_s,
            struct http_request *request, struct err *err);
    // LOOKUP_SEARCH: asks by our key what became of a delivery that was made at since_s, and reads
    // the nth (0 .. LOOK_LIST - 1) message of a 200: *result is FOUND (with the provider's id) only
    // where it names our key, NOT_FOUND only where the answer says that there are no more than n,
    // else it stays as it is. Both pure.
    bool (*look_build)(const struct provider *provider, const char *key_hex, int64_t since_s,
            struct http_request *request, struct err *err);
    void (*look_read)(const struct http_reply *reply, const char *key_hex, int nth,
            struct attempt_result *result);
    // Capabilities (the sources are in docs/mail-api.md).
    bool key;             // recognises a repeated delivery key ..
    int64_t key_window_s; // .. for so long
    enum lookup lookup;
    bool collapse;            // a newer message can replace an older one
    size_t body_max;          // bytes of a request, 0 = not documented
    const char *rate_headers; // what tells how much may be sent, or NULL
};

// NULL when the transport can't send by it. Whether a policy may use it, common/config says.
const struct driver_row *driver_find(enum channel_kind channel, const char *name);

// How long its provider recognises a repeated key, in seconds; 0 = it does not, or is not known.
int64_t driver_key_window_s(enum channel_kind channel, const char *name);
// The i-th, NULL past the last.
const struct driver_row *driver_at(size_t i);
