// attached.h: what the transport does for the files of a mail, by either kind of transfer.
#pragma once
#include "dispatcher/send/providers.h"

#define SEND_FILES_WAIT_MS 10000 // files that can't be read now are asked for again after it

// Files that are not what was rendered end their delivery (.spoilt); those that can't be read now
// give it back.
void send_spoilt(struct attempt_result *result, const struct err *err);

// Before anything is connected to: are all files of the delivery what they were? False + err: its
// result says so.
MUST_CHECK bool send_files_ready(struct delivery *delivery, const char *folder, struct err *err);

// The request was built, and is not signed yet: is it as small as the provider takes it, and what
// is to be signed of it? False + err: result says so.
MUST_CHECK bool send_request_ready(const struct driver_row *driver, struct http_request *request,
        struct attempt_result *result, struct err *err);
