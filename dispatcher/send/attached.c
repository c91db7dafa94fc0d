#include "dispatcher/send/attached.h"

#include "dispatcher/attachment.h"

#include <stdio.h>

static void say(struct attempt_result *result, const struct err *err)
{
    snprintf(result->detail, sizeof result->detail, "%.199s", err->msg);
}

void send_spoilt(struct attempt_result *result, const struct err *err)
{
    *result = (struct attempt_result){.outcome = ATTEMPT_REFUSED, .spoilt = true};
    if (err->kind == ERR_TEMP)
        *result = (struct attempt_result){.outcome = ATTEMPT_GIVEN_BACK,
                .level = LEVEL_PROVIDER,
                .retry_after_ms = SEND_FILES_WAIT_MS};
    say(result, err);
}

bool send_files_ready(struct delivery *delivery, const char *folder, struct err *err)
{
    const struct content *content = &delivery->content;
    if (content->n_attachments == 0 || attachments_check(content, folder, err))
        return true;
    send_spoilt(&delivery->result, err);
    return false;
}

bool send_request_ready(const struct driver_row *driver, struct http_request *request,
        struct attempt_result *result, struct err *err)
{
    size_t size = http_body_size(request);
    if (driver->body_max && size > driver->body_max) {
        err_set(err, ERR_INPUT, "the request has %zu bytes, and %s takes %zu", size, driver->name,
                driver->body_max);
        *result = (struct attempt_result){.outcome = ATTEMPT_REFUSED, .level = LEVEL_MESSAGE};
        say(result, err);
        return false;
    }
    if (request->inlays.n == 0 || !driver->sign ||
            inlays_digest(text_slice(&request->body), &request->inlays, request->sha256, err))
        return true;
    send_spoilt(result, err);
    return false;
}
