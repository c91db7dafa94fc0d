// member.h: one row that a claim took, and what is to become of it.
#pragma once
#include "dispatcher/claim/gates/gate.h"
#include "dispatcher/claim/gates/pauses.h"
#include "dispatcher/claim/gates/zones.h"
#include "dispatcher/work.h"

enum { MEMBER_ZONES_WAIT_MS = 100 }; // the zones' names are being read

enum fate {
    FATE_NONE,  // the delivery moved on: its due row is only deleted
    FATE_WIRE,  // goes on the wire
    FATE_END,   // ends here
    FATE_LATER, // back into due
};

struct member {
    struct delivery *delivery;
    enum fate fate;
    bool stored;      // an earlier try was rendered, into ..
    int content_slot; // .. this slot of the ring
    bool rendered;    // content_json is new and must be stored
    char *content_json;
    struct gate_facts facts;
    enum gate_kind at;       // the gate where it stands, or which is closed; GATE_COUNT = none
    bool asks;               // it stands before a gate whose facts are missing
    unsigned asking;         // gates whose facts the flight in the air brings, a bit each
    enum delivery_state end; // FATE_END
    char reason[200];        // FATE_END, and FATE_LATER by a gate; printable
    int64_t later_ms;        // FATE_LATER
    int hold;                // FATE_LATER: the pause that it waits for, 0 = none
    bool confirmed;          // the COMMIT said so
};

void member_fini(struct member *member); // zeroed is fine
#define AUTO_MEMBER __attribute__((cleanup(member_fini)))
void member_end(struct member *member, enum delivery_state end, const char *reason);

// Asks the gates from the one where it stands on; asks says if it needs further facts, fate if one
// is closed.
void member_judge(struct member *member);
// The fact of its gate; channel as the sending policy has it, NULL = it has none.
void member_know_pause(
        struct member *member, const struct pauses *pauses, const struct channel *channel);
// It can't go now. Is that for a pause of the provider that it is bound to by a try in doubt? Then
// the gate of pauses says so.
bool member_bound_by_pause(struct member *member, const struct pauses *pauses);
// The zone, for quiet hours; while the names are not there it goes back for a moment.
void member_know_zone(struct member *member, struct zones *zones);

// Reads row of take.sql (result `call`). delivery->data is a copy, which the member owns.
void member_read(const struct pg *pg, int call, int row, struct member *ret_member);
void member_drop_data(struct member *member); // once it is rendered
// What an earlier try stored: it ends when that is gone (ptr NULL) or can't be read, and waits its
// turn when others of the claim were enough ("", content.sql).
void member_read_content(struct member *member, struct slice json);
// Writes its new content down, of at most max bytes; it ends when that can't be. How many bytes.
size_t member_write_content(struct member *member, size_t max);
int64_t member_row_now_us(const struct pg *pg, int call, int row);
int member_row_policy(const struct pg *pg, int call, int row); // 0 = the delivery moved on

// Those of a list that a statement is about, and what it says of each, an array a column.
struct members {
    const struct member *list;
    size_t n;
    bool (*is)(const struct member *member, const void *how);
    const void *how;
};
struct member_column {
    void (*begin)(struct pg *pg);
    void (*element)(struct pg *pg, const struct member *member);
};
void members_column(struct pg *pg, const struct members *of, struct member_column column);
void members_names(struct pg *pg, const struct members *of); // the five of a delivery's key

// The statements of the further flights; each only when there is a member for it (then true).
// Members are numbered for their results in the order in which they stand. The contents that are
// asked for have `max` bytes together, and one more.
bool members_ask_content(struct pg *pg, const struct member *members, size_t n, int64_t max);
bool members_add_content(struct pg *pg, const struct member *members, size_t n);
bool members_add_wire(struct pg *pg, const struct member *members, size_t n);
bool members_add_ends(struct pg *pg, const struct member *members, size_t n);
bool members_add_later(struct pg *pg, const struct member *members, size_t n);
bool members_add_held(
        struct pg *pg, const struct member *members, size_t n); // why, where a gate says
void members_add_claim(
        struct pg *pg, const struct member *members, size_t n, const struct key ids[2], int64_t ms);

// Hands the contents that result `call` brings to those that asked for theirs. How many bytes.
size_t members_read_content(const struct pg *pg, int call, struct member *members, size_t n);

// Marks as confirmed those of this fate whose number result `call` names.
void members_confirm(
        const struct pg *pg, int call, struct member *members, size_t n, enum fate fate);

// After the COMMIT: counts what ended and what the gates said.
void members_count(const struct member *members, size_t n);

// Those that go on the wire, in their next step, as a list by next that the caller owns; only those
// that the COMMIT confirmed, if so asked.
struct delivery *members_hand_over(
        struct member *members, size_t n, struct key claim, bool confirmed_only, int *ret_n);
