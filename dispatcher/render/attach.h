// attach.h: which files go with a mail, and what they are at this moment.
#pragma once
#include "dispatcher/render/render.h"

// Expands the message's `attachments` with the values, reads each file below the context's folder
// and adds it to content; what expands to nothing is no file. Errors as render_content().
MUST_CHECK bool attach_files(const struct render_context *context, const struct message *message,
        const struct json_node *values, struct content *content, struct err *err);
