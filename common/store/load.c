#include "common/store/policy_store.h"
#include "common/store/session.h"

enum text_kind { TEXT_FILE = 1, TEXT_TEMPLATE = 2 };

static void pg_auto_close(struct pg **pg)
{
    pg_close(*pg);
}

bool policy_store_prepare(struct pg *pg, int *ret_base, struct err *err)
{
    int base = (int)pg_stmt_count(pg);
    if (!pg_prepare(pg, policy_store_statements, POLICY_STORE_COUNT, store_soon(), err))
        return false;
    *ret_base = base;
    return true;
}

bool policy_store_active(struct pg *pg, int base, int *ret_version, struct err *err)
{
    pg_add(pg, base + POLICY_STORE_ACTIVE);
    if (!pg_fly(pg, store_soon(), err))
        return false;
    *ret_version = pg_rows(pg, 0) > 0 ? pg_int(pg, 0, 0, 0) : 0;
    return true;
}

// --- Loading: one flight, results of which are
enum { CALL_VERSION, CALL_TEXTS, CALL_NAMES };

static bool fetch(struct pg *pg, int base, int version, struct err *err)
{
    pg_add(pg, base + POLICY_STORE_VERSION);
    pg_p_int(pg, version);
    pg_add(pg, base + POLICY_STORE_TEXTS);
    pg_p_int(pg, version);
    pg_add(pg, base + POLICY_STORE_NAMES);
    if (!pg_fly(pg, store_soon(), err))
        return false;
    if (pg_rows(pg, CALL_VERSION) > 0)
        return true;
    if (version > 0)
        return err_set(err, ERR_NOTFOUND, "policy version %d is not in the database", version);
    return err_set(err, ERR_NOTFOUND, "no policy is in the database yet (pawl policy apply)");
}

// Borrowed texts of one kind; the rows of a kind are neighbours.
static struct policy_text *texts_of(const struct pg *pg, enum text_kind kind, size_t *ret_n)
{
    int rows = pg_rows(pg, CALL_TEXTS);
    struct policy_text *texts = xcalloc((size_t)rows + 1, sizeof *texts);
    size_t n = 0;
    for (int row = 0; row < rows; row++) {
        if (pg_int(pg, CALL_TEXTS, row, 0) != (int)kind)
            continue;
        struct slice body = pg_bytes(pg, CALL_TEXTS, row, 2);
        texts[n++] = (struct policy_text){.path = slice_dup(pg_bytes(pg, CALL_TEXTS, row, 1)),
                .body = slice_dup(body),
                .len = body.len};
    }
    *ret_n = n;
    return texts;
}

static const struct diag_row *first_error(const struct diag *diag)
{
    for (size_t i = 0; i < diag->n; i++)
        if (diag->rows[i].level == DIAG_ERROR)
            return &diag->rows[i];
    return NULL;
}

static struct policy *make(
        const struct pg *pg, const struct policy_known *known, int version, struct err *err)
{
    size_t n_files, n_templates;
    struct diag diag __attribute__((cleanup(diag_fini))) = {0};
    struct policy_text *files = texts_of(pg, TEXT_FILE, &n_files);
    struct policy_text *templates = texts_of(pg, TEXT_TEMPLATE, &n_templates);
    struct policy *policy = policy_new(files, n_files, templates, n_templates, known, &diag);
    policy_texts_free(files, n_files);
    policy_texts_free(templates, n_templates);
    if (policy)
        return policy;
    const struct diag_row *row = first_error(&diag);
    const char *file = row && row->file ? row->file : "?";
    err_set(err, ERR_FATAL, "policy version %d can't be used by this binary: %s:%d:%d: %s", version,
            file, row ? row->line : 0, row ? row->column : 0, row ? row->text : "no reason given");
    return NULL;
}

static void bind(const struct pg *pg, struct policy *policy)
{
    for (int row = 0; row < pg_rows(pg, CALL_NAMES); row++) {
        AUTO_FREE char *name = slice_dup(pg_bytes(pg, CALL_NAMES, row, 2));
        policy_bind(policy, (enum name_kind)pg_int(pg, CALL_NAMES, row, 0), name,
                pg_int(pg, CALL_NAMES, row, 1));
    }
}

struct policy *policy_store_load(
        struct pg *pg, int base, int version, const struct policy_known *known, struct err *err)
{
    if (!fetch(pg, base, version, err))
        return NULL;
    int found = pg_int(pg, CALL_VERSION, 0, 0);
    struct policy *policy = make(pg, known, found, err);
    if (!policy)
        return NULL;
    policy->version = found;
    bind(pg, policy);
    if (policy_bound(policy, err))
        return policy;
    policy_unref(policy);
    err_prefix(err, "policy version %d", found);
    return NULL;
}

struct policy *policy_store_load_from(const char *conninfo, const char *role, int version,
        const struct policy_known *known, struct err *err)
{
    int base = 0;
    struct pg *pg __attribute__((cleanup(pg_auto_close))) =
            store_session(conninfo, role, NULL, 0, err);
    if (!pg || !policy_store_prepare(pg, &base, err))
        return NULL;
    return policy_store_load(pg, base, version, known, err);
}
