// Fuzzes both configuration files from bytes to checked structs: no input may crash, leak, or be
// refused without a finding, and every finding has a place inside the file.
#include "common/config/host.h"
#include "common/config/policy.h"
#include "common/config/schema.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 16 << 20 };

static bool scheme(const char *name, bool *ret_active)
{
    *ret_active = name[0] != 't';
    return name[0] != 'u';
}

static int64_t horizon_s(const char *name)
{
    return name[0] == 's' ? 3 * 86400 : 0;
}

static void check_findings(const struct diag *diag, bool made)
{
    assert(made == (diag->errors == 0));
    for (size_t i = 0; i < diag->n; i++) {
        const struct diag_row *row = &diag->rows[i];
        assert(row->text && row->code && row->line >= 0 && row->column >= 0);
        assert(!row->line == !row->column);
    }
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    diag_print(diag, &out);
    text_reset(&out);
    diag_json(diag, &out);
}

static void as_policy(struct policy_text *files, size_t n)
{
    static const struct policy_known known = {.scheme = scheme, .horizon_s = horizon_s};
    struct diag diag = {0};
    struct policy *policy = policy_new(files, n, NULL, 0, &known, &diag);
    check_findings(&diag, policy != NULL);
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    if (policy)
        policy_describe(policy, &out);
    policy_unref(policy);
    diag_fini(&diag);
}

static void as_host(struct slice bytes)
{
    struct diag diag = {0};
    struct yaml_doc *doc = yaml_doc_read("f", bytes, &diag);
    if (!doc) {
        assert(diag.errors > 0);
        diag_fini(&diag);
        return;
    }
    struct host_config config = {0};
    struct schema_load *load = schema_load_new(&diag);
    schema_load(load, &host_schema, &config, &doc->root, &doc->root);
    schema_load_free(load);
    schema_free_in(&host_schema, &config);
    yaml_doc_free(doc);
    diag_fini(&diag);
}

// A form feed parts the input into two policy files.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *part = size ? memchr(data, '\f', size) : NULL;
    size_t first = part ? (size_t)(part - data) : size;
    AUTO_FREE char *body = slice_dup((struct slice){data, first});
    AUTO_FREE char *rest = part ? slice_dup((struct slice){part + 1, size - first - 1}) : NULL;
    char a[] = "a.yaml", b[] = "b.yaml";
    struct policy_text files[] = {{.path = a, .body = body, .len = first},
            {.path = b, .body = rest, .len = part ? size - first - 1 : 0}};
    as_policy(files, part ? 2 : 1);
    as_host((struct slice){data, first});
    return 0;
}
