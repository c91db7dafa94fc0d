#include "dispatcher/claim/gates/questions.h"

// One row a gate whose facts a statement brings.
static const struct question {
    enum gate_kind gate;
    // Its statement changes something (takes a cap's slots): it is asked only for members that no
    // gate before it can close any more.
    bool takes;
    // It waits for rivals, in one order: asked once a claim, when nothing else is left to ask.
    bool last;
    int after; // statements of it after the one that answers
    void (*ask)(struct pg *pg, const struct asking *asking);
    void (*hear)(const struct pg *pg, int call, int row, struct member *member);
} questions[] = {
        {GATE_SUPERSEDED, true, false, 0, ask_newer, hear_newer},
        {GATE_STEP, false, false, 0, ask_step, hear_step},
        {GATE_QUIET, false, false, 0, ask_quiet, hear_quiet},
        {GATE_CAP, true, true, 1, ask_cap, hear_cap},
};

static bool is_asking(const struct member *member, enum gate_kind gate)
{
    return member->asking & (1u << gate);
}

static bool asks(const struct member *member, const void *gate)
{
    return is_asking(member, *(const enum gate_kind *)gate);
}

void asking_column(struct pg *pg, const struct asking *asking, void (*begin)(struct pg *pg),
        void (*element)(struct pg *pg, const struct member *member))
{
    const struct members of = {asking->members, asking->n, asks, &asking->gate};
    members_column(pg, &of, (struct member_column){begin, element});
}

void asking_names(struct pg *pg, const struct asking *asking)
{
    members_names(pg, &(struct members){asking->members, asking->n, asks, &asking->gate});
}

static bool is_for(const struct question *question, const struct member *member)
{
    if (member->fate != FATE_WIRE || !member->asks)
        return false;
    bool reached = question->takes ? member->at == question->gate : member->at <= question->gate;
    return reached && gate_asks(question->gate, member->delivery, &member->facts);
}

static bool any_asking(const struct member *members, size_t n, enum gate_kind gate)
{
    for (size_t i = 0; i < n; i++)
        if (is_asking(&members[i], gate))
            return true;
    return false;
}

// They ask it in the next flight.
static void not_now(struct member *members, size_t n, enum gate_kind gate)
{
    for (size_t i = 0; i < n; i++)
        members[i].asking &= ~(1u << gate);
}

bool questions_add(struct pg *pg, struct member *members, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        members[i].asking = 0;
        for (size_t q = 0; q < ARRAY_LEN(questions); q++)
            if (is_for(&questions[q], &members[i]))
                members[i].asking |= 1u << questions[q].gate;
    }
    for (size_t q = 0; q < ARRAY_LEN(questions); q++) {
        if (!any_asking(members, n, questions[q].gate))
            continue;
        if (questions[q].last && any) {
            not_now(members, n, questions[q].gate);
            continue;
        }
        any = true;
        questions[q].ask(pg, &(struct asking){members, n, questions[q].gate});
    }
    return any;
}

static struct member *nth_asking(struct member *members, size_t n, enum gate_kind gate, int nth)
{
    for (size_t i = 0; i < n; i++)
        if (is_asking(&members[i], gate) && --nth == 0)
            return &members[i];
    return NULL;
}

static void read_one(const struct question *question, const struct pg *pg, int call,
        struct member *members, size_t n)
{
    for (int row = 0; row < pg_rows(pg, call); row++) {
        int nth = pg_int(pg, call, row, 0);
        struct member *member = nth_asking(members, n, question->gate, nth);
        if (member)
            question->hear(pg, call, row, member);
    }
}

void questions_read(const struct pg *pg, struct member *members, size_t n)
{
    int call = 0;
    for (size_t q = 0; q < ARRAY_LEN(questions); q++) {
        if (!any_asking(members, n, questions[q].gate))
            continue;
        read_one(&questions[q], pg, call, members, n);
        call += 1 + questions[q].after;
    }
    for (size_t i = 0; i < n; i++) {
        members[i].facts.known |= members[i].asking;
        if (members[i].fate == FATE_WIRE && members[i].asks)
            member_judge(&members[i]);
    }
}
