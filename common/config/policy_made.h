// policy_made.h: a policy while it is made: the struct, what only its making needs, and the checks.
#pragma once
#include "common/config/policy.h"
#include "common/config/schema.h"

struct aside_rule {
    char *state;
    char **from;
    size_t n_from;
};

struct skip_rule {
    char *state;
    char **missed;
    size_t n_missed;
};

// What the schema fills. The policy is its first member and is freed through it.
struct policy_made {
    struct policy policy;
    char **path;
    size_t n_path;
    struct aside_rule *aside;
    size_t n_aside;
    struct skip_rule *skip;
    size_t n_skip;
    char **create;
    size_t n_create;
    char **exempt;
    size_t n_exempt;
};

enum ref_kind { REF_STATE = 1, REF_MESSAGE = 2 };

struct making {
    struct policy_made *made;
    struct schema_load *load;
    const struct policy_known *known;
    struct diag *diag;
    size_t errors_before; // of the diag, before the first file was read
};

// Where a finding belongs: the slot it is about, else the one beside it.
#define AT_SLOT(slot, beside) ((const void *const[2]){(slot), (beside)})

// Steps of the making, in this order; each reports all it finds.
void policy_make_flow(const struct making *making);     // states, the step matrix, references
void policy_check_sources(const struct making *making); // schemes, secrets, rules, keeping
void policy_check_channels(const struct making *making);
// The request of a provider of driver http.
void policy_check_gateway(const struct making *making, const struct provider *provider);
void policy_check_messages(const struct making *making);
void policy_check_attachments(const struct making *making);
void policy_check_caps(const struct making *making);
void policy_check_templates(const struct making *making);
void policy_check_partials(const struct making *making);
void policy_check_reach(const struct making *making);  // after the others: only if no error
void policy_check_values(const struct making *making); // the same

// Does some event give this value of a template ("data.total")? Else the nearest that one does, ""
// where none is near.
enum { POLICY_NAME_ROOM = 80 };
bool policy_gives(const struct making *making, struct slice name, char nearest[POLICY_NAME_ROOM]);

// The next {{name}} of a Mustache source from *at on; moves *at behind its opening.
bool policy_next_name(const char **at, struct slice *ret_name);
// Does an event notify this message (by its index) without an order?
bool policy_notified_without_order(const struct policy *policy, int message);

// A text that names nothing, the nearest that exists (NULL = none is near), and for that case all
// that exist, with commas ("" = not said).
enum { LIST_MAX = 800 };
struct unknown {
    const char *name, *near, *all;
};
// what: state, message, scheme.
void policy_report_unknown(const struct making *making, const void *slot, const char *what,
        const struct unknown *unknown);
int policy_state_index(const struct policy *policy, const char *name); // -1 when there is none
