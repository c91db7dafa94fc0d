// tokens.h: all shared tokens of one dispatcher: what tokens.c and work.c have in common.
#pragma once
#include "dispatcher/token/entry.h"

// A provider of the policy and the entry that it shares.
struct token_user {
    const struct provider *provider;
    struct entry *entry;
};

struct tokens {
    struct token_maker maker;
    struct key worker; // who holds rows
    struct entry **entries;
    size_t n_entries;
    struct token_user *users;
    size_t n_users;
    int64_t numbers; // of makings
    // The work under way: one entry at a time, so that no two rows are locked in two orders.
    struct entry *busy;
    enum token_wants doing;
    int64_t asked_ms;
    int call_hold, call_put, call_read; // of the flight; -1 = not in it
};

struct entry *tokens_find(const struct tokens *tokens, struct key identity);
