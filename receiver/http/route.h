// route.h: the two routes of the public listener.
#pragma once
#include "common/base.h"

// The source's name in a request target: exactly "/hooks/{source}", a query is ignored. Nothing is
// normalised: the bytes must be these. False for every other target.
bool route_hook(struct slice target, struct slice *ret_source);
// The token of "/unsubscribe/{token}", read alike.
bool route_unsubscribe(struct slice target, struct slice *ret_token);
