// handshake.h: answers the questions that providers ask before they send (docs/schemes.md,
// Handshakes).
//
// Pure: a request of a source in, an answer out. What is echoed is bounded, printable ASCII, and
// never of a type that a browser would run.
#pragma once
#include "receiver/greeting.h"
#include "receiver/verify/scheme.h"

// Which handshake a source's scheme has, or its policy names; HANDSHAKE_NONE without one. That of
// AWS SNS asks the network and is not answered here.
enum scheme_handshake handshake_of(const struct source *source);

// Fills ret_greeting (to be freed with greeting_fini); kind NONE = the request is no handshake, or
// is one that must be signed and is not: then verifying it says why. request may have any method.
void handshake_answer(const struct source *source, const struct verify_request *request,
        struct greeting *ret_greeting);

// What is signed could be the question of a handshake, which this source signs for whoever asks: it
// then proves nothing.
bool handshake_signs(const struct source *source, const struct slice pieces[], size_t n_pieces);

// For people: "GET crc_token: answered with its HMAC"; NULL for HANDSHAKE_NONE.
const char *handshake_words(enum scheme_handshake handshake);
// The policy must say `handshake: { token: .. }` for it.
bool handshake_needs_token(const char *scheme);
// By the word of the policy's `handshake: { answer: .. }`; HANDSHAKE_NONE when there is none such.
enum scheme_handshake handshake_by_name(const char *name);
