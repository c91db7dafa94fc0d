// fire.h: sends copies of one signed event to a receiver, and asks the database what became of
// them.
#pragma once
#include "cli/http_post.h"
#include "common/config/policy.h"
#include "common/pg/pg.h"

enum { FIRE_ID_MAX = 256 };

struct fire_wish {
    const struct policy *policy;                          // its secrets are loaded
    const char *source, *type, *order, *event_id, *email; // event_id NULL = a new one
    const char *const *sets;
    size_t n_sets, copies, parallel;
};
struct fire_row {
    struct http_answer answer;
    int outcome; // enum event_outcome; 0 = not known
    int64_t age_us;
};
struct fire {
    const struct source *source;
    const struct event_rule *rule;
    char event_id[FIRE_ID_MAX];
    struct text headers, body; // as signed
    struct fire_row *rows;
    size_t n;
    int64_t before; // copies that were there already
};
void fire_fini(struct fire *fire);
#define AUTO_FIRE __attribute__((cleanup(fire_fini)))

// Builds and signs. ERR_NOTFOUND with the nearest names when source or type is not in the policy.
MUST_CHECK bool fire_load(const struct fire_wish *wish, struct fire *ret_fire, struct err *err);
// Counts what is there already. base: number of fire_statements' (fire_sql.h) first on pg.
MUST_CHECK bool fire_before(struct fire *fire, struct pg *pg, int base, struct err *err);
void fire_send(struct fire *fire, const struct http_target *target, size_t parallel);
// Fills the rows' outcomes; answers are constant, so a copy is matched by its place.
MUST_CHECK bool fire_after(struct fire *fire, struct pg *pg, int base, struct err *err);
size_t fire_count(const struct fire *fire, int outcome); // of the copies answered 2xx
