// err.h: how a function says that it could not do its work, and what kind of failure that is.
#pragma once
#include "common/base.h"

enum err_kind {
    ERR_NONE,
    ERR_INPUT,    // the caller's data is wrong: 400/422, exit 5
    ERR_AUTH,     // not who it claims to be: 401
    ERR_TEMP,     // ours or the network's, may work later: 503, retry, exit 69/75
    ERR_NOTFOUND, // what was named does not exist: 404, exit 3
    ERR_CONFLICT, // a guard refused: 409, exit 4
    ERR_FATAL,    // can't go on: exit
};

struct err {
    enum err_kind kind;
    char msg[256]; // for people: lower case, what could not be done, values in quotes; no secrets,
                   // no bodies
};

// Fills err (NULL is fine) and returns false, so that callers can `return err_set(..)`.
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

// Puts "context: " before the message that is there; returns false.
bool err_prefix(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
