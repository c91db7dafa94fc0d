#include "common/config/file.h"
#include "common/config/policy.h"

#include <ctype.h>
#include <sys/stat.h>

enum { SECRET_MAX = 64 * 1024 };

struct loading {
    const char *dir;
    bool systemd; // dir is $CREDENTIALS_DIRECTORY: access is guarded by the folder
    struct diag *diag;
    bool ok;
};

static void refuse(struct loading *loading, const char *path, const char *why, const char *owner)
{
    diag_file(loading->diag, DIAG_ERROR, path, "secret", "%s (%s)", why, owner);
    loading->ok = false;
}

static void wipe(struct slice *value)
{
    if (value->ptr) {
        unsigned char *bytes = (unsigned char *)(uintptr_t)value->ptr; // our own memory
        explicit_bzero(bytes, value->len);
        free(bytes);
    }
    *value = (struct slice){0};
}

// A file with a key in it, PEM or JSON, is no word that somebody may have typed.
static bool is_document(const char *bytes, size_t len)
{
    struct slice text = {(const unsigned char *)bytes, len};
    return slice_starts(text, SLICE("-----BEGIN")) || slice_starts(text, SLICE("{"));
}

static bool has_space(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (isspace((unsigned char)bytes[i]))
            return true;
    }
    return false;
}

// Length without one trailing line end.
static size_t without_line_end(const char *bytes, size_t len)
{
    if (len && bytes[len - 1] == '\n')
        len--;
    if (len && bytes[len - 1] == '\r')
        len--;
    return len;
}

static bool mode_ok(struct loading *loading, const char *path, const char *owner)
{
    struct stat st;
    if (stat(path, &st) != 0 || loading->systemd || !(st.st_mode & (S_IROTH | S_IWOTH)))
        return true; // what can't be looked at is told by the reading
    diag_file(loading->diag, DIAG_ERROR, path, "secret-mode",
            "others can read or write the file: chmod o-rwx '%s' (%s)", path, owner);
    loading->ok = false;
    return false;
}

static void load(struct loading *loading, struct secret *secret, const char *owner)
{
    if (!secret->credential)
        return;
    wipe(&secret->value);
    AUTO_FREE char *path = path_join(loading->dir, secret->credential);
    if (!mode_ok(loading, path, owner))
        return;
    char *bytes = NULL;
    size_t len = 0;
    struct err err = {0};
    if (!file_read(path, SECRET_MAX, &bytes, &len, &err)) {
        refuse(loading, path, err.msg, owner);
        return;
    }
    struct slice value = {(unsigned char *)bytes, len};
    size_t kept = without_line_end(bytes, len);
    if (kept == 0) {
        refuse(loading, path, "the file is empty", owner);
        wipe(&value);
        return;
    }
    if (!is_document(bytes, kept) && has_space(bytes, kept))
        diag_file(loading->diag, DIAG_WARNING, path, "secret-space",
                "there is white space in the secret, and it counts (%s)", owner);
    explicit_bzero(bytes + kept, len - kept);
    value.len = kept;
    secret->value = value;
}

static void load_source(struct loading *loading, struct source *source)
{
    AUTO_TEXT struct text owner;
    text_init(&owner, 256);
    text_fmt(&owner, "source '%s'", source->name);
    for (size_t i = 0; source->active && i < source->n_secrets; i++)
        load(loading, &source->secrets[i], text_cstr(&owner));
    if (source->active)
        load(loading, &source->handshake_token, text_cstr(&owner));
}

static void load_channel(struct loading *loading, struct channel *channel)
{
    AUTO_TEXT struct text owner;
    text_init(&owner, 256);
    text_fmt(&owner, "channel '%s'", channel_name(channel->kind));
    for (size_t i = 0; i < channel->n_providers; i++)
        if (channel->providers[i].driver != DRIVER_OTHER) {
            load(loading, &channel->providers[i].password, text_cstr(&owner));
            load(loading, &channel->providers[i].session, text_cstr(&owner));
        }
}

bool secrets_load(struct policy *policy, const char *dir, enum secrets_of which, struct diag *diag)
{
    const char *systemd = getenv("CREDENTIALS_DIRECTORY");
    struct loading loading = {.dir = dir ? dir : "",
            .systemd = dir && systemd && strcmp(systemd, dir) == 0,
            .diag = diag,
            .ok = true};
    if (!dir) {
        diag_file(diag, DIAG_ERROR, NULL, "secret",
                "there is no credentials directory: name it as `credentials` in the host file");
        return false;
    }
    for (size_t i = 0; (which & SECRETS_OF_SOURCES) && i < policy->n_sources; i++)
        load_source(&loading, &policy->sources[i]);
    for (int kind = CHANNEL_EMAIL; (which & SECRETS_OF_CHANNELS) && kind < CHANNEL_COUNT; kind++)
        load_channel(&loading, &policy->channels[kind]);
    for (size_t i = 0; i < policy->unsubscribe.n_secrets; i++)
        load(&loading, &policy->unsubscribe.secrets[i], "unsubscribe");
    return loading.ok;
}

bool secret_is_live(const struct secret *secret, int64_t now_s)
{
    if (secret->value.len == 0 || (secret->from && now_s < secret->from))
        return false;
    return !secret->until || now_s < secret->until;
}

bool secret_used(const struct secret *secret, int64_t now_s)
{
    int64_t *used_s = (int64_t *)(uintptr_t)&secret->used_s; // of our own memory
    if (__atomic_load_n(used_s, __ATOMIC_RELAXED) == now_s)
        return false;
    __atomic_store_n(used_s, now_s, __ATOMIC_RELAXED);
    return true;
}

int64_t secret_last_used(const struct secret *secret)
{
    return __atomic_load_n(&secret->used_s, __ATOMIC_RELAXED);
}
