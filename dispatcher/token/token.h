// token.h: bearer tokens that push providers want, shared by all dispatchers through the database.
//
// A token is made by one worker and used by all: Apple counts how often a key's token changes, and
// Google how often it is asked. When it is time, a guarded UPDATE gives one worker a short hold on
// the row, by the database's clock; the others go on with the token of before while it is good.
// A token that the provider called too old is made anew only if the row still holds it and it is
// not younger than the driver allows. Tokens lie sealed in the table (docs/adr/0006) and never in a
// log. All of it happens between the loop's turns: nothing here waits.
#pragma once
#include "common/config/policy.h"
#include "dispatcher/delivery.h"
#include "dispatcher/work.h"

struct tokens;

// One token that is being made.
struct token_order {
    struct key identity;
    int64_t number; // of this making: a result of another one is dropped
    int64_t now_s;  // unix, the database's clock
};

// Who makes them: handed in, so that this stage knows no driver.
struct token_maker {
    // The provider needs a token, and one younger than *ret_age_min_s is not made anew.
    bool (*needs)(const struct provider *provider, int64_t *ret_age_min_s);
    // Begins to make one: tokens_made() or tokens_failed() follows, at once or later. False + err:
    // it will not.
    bool (*begin)(void *user, const struct provider *provider, const struct token_order *order,
            struct err *err);
    void *user;
};

MUST_CHECK struct tokens *tokens_new(const struct token_maker *maker);
void tokens_free(struct tokens *tokens); // NULL is fine

// The providers from now on: tokens of those that stay are kept, the others forgotten. The policy,
// whose secrets are loaded, stays the caller's and must live until the next call.
void tokens_policy(struct tokens *tokens, const struct policy *policy);

// How a making ended. token is copied, without "Bearer "; it is good for life_s from order->now_s
// on.
void tokens_made(
        struct tokens *tokens, const struct token_order *order, struct slice token, int64_t life_s);
void tokens_failed(struct tokens *tokens, const struct token_order *order, const char *why);

enum token_ready {
    TOKEN_NONE,    // the provider needs none
    TOKEN_READY,   // *ret_bearer is filled
    TOKEN_COMING,  // soon: it is being read or made
    TOKEN_MISSING, // the provider gives none at the moment
};
// For a provider of the policy that tokens_policy() was given last. ret_bearer may be NULL; what it
// points to is good until the next call with `tokens`.
enum token_ready tokens_get(
        const struct tokens *tokens, const struct provider *provider, struct bearer *ret_bearer);

// The provider said that this token is too old (attempt_result.stale_token).
void tokens_stale(struct tokens *tokens, const struct bearer_use *use);

// When the database is wanted (clock_mono_ms), INT64_MAX = not at all; and for what.
int64_t tokens_next_ms(const struct tokens *tokens);
struct work_kind tokens_work(struct tokens *tokens);
