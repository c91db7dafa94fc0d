// words.h: what a row of the scheme catalogue says, in words: for `pawl schemes` and
// docs/schemes.md.
#pragma once
#include "common/text.h"
#include "receiver/verify/scheme.h"

enum scheme_fact {
    FACT_SIGNATURE,
    FACT_SIGNED,
    FACT_ALGORITHM,
    FACT_KEY,
    FACT_TIME,
    FACT_ID,
    FACT_TYPE,
    FACT_SCOPE,
    FACT_OWN_TIME,
    FACT_BATCH,
    FACT_REPEATS,
    FACT_HANDSHAKE,
    FACT_ANSWER,
    FACT_COUNT
};

const char *fact_label(enum scheme_fact fact); // "event id"
const char *fact_name(enum scheme_fact fact);  // in JSON: "event_id"

// Appends the fact's words for the scheme of that name; nothing where it has none. row is NULL for
// one that is known by name only. What has no words is "?", which a test looks for.
void fact_write(
        enum scheme_fact fact, const char *name, const struct scheme *row, struct text *out);

bool scheme_runs(const struct scheme *row);
const char *scheme_algorithm_words(enum scheme_algorithm algorithm);
const char *scheme_encoding_words(enum scheme_encoding encoding);
const char *scheme_key_words(enum scheme_key key);
void write_duration(int64_t seconds, struct text *out); // "3 d", "7 h 1 min", "300 s"
