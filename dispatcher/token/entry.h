// entry.h: what one dispatcher knows of one shared token, and what it wants next: no database and
// no clock of its own.
#pragma once
#include "dispatcher/token/token.h"

enum {
    TOKEN_HOLD_S = 30,         // a worker that makes a token has so long
    TOKEN_ASK_SOON_MS = 250,   // somebody makes one, and there is none meanwhile
    TOKEN_ASK_LATER_MS = 5000, // .. and the one of before is still good
    TOKEN_DEAF_MS = 10000,     // after a refused token that may not be made anew
    TOKEN_FAILED_S = 5,        // after the first failure; doubled with each
    TOKEN_FAILED_MAX_S = 300,
    TOKEN_LIFE_MIN_S = 30,    // less is none: it would be over before all have read it
    TOKEN_LIFE_MAX_S = 86400, // more is not believed: Google's live an hour, half a day at most
};

// The row, as it was read.
struct token_row {
    struct slice sealed;
    int64_t generation, refresh_ms, expires_ms, hold_ms; // from now; 0 = past
    bool held;                                           // by somebody
    bool granted;                                        // by us: make one
};

enum token_wants { WANTS_NOTHING, WANTS_READ, WANTS_PUT, WANTS_POSTPONE };

struct entry {
    struct key identity;
    const struct provider *provider; // one of those that share it
    int64_t age_min_s;
    // The token of the moment.
    struct text token;
    int64_t generation; // 0 = there is none
    int64_t good_until_ms;
    int64_t stale;   // the generation that was refused as too old, 0 = none
    int64_t deaf_ms; // such a refusal is not heard before
    int64_t ask_ms;  // when to read the row again
    bool missing;    // the last making failed, and nobody tries just now
    // Its making by us.
    bool making;
    int64_t number;   // of the making
    int64_t now_s;    // the database's clock when it began
    struct text made; // not empty: to be stored
    int64_t life_s;
    bool failed; // to be postponed
    int fails;   // in a row
};

void entry_init(struct entry *entry, struct key identity, const struct provider *provider);
void entry_fini(struct entry *entry); // wipes

enum token_ready entry_ready(const struct entry *entry, int64_t now_ms);
enum token_wants entry_wants(const struct entry *entry, int64_t now_ms);
int64_t entry_next_ms(const struct entry *entry); // when it wants something; INT64_MAX = told later

// Takes in the row that was asked for at asked_ms. True: making is to begin.
bool entry_take(struct entry *entry, const struct token_row *row, int64_t asked_ms);
// The row could not be asked: again in a moment.
void entry_again(struct entry *entry, int64_t now_ms);

// A token is asked for anew between seven and eight tenths of its life, and is not used in its last
// twelfth: of Apple's 60 minutes, from 42 to 48 on, and until 55. random: any.
int64_t token_refresh_s(int64_t life_s, uint32_t random);
int64_t token_use_s(int64_t life_s);
// How long one is taken to be good whose provider says so many seconds; 0 = it is none.
int64_t token_life_s(int64_t said_s);
int64_t token_pause_s(int fails, uint32_t random); // after so many failures
