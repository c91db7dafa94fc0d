// member.h: one row that a claim took, and what is to become of it.
#pragma once
#include "dispatcher/claim/gate.h"
#include "dispatcher/work.h"

enum fate {
    FATE_NONE,  // the delivery moved on: its due row is only deleted
    FATE_WIRE,  // goes on the wire
    FATE_END,   // ends here
    FATE_LATER, // back into due
};

struct member {
    struct delivery *delivery;
    enum fate fate;
    bool to_render; // a first try
    bool rendered;  // content_json is new and must be stored
    char *content_json;
    struct gate gate; // FATE_END: end
    char reason[200]; // FATE_END, printable
    int64_t later_ms; // FATE_LATER
    bool confirmed;   // the COMMIT said so
};

void member_fini(struct member *member); // zeroed is fine
#define AUTO_MEMBER __attribute__((cleanup(member_fini)))
void member_end(struct member *member, enum delivery_state end, const char *reason);

// Reads row of take.sql (result `call`). delivery->data is a copy, which the member owns.
void member_read(const struct pg *pg, int call, int row, struct member *ret_member);
void member_drop_data(struct member *member); // once it is rendered
// Its stored content, for a further try; false when there is none or it can't be read.
bool member_read_content(const struct pg *pg, int call, int row, struct member *member);
int64_t member_row_now_us(const struct pg *pg, int call, int row);
int member_row_policy(const struct pg *pg, int call, int row); // 0 = the delivery moved on
bool member_row_rendered(const struct pg *pg, int call, int row);

// The statements of the further flights; each only when there is a member for it (then true).
// Members are numbered for their results in the order in which they stand.
bool members_add_content(struct pg *pg, const struct member *members, size_t n);
bool members_add_wire(struct pg *pg, const struct member *members, size_t n);
bool members_add_ends(struct pg *pg, const struct member *members, size_t n);
bool members_add_later(struct pg *pg, const struct member *members, size_t n);
void members_add_claim(
        struct pg *pg, const struct member *members, size_t n, const struct key ids[2], int64_t ms);

// Marks as confirmed those of this fate whose number result `call` names.
void members_confirm(
        const struct pg *pg, int call, struct member *members, size_t n, enum fate fate);
