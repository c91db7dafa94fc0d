// story.h: what became of one order, event or notification, hop by hop, read from the database.
#pragma once
#include "cli/story/verdict.h"
#include "common/keys.h"
#include "common/pg/pg.h"

enum { STORY_ROWS_MAX = 500 };

enum story_kind { OF_ORDER, OF_EVENT, OF_NOTIFICATION };

struct story_line {
    int64_t at_us;
    int nth;                                 // of equal times, in the order they were read
    const char *hop;                         // inbox move waits notification claim provider receipt
    char *subject, *what, *outcome, *detail; // owned
};

struct story_event {
    int bucket, source;
    char *scope, *id;
};
struct story_note {
    int bucket;
    struct key id;
};

struct story {
    enum story_kind kind;
    char *order; // id, NULL without one
    char *state; // NULL = a placeholder
    int version;
    bool has_order;
    char *only_event; // id; NULL = all of the order
    struct story_event events[STORY_ROWS_MAX];
    struct story_note notes[STORY_ROWS_MAX];
    size_t n_events, n_notes;
    struct story_line *lines;
    size_t n_lines, room;
    struct story_count count;
};

// One for each statement of story_sql.h; base is the first's number on pg. ref: an order's id, an
// event's, a notification's (32 hex digits) or its once key, a provider's message id or a
// Message-ID (these two within since_s). ERR_NOTFOUND when nothing has it. Free with story_free().
MUST_CHECK struct story *story_new(
        struct pg *pg, int base, const char *ref, int64_t since_s, struct err *err);
void story_free(struct story *story); // NULL is fine

// --- The parts of story_new.
void story_add_event(struct story *story, struct story_event event); // takes its texts
void story_add_note(struct story *story, struct story_note note);
MUST_CHECK bool story_find(struct story *story, struct pg *pg, int base, const char *ref,
        int64_t since_s, struct err *err);
MUST_CHECK bool story_read(struct story *story, struct pg *pg, int base, struct err *err);
