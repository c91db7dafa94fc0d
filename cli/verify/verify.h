// verify.h: `pawl verify`: why a saved request was refused, and what would have matched.
#pragma once
#include "cli/command.h"
#include "cli/verify/why.h"

int verify_command(const struct call *call);

// What is known of one request.
struct verify_told {
    const struct source *source;
    const struct saved *saved;
    const struct why *why;
    const char *handshake; // it is one, and would be answered; else NULL
    const char *coded;     // why its Content-Encoding can't be undone; else NULL
};
bool verify_is_good(const struct verify_told *told);
void verify_text(const struct verify_told *told, struct text *out);
void verify_json(const struct verify_told *told, struct text *out);
