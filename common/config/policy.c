// Makes a policy: texts -> trees -> one merged tree -> struct by the table -> checks.
#include "common/config/policy.h"

#include "common/config/policy_made.h"
#include "common/config/policy_merge.h"
#include "common/keys.h"

#include <stdio.h>

static const char *const channel_names[CHANNEL_COUNT] = {[CHANNEL_NONE] = "none",
        [CHANNEL_EMAIL] = "email",
        [CHANNEL_SMS] = "sms",
        [CHANNEL_PUSH] = "push"};

const char *channel_name(enum channel_kind kind)
{
    return kind > CHANNEL_NONE && kind < CHANNEL_COUNT ? channel_names[kind] : "none";
}

enum channel_kind channel_by_name(const char *name)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        if (strcmp(channel_names[kind], name) == 0)
            return (enum channel_kind)kind;
    }
    return CHANNEL_NONE;
}

static int by_path(const void *left, const void *right)
{
    const struct policy_text *a = left, *b = right;
    return strcmp(a->path, b->path);
}

static struct policy_text *copy_texts(const struct policy_text *texts, size_t n)
{
    struct policy_text *copies = xcalloc(n, sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        copies[i].path = xstrdup(texts[i].path);
        copies[i].body =
                slice_dup((struct slice){(const unsigned char *)texts[i].body, texts[i].len});
        copies[i].len = texts[i].len;
    }
    qsort(copies, n, sizeof *copies, by_path);
    return copies;
}

static void add_length(struct text *all, struct slice part)
{
    text_fmt(all, "%zu:", part.len);
    text_add(all, part);
}

// The version's fingerprint. The names of the policy files are left out, since the same files may
// be read from another folder; a template's name is part of what it says.
static void hash_texts(struct policy *policy)
{
    AUTO_TEXT struct text all;
    text_init(&all, SIZE_MAX / 4);
    for (size_t i = 0; i < policy->n_files; i++) {
        const struct policy_text *file = &policy->files[i];
        add_length(&all, (struct slice){(const unsigned char *)file->body, file->len});
    }
    for (size_t i = 0; i < policy->n_templates; i++) {
        const struct policy_text *file = &policy->templates[i];
        text_char(&all, 't');
        add_length(&all, slice_of(file->path));
        add_length(&all, (struct slice){(const unsigned char *)file->body, file->len});
    }
    unsigned char digest[32];
    sha256_of(text_slice(&all), digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(policy->sha256 + 2 * i, 3, "%02x", digest[i]);
}

static void check_all(const struct making *making)
{
    policy_make_flow(making);
    policy_check_sources(making);
    policy_check_channels(making);
    policy_check_messages(making);
    policy_check_attachments(making);
    policy_check_caps(making);
    policy_check_templates(making);
    policy_check_partials(making);
    policy_check_reach(making);
    policy_check_values(making);
}

static void fill(struct policy_made *made, const struct policy_known *known,
        const struct policy_merge *merge, struct diag *diag, size_t before)
{
    static const struct policy_known nothing;
    struct schema_load *load = schema_load_new(diag);
    schema_load(load, &policy_schema, made, &merge->root, &merge->root);
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        const struct yaml_node *channels = yaml_get(&merge->root, "channels", NULL);
        made->policy.channels[kind].kind = (enum channel_kind)kind;
        made->policy.channels[kind].configured =
                channels && yaml_get(channels, channel_names[kind], NULL);
    }
    check_all(&(struct making){made, load, known ? known : &nothing, diag, before});
    schema_load_free(load);
}

// Reads every file; a check over all of them makes sense only when every one could be read.
static void read_all(struct policy_made *made, const struct policy_known *known, struct diag *diag)
{
    size_t n = made->policy.n_files, unread = 0, before = diag->errors;
    AUTO_FREE struct yaml_doc **docs = xcalloc(n, sizeof(struct yaml_doc *));
    for (size_t i = 0; i < n; i++) {
        const struct policy_text *file = &made->policy.files[i];
        docs[i] = yaml_doc_read(
                file->path, (struct slice){(const unsigned char *)file->body, file->len}, diag);
        unread += docs[i] == NULL;
    }
    struct policy_merge merge;
    policy_merge_init(&merge, docs, n, diag);
    if (n == 0)
        diag_file(diag, DIAG_ERROR, NULL, "no-files", "there are no policy files");
    else if (unread == 0)
        fill(made, known, &merge, diag, before);
    policy_merge_fini(&merge);
    for (size_t i = 0; i < n; i++)
        yaml_doc_free(docs[i]);
}

// At most so much of it is told at start; `pawl policy check` tells all.
#define INACTIVE_MAX 3000

static char *list_inactive(const struct diag *diag)
{
    AUTO_TEXT struct text list;
    text_init(&list, INACTIVE_MAX);
    for (size_t i = 0; i < diag->n; i++) {
        const struct diag_row *row = &diag->rows[i];
        if (row->level != DIAG_INACTIVE)
            continue;
        if (!text_fmt(&list, "%s%s:%d: %s", list.len ? "; " : "", row->file ? row->file : "policy",
                    row->line, row->text))
            break;
    }
    return text_steal(&list);
}

struct policy *policy_new(const struct policy_text *files, size_t n_files,
        const struct policy_text *templates, size_t n_templates, const struct policy_known *known,
        struct diag *diag)
{
    size_t before = diag->errors;
    struct policy_made *made = xcalloc(1, sizeof *made);
    struct policy *policy = &made->policy;
    policy->refs = 1;
    policy->files = copy_texts(files, n_files);
    policy->n_files = n_files;
    policy->templates = copy_texts(templates, n_templates);
    policy->n_templates = n_templates;
    hash_texts(policy);
    read_all(made, known, diag);
    policy->inactive = list_inactive(diag);
    if (diag->errors == before) {
        policy_index(policy);
        return policy;
    }
    policy_unref(policy);
    return NULL;
}

struct policy *policy_ref(struct policy *policy)
{
    __atomic_add_fetch(&policy->refs, 1, __ATOMIC_RELAXED);
    return policy;
}

static void secret_wipe(struct secret *secret)
{
    if (secret->value.ptr) {
        // The value is this struct's own memory, lent out read-only.
        unsigned char *bytes = (unsigned char *)(uintptr_t)secret->value.ptr;
        explicit_bzero(bytes, secret->value.len);
        free(bytes);
    }
    secret->value = (struct slice){0};
}

static void wipe_provider(struct provider *provider)
{
    secret_wipe(&provider->password);
    secret_wipe(&provider->session);
}

static void wipe_secrets(struct policy *policy)
{
    for (size_t i = 0; i < policy->unsubscribe.n_secrets; i++)
        secret_wipe(&policy->unsubscribe.secrets[i]);
    for (size_t i = 0; i < policy->n_sources; i++) {
        for (size_t j = 0; j < policy->sources[i].n_secrets; j++)
            secret_wipe(&policy->sources[i].secrets[j]);
        secret_wipe(&policy->sources[i].handshake_token);
    }
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        for (size_t j = 0; j < policy->channels[kind].n_providers; j++)
            wipe_provider(&policy->channels[kind].providers[j]);
    }
}

void policy_unref(struct policy *policy)
{
    if (!policy || __atomic_sub_fetch(&policy->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    wipe_secrets(policy);
    for (size_t i = 0; i < policy->flow.n_states; i++)
        free(policy->flow.states[i].name);
    free(policy->flow.states);
    free(policy->flow.may);
    policy_texts_free(policy->files, policy->n_files);
    policy_texts_free(policy->templates, policy->n_templates);
    for (size_t i = 0; i < policy->n_sources; i++)
        free(policy->sources[i].row);
    schema_free_in(&policy_schema, policy);
    free(policy->by_name);
    free(policy->names);
    free(policy->inactive);
    free(policy); // the first member of its struct policy_made
}
