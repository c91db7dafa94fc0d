/* dispatcher.pml: one delivery between two dispatchers that may crash, pause and lose their connection at every step of
   docs/crash-ordering.md (C1..T2, the same labels), leases that may run out at any moment, and a provider's receipt.

   A pause needs no statement of its own: any process may rest between two steps while the others go on, and the
   takeover may find any lease run out. One transaction is one atomic step at its COMMIT; the rows it locks before that
   are locks here, and a crash or a broken connection before the COMMIT rolls it back.

   -DMOST      at-most-once; otherwise at-least-once
   What each wall is for, shown by taking it away:
   -DNO_FENCE  a record does not ask for its lease row         (dispatcher/record/fence.sql)
   -DNO_MATCH  record and takeover do not compare `tries`      (record.sql, takeover.sql: d.tries = ..)
   -DNO_STATE  a record does not ask that it still is on the wire (record.sql: d.state = 1)
   -DLATE_MARK the mark "on the wire" is committed after the send  (dispatcher/claim/wire.sql)
   -DUNCHECKED what the claim's COMMIT did not confirm is sent too (claim.c: members_confirm) */

#ifndef STEPS
#define STEPS 3 /* tries of the delivery, at most */
#endif
#ifndef FAULTS
#define FAULTS 2 /* crashes and broken connections together, at most */
#endif
#define NOBODY 255

mtype = { DUE, WIRE, ACCEPTED, REFUSED, DEAD, UNKNOWN, DELIVERED }; /* deliveries.state */
mtype = { NONE, YES, NO, SOON, DOUBT, GIVEN_BACK };                 /* how a try ended */

/* The database: what COMMIT confirmed. */
mtype state = DUE;
byte tries = 0, unknown_tries = 0, possible_duplicates = 0;
bool due = true;          /* the row of `due` */
byte due_tries = 0;       /* its column tries */
byte due_lock = NOBODY;   /* row locks: who holds them */
byte lease[4] = NOBODY; /* rows of `claims`, by the step they claimed: their worker */
byte lease_lock[4] = NOBODY;

/* The world. */
byte effects = 0; /* how often the recipient got it */
byte faults = 0;

/* What the properties speak of; no step reads these. */
byte holder = NOBODY;     /* whose claim the delivery is on */
bool stale = false;       /* somebody wrote who did not hold it */
bool backward = false;    /* an end was left for something less */
bool resent = false;      /* marked "on the wire" again after `unknown` */
bool was_unknown = false; /* it once was */
bool gave_up = false;     /* retries ran out after a doubtful try */

#define RANK(s) ((s) == DUE || (s) == WIRE -> 0 : ((s) == UNKNOWN -> 1 : ((s) == DELIVERED -> 3 : 2)))

#ifdef NO_MATCH
#define IN_STEP(k) true
#else
#define IN_STEP(k) (tries == (k))
#endif
#ifdef NO_STATE
#define ON_THE_WIRE true
#else
#define ON_THE_WIRE (state == WIRE)
#endif

inline become(s)
{
    backward = backward || RANK(s) < RANK(state);
    state = s;
    was_unknown = was_unknown || state == UNKNOWN
}

inline due_again()
{
    due = true;
    due_tries = tries
}

/* The database lets go of what a worker held before its COMMIT. */
inline roll_back()
{
    if
    :: due_lock == _pid -> due_lock = NOBODY
    :: else
    fi;
    if
    :: lease_lock[step] == _pid -> lease_lock[step] = NOBODY
    :: else
    fi
}

/* Nothing is left in memory. */
inline forget()
{
    step = 0;
    seen = 0;
    held = false;
    result = NONE
}

/* An alternative of every labelled step: kill -9 here, and the process starts again. */
#define CRASH atomic { faults < FAULTS -> faults++; roll_back(); forget(); goto C1 }
/* The connection breaks: rolled back, and the process knows. */
#define BROKEN faults < FAULTS -> faults++; roll_back()

/* decide.c: the state after a try of this step. */
inline decided()
{
    if
    :: result == YES -> become(ACCEPTED)
    :: result == NO -> become(REFUSED)
    :: result == GIVEN_BACK ->
       possible_duplicates = possible_duplicates - (unknown_tries > 0 -> 1 : 0);
       become(DUE);
       due_again()
    :: result == SOON -> become(DUE); due_again()
    :: result == SOON -> /* retries ran out */
       if
       :: unknown_tries > 0 -> gave_up = true; become(UNKNOWN)
       :: else -> become(DEAD)
       fi
#ifdef MOST
    :: result == DOUBT -> become(UNKNOWN)
#else
    :: result == DOUBT -> unknown_tries++; become(DUE); due_again()
    :: result == DOUBT -> gave_up = true; become(UNKNOWN)
#endif
    fi
}

active [2] proctype dispatcher()
{
    byte seen = 0, step = 0;
    bool held = false;
    mtype result = NONE;

C1: /* claim.before_begin; a crash here leaves nothing and is left out */
end_nothing_due:
    atomic {
        due && due_lock == NOBODY && tries < STEPS -> /* take.sql: FOR UPDATE SKIP LOCKED */
        due_lock = _pid;
        seen = due_tries;
        held = (state == DUE && tries == due_tries)
    };
C2: /* claim.after_take */
    if
    :: CRASH
    :: atomic { BROKEN; forget(); goto C1 }
    :: atomic { !held -> due = false; due_lock = NOBODY; forget(); goto C1 } /* it moved on: only deleted */
    :: atomic { held -> held = false }
    fi;
C3: /* claim.before_commit */
    if
    :: CRASH
#ifndef LATE_MARK
    :: atomic { BROKEN; step = seen + 1; result = GIVEN_BACK; goto R1 } /* COMMIT without an answer: it did not happen */
#endif
    :: atomic { /* wire.sql, claim_put.sql, COMMIT */
           step = seen + 1;
           due = false;
           due_lock = NOBODY;
#ifdef LATE_MARK
           lease[step] = _pid
#else
           if
           :: state == DUE && tries == seen ->
              resent = resent || was_unknown;
              become(WIRE);
              tries = step;
              possible_duplicates = possible_duplicates + (unknown_tries > 0 -> 1 : 0);
              lease[step] = _pid;
              holder = _pid
           :: else -> /* a receipt ended it since it was taken: not confirmed */
#ifndef UNCHECKED
              forget();
              goto C1
#else
              skip
#endif
           fi;
           if
           :: true
           :: faults < FAULTS -> faults++; result = GIVEN_BACK; goto R1 /* COMMIT without an answer: it happened */
           fi
#endif
       }
    fi;
C4: /* claim.after_commit */
W1: /* wire.before_start */
    if
    :: CRASH
#ifndef LATE_MARK
    :: atomic { result = GIVEN_BACK; goto R1 } /* stopping, or too little of the lease is left */
#endif
    :: atomic { effects++; result = YES } /* the bytes, and what the peer makes of them */
    :: result = NO
    :: result = SOON
    :: result = DOUBT /* nothing arrived, and nobody can tell */
    fi;
W2: /* wire.after_start */
W3: /* wire.after_body */
    if
    :: CRASH
    :: atomic { result == YES -> result = DOUBT } /* the reply is lost, or says nothing definite */
    :: true
    fi;
#ifdef LATE_MARK
    atomic {
        if
        :: state == DUE && tries == seen && lease[step] == _pid -> become(WIRE); tries = step; holder = _pid
        :: else
        fi
    };
#endif
S1: /* send.after_reply */
R1: /* record.before_lock */
    if
    :: CRASH
    :: atomic { /* fence.sql: FOR UPDATE waits for whoever has locked the row */
           lease[step] != _pid || lease_lock[step] == NOBODY ->
#ifndef NO_FENCE
           if
           :: lease[step] == _pid -> lease_lock[step] = _pid
           :: else -> forget(); goto C1 /* taken over: the result is dropped */
           fi
#endif
       }
    fi;
R2: /* record.after_lock */
R3: /* record.before_commit */
    if
    :: CRASH
    :: atomic { BROKEN; goto R1 } /* no COMMIT: all of it again */
    :: atomic { /* record.sql, release.sql, COMMIT */
           if
           :: IN_STEP(step) && ON_THE_WIRE ->
              stale = stale || holder != _pid || tries != step;
              decided();
              holder = NOBODY
           :: else
           fi;
           if
           :: lease[step] == _pid -> lease[step] = NOBODY /* the batch's last member */
           :: true                                        /* others of the batch are still on the wire */
           fi;
           if
           :: lease_lock[step] == _pid -> lease_lock[step] = NOBODY
           :: else
           fi;
           if
           :: true
           :: faults < FAULTS -> faults++; goto R1 /* COMMIT happened, its answer is missing */
           fi;
           forget()
       }
    fi;
R4: /* record.after_commit */
    goto C1
}

/* Any dispatcher's takeover; one of its own, so that it may happen between any two steps of both. */
active proctype takeover()
{
    byte step = 0;

C1:
end_no_lease:
    if /* expired.sql: FOR UPDATE SKIP LOCKED; every lease may have run out */
    :: atomic { lease[1] != NOBODY && lease_lock[1] == NOBODY -> step = 1; lease_lock[1] = _pid }
    :: atomic { lease[2] != NOBODY && lease_lock[2] == NOBODY -> step = 2; lease_lock[2] = _pid }
    :: atomic { lease[3] != NOBODY && lease_lock[3] == NOBODY -> step = 3; lease_lock[3] = _pid }
    fi;
T1: /* takeover.after_lock */
    if
    :: atomic { BROKEN; step = 0; goto C1 } /* or kill -9: the same */
    :: atomic { /* takeover.sql, release.sql, COMMIT */
#ifdef LATE_MARK
           if
           :: state == DUE && tries == step - 1 -> due_again() /* no mark: it was never sent */
           :: else
           fi;
#endif
           if
           :: IN_STEP(step) && state == WIRE ->
              stale = stale || tries != step;
              holder = NOBODY;
#ifdef MOST
              become(UNKNOWN)
#else
              unknown_tries++;
              become(DUE);
              due_again()
#endif
           :: else /* recorded before the lock, or ended by a receipt */
           fi;
           lease[step] = NOBODY;
           lease_lock[step] = NOBODY;
           step = 0
       }
    fi;
T2: /* takeover.after_commit */
    goto C1
}

/* The provider's word, through the receiver: it may come before our own record, or when nobody expects it any more. */
active proctype receipt()
{
end_none_yet:
    atomic {
        effects > 0 ->
        if
        :: state == WIRE -> become(DELIVERED) /* before our own record */
        :: else -> become(DELIVERED)
        fi
    }
}

/* Promised. */
#define ONE_EFFECT (effects <= 1)
#define NO_STALE_WRITE (!stale)
#define NEVER_BACKWARD (!backward)
#define NEVER_LOST ((state == DUE -> due) && (state == WIRE -> lease[tries] != NOBODY))
#define NEVER_RESENT (!resent)
#define NO_INVENTION (state == ACCEPTED || state == DELIVERED -> effects >= 1)
#define DOUBLES_COUNTED (effects <= 1 + possible_duplicates)
#define OTHERS (NO_STALE_WRITE && NEVER_BACKWARD && NEVER_LOST && NEVER_RESENT && NO_INVENTION && DOUBLES_COUNTED)

ltl one_effect { [] ONE_EFFECT }
ltl no_stale_write { [] NO_STALE_WRITE }
ltl never_backward { [] NEVER_BACKWARD }
ltl never_lost { [] NEVER_LOST }
ltl never_resent { [] NEVER_RESENT }
ltl no_invention { [] NO_INVENTION }
ltl doubles_counted { [] DOUBLES_COUNTED }
/* All of a delivery order's promises in one search. */
#ifdef MOST
ltl all_promised { [] (ONE_EFFECT && OTHERS) }
#else
ltl all_promised { [] OTHERS }
#endif

/* Must be violated: these things do happen here. */
ltl not_accepted { [] (state != ACCEPTED) }
ltl not_delivered { [] (state != DELIVERED) }
ltl not_unknown { [] (state != UNKNOWN) }
ltl known_unless_given_up { [] (state == UNKNOWN -> gave_up) } /* holds at-least-once */
ltl no_third_try { [] (tries < STEPS) }
