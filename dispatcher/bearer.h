// bearer.h: makes the shared tokens of dispatcher/token with what dispatcher/send knows of
// providers.
#pragma once
#include "dispatcher/send/send.h"
#include "dispatcher/token/token.h"

struct bearer_maker {
    struct transport *transport;
    struct tokens *tokens;
};

// maker must outlive the tokens; maker->tokens is set once there are some.
struct token_maker bearer_token_maker(struct bearer_maker *maker);
