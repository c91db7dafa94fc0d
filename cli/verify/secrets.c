// Secrets as they may have been copied, and those of other sources.
#include "cli/verify/ask.h"

#include <openssl/crypto.h>

enum { SECRET_ROOM = 64 * 1024 };

static const char *const prefixes[] = {"whsec_", "v1,", "sha256=", "Bearer ", "sk_"};

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void try_value(
        struct asking *asking, const struct secret *secret, struct slice value, const char *says)
{
    struct secret changed = *secret;
    changed.value = value;
    struct source source = *asking->source;
    source.secrets = &changed;
    source.n_secrets = 1;
    if (!slice_eq(value, secret->value) && ask(NULL, &source, asking->request) == 0)
        ask_found(asking, NULL, secret->credential, "%s", says);
}

static void try_ends(struct asking *asking, const struct secret *secret)
{
    static const struct {
        const char *end, *says;
    } ends[] = {{"\n", "with a newline at the secret's end: the provider was given one"},
            {"\r\n", "with CRLF at the secret's end: the provider was given it"},
            {" ", "with a blank at the secret's end: the provider was given one"}};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO_TEXT struct text made = {.len = 0};
        text_init(&made, SECRET_ROOM);
        text_add(&made, secret->value);
        text_str(&made, ends[i].end);
        try_value(asking, secret, text_slice(&made), ends[i].says);
        OPENSSL_cleanse(made.ptr, made.len);
    }
}

static void try_cut(struct asking *asking, const struct secret *secret)
{
    struct slice bare = secret->value;
    while (bare.len && is_space(bare.ptr[0]))
        bare = (struct slice){bare.ptr + 1, bare.len - 1};
    while (bare.len && is_space(bare.ptr[bare.len - 1]))
        bare.len--;
    try_value(asking, secret, bare, "this is the secret with white space around it: mend the file");
    struct slice inner = bare;
    if (bare.len > 2 && bare.ptr[0] == bare.ptr[bare.len - 1] &&
            (bare.ptr[0] == '"' || bare.ptr[0] == '\''))
        inner = (struct slice){bare.ptr + 1, bare.len - 2};
    if (inner.len != bare.len)
        try_value(asking, secret, inner, "this is the secret in quotes: mend the file");
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        struct slice prefix = slice_of(prefixes[i]);
        if (slice_starts(bare, prefix))
            try_value(asking, secret, (struct slice){bare.ptr + prefix.len, bare.len - prefix.len},
                    "without the prefix of the secret");
    }
}

static void try_prefix(struct asking *asking, const struct secret *secret)
{
    AUTO_TEXT struct text made = {.len = 0};
    text_init(&made, SECRET_ROOM);
    text_str(&made, "whsec_");
    text_add(&made, secret->value);
    try_value(asking, secret, text_slice(&made), "with whsec_ before the secret");
    OPENSSL_cleanse(made.ptr, made.len);
}

// The secrets of other sources: the test mode's, or another endpoint's.
static void try_others(struct asking *asking)
{
    const struct policy *policy = asking->policy;
    for (size_t i = 0; policy && i < policy->n_sources; i++) {
        const struct source *other = &policy->sources[i];
        if (strcmp(other->name, asking->source->name) == 0 || other->n_secrets == 0)
            continue;
        struct source source = *asking->source;
        source.secrets = other->secrets;
        source.n_secrets = other->n_secrets;
        int index = ask(NULL, &source, asking->request);
        if (index < 0)
            continue;
        bool test = strstr(other->name, "test") || strstr(other->secrets[index].credential, "test");
        ask_found(asking, other->name, other->secrets[index].credential,
                test ? "this is the test mode's secret: that of source '%s'"
                     : "this is the secret of source '%s'",
                other->name);
    }
}

void ask_secrets(struct asking *asking)
{
    for (size_t i = 0; i < asking->source->n_secrets; i++) {
        const struct secret *secret = &asking->source->secrets[i];
        if (secret->value.len == 0 || secret->value.len > SECRET_ROOM - 16)
            continue;
        try_ends(asking, secret);
        try_cut(asking, secret);
        try_prefix(asking, secret);
    }
    try_others(asking);
}
