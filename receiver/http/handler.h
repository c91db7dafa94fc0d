// handler.h: POST /hooks/{source}: head, route, method, size, signature, then over to accept.
#pragma once
#include "receiver/http/lane.h"

// Answers the request or parks it.
void handle_request(struct lane *lane, h2o_req_t *req);
