// questions.h: the statements that bring gates their facts, all of them in one flight, and only
// when a member needs them.
//
// To give a gate facts of its own: a row in gate.c with `wants`, fields in struct gate_facts, a
// statement, and a row in questions.c that adds it for the members that ask and reads what it says.
#pragma once
#include "dispatcher/claim/member.h"

// Adds the statements for what members ask; false when there is nothing to ask.
bool questions_add(struct pg *pg, struct member *members, size_t n);

// Reads the answers when the flight has landed: the facts are known from then on, and
// who asked is judged on.
void questions_read(const struct pg *pg, struct member *members, size_t n);

// --- For the files of single questions (ask_*.c)

// The members that one statement is about: those that ask for the facts of this gate.
struct asking {
    const struct member *members;
    size_t n;
    enum gate_kind gate;
};
// Adds an array with an element of each of them.
void asking_column(struct pg *pg, const struct asking *asking, void (*begin)(struct pg *pg),
        void (*element)(struct pg *pg, const struct member *member));
// bucket, notification, channel, target, redrive: an array each.
void asking_names(struct pg *pg, const struct asking *asking);

// A question adds its statement, whose results name in column 0 the number of the member (from 1,
// in the order of the arrays), and takes one row of them at a time. A member without a row keeps
// its facts as they were.
void ask_step(struct pg *pg, const struct asking *asking);
void hear_step(const struct pg *pg, int call, int row, struct member *member);
void ask_quiet(struct pg *pg, const struct asking *asking);
void hear_quiet(const struct pg *pg, int call, int row, struct member *member);
void ask_newer(struct pg *pg, const struct asking *asking);
void hear_newer(const struct pg *pg, int call, int row, struct member *member);
void ask_cap(struct pg *pg, const struct asking *asking);
void hear_cap(const struct pg *pg, int call, int row, struct member *member);
