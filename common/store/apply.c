#include "common/store/policy_store.h"
#include "common/store/session.h"
#include "common/store/write_sql.h"

#define OPERATOR "pawl_operator"
#define APPLY_TRIES 5 // each lost to another applier

static void pg_auto_close(struct pg **pg)
{
    pg_close(*pg);
}
#define AUTO_PG __attribute__((cleanup(pg_auto_close)))

// A connection with the writing statements first, then the reading ones from WRITE_COUNT on.
static struct pg *open_operator(const char *conninfo, struct err *err)
{
    AUTO_PG struct pg *pg = store_session(conninfo, OPERATOR, write_statements, WRITE_COUNT, err);
    int base;
    if (!pg || !policy_store_prepare(pg, &base, err))
        return NULL;
    return steal(&pg);
}

static void add_texts(struct pg *pg, const struct policy *policy, int version)
{
    const struct {
        int kind;
        const struct policy_text *texts;
        size_t n;
    } parts[] = {{1, policy->files, policy->n_files}, {2, policy->templates, policy->n_templates}};
    pg_add(pg, WRITE_ADD_TEXTS);
    pg_p_int(pg, version);
    pg_p_ints(pg);
    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        for (size_t i = 0; i < parts[p].n; i++)
            pg_e_int(pg, parts[p].kind);
    pg_p_texts(pg);
    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        for (size_t i = 0; i < parts[p].n; i++)
            pg_e_bytes(pg, slice_of(parts[p].texts[i].path));
    pg_p_byteas(pg);
    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        for (size_t i = 0; i < parts[p].n; i++)
            pg_e_bytes(pg, (struct slice){(const unsigned char *)parts[p].texts[i].body,
                                   parts[p].texts[i].len});
}

static void add_names(struct pg *pg, const struct policy *policy)
{
    pg_add(pg, WRITE_ADD_NAMES);
    pg_p_ints(pg);
    for (size_t i = 0; i < policy->n_sources; i++)
        pg_e_int(pg, NAME_SOURCE);
    for (size_t i = 0; i < policy->flow.n_states; i++)
        pg_e_int(pg, NAME_STATE);
    for (size_t i = 0; i < policy->n_messages; i++)
        pg_e_int(pg, NAME_MESSAGE);
    pg_p_texts(pg);
    for (size_t i = 0; i < policy->n_sources; i++)
        pg_e_bytes(pg, slice_of(policy->sources[i].name));
    for (size_t i = 0; i < policy->flow.n_states; i++)
        pg_e_bytes(pg, slice_of(policy->flow.states[i].name));
    for (size_t i = 0; i < policy->n_messages; i++)
        pg_e_bytes(pg, slice_of(policy->messages[i].name));
}

static bool store(struct pg *pg, const struct policy *policy, int version,
        const char *const note_author[2], struct err *err)
{
    pg_add_begin(pg);
    pg_add(pg, WRITE_ADD_VERSION);
    pg_p_int(pg, version);
    pg_p_text(pg, slice_of(policy->sha256));
    pg_p_text(pg, slice_of(note_author[0]));
    pg_p_text(pg, slice_of(note_author[1]));
    add_texts(pg, policy, version);
    add_names(pg, policy);
    pg_add(pg, WRITE_ADD_AUDIT);
    pg_p_text(pg, slice_of(note_author[1]));
    pg_p_int(pg, version);
    pg_p_text(pg, slice_of(note_author[0]));
    pg_add_commit(pg);
    if (pg_fly(pg, store_soon(), err))
        return true;
    pg_rollback(pg);
    return false;
}

bool policy_store_apply(const char *conninfo, const struct policy *policy, const char *note,
        const char *author, struct policy_stored *ret_stored, struct err *err)
{
    const char *const note_author[2] = {note ? note : "", author ? author : ""};
    AUTO_PG struct pg *pg = open_operator(conninfo, err);
    if (!pg)
        return false;
    for (int i = 0; i < APPLY_TRIES; i++) {
        pg_add(pg, WRITE_COUNT + POLICY_STORE_ACTIVE);
        if (!pg_fly(pg, store_soon(), err))
            return false;
        int active = pg_rows(pg, 0) > 0 ? pg_int(pg, 0, 0, 0) : 0;
        if (active > 0 && slice_eq(pg_bytes(pg, 0, 0, 1), slice_of(policy->sha256))) {
            *ret_stored = (struct policy_stored){.version = active, .is_new = false};
            return true;
        }
        if (store(pg, policy, active + 1, note_author, err)) {
            *ret_stored = (struct policy_stored){.version = active + 1, .is_new = true};
            return true;
        }
        if (strcmp(pg_sqlstate(pg), "23505") != 0)
            return err_prefix(err, "store the policy");
    }
    return err_prefix(err, "store the policy");
}

bool policy_store_list(
        const char *conninfo, struct policy_version **ret_versions, size_t *ret_n, struct err *err)
{
    AUTO_PG struct pg *pg = open_operator(conninfo, err);
    if (!pg)
        return false;
    pg_add(pg, WRITE_LIST);
    if (!pg_fly(pg, store_soon(), err))
        return false;
    int rows = pg_rows(pg, 0);
    struct policy_version *versions = xcalloc((size_t)rows + 1, sizeof *versions);
    for (int row = 0; row < rows; row++)
        versions[row] = (struct policy_version){.version = pg_int(pg, 0, row, 0),
                .sha256 = slice_dup(pg_bytes(pg, 0, row, 1)),
                .note = slice_dup(pg_bytes(pg, 0, row, 2)),
                .author = slice_dup(pg_bytes(pg, 0, row, 3)),
                .applied_us = pg_big(pg, 0, row, 4)};
    *ret_versions = versions;
    *ret_n = (size_t)rows;
    return true;
}

void policy_versions_free(struct policy_version *versions, size_t n)
{
    for (size_t i = 0; versions && i < n; i++) {
        free(versions[i].sha256);
        free(versions[i].note);
        free(versions[i].author);
    }
    free(versions);
}
