#include "dispatcher/attachment.h"

#include "common/beneath.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)64 << 10)
#define MIB(n) ((n) >> 20)

static void auto_reading(struct attachment_reading *reading)
{
    attachment_close(reading);
}
#define AUTO_READING __attribute__((cleanup(auto_reading)))

size_t attachments_size(const struct content *content)
{
    size_t size = 0;
    for (size_t i = 0; i < content->n_attachments; i++)
        size += content->attachments[i].size;
    return size;
}

static bool changed(const struct attachment *attachment, struct err *err)
{
    return err_set(err, ERR_INPUT,
            "attachment '%.120s' is not the file it was when the mail was made", attachment->path);
}

static bool begin(struct attachment_reading *reading, const char *folder, const char *path,
        size_t *ret_size, struct err *err)
{
    struct stat st;
    if (!folder)
        return err_set(err, ERR_INPUT,
                "attachment '%.120s': the host file names no folder (dispatcher.attachments)",
                path);
    if (!beneath_open(folder, path, &reading->fd, err))
        return err_prefix(err, "attachment");
    reading->digest = EVP_MD_CTX_new();
    if (fstat(reading->fd, &st) != 0 || !reading->digest ||
            !EVP_DigestInit_ex(reading->digest, EVP_sha256(), NULL))
        return err_set(err, ERR_TEMP, "attachment '%.120s' can't be read", path);
    *ret_size = (size_t)st.st_size;
    return true;
}

void attachment_close(struct attachment_reading *reading)
{
    if (reading->fd >= 0)
        close(reading->fd);
    EVP_MD_CTX_free(reading->digest);
    *reading = (struct attachment_reading){.fd = -1};
}

bool attachment_open(struct attachment_reading *reading, const char *folder,
        const struct attachment *attachment, struct err *err)
{
    *reading = (struct attachment_reading){.fd = -1};
    size_t size = 0;
    bool ok = begin(reading, folder, attachment->path, &size, err) &&
              (size == attachment->size || changed(attachment, err));
    if (!ok)
        attachment_close(reading);
    reading->attachment = ok ? attachment : NULL;
    reading->left = size;
    return ok;
}

// One read; 0 = the file ends here.
static bool read_piece(struct attachment_reading *reading, const char *path, unsigned char *out,
        size_t room, size_t *ret_n, struct err *err)
{
    ssize_t n;
    do
        n = read(reading->fd, out, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(
                err, ERR_TEMP, "attachment '%.120s' can't be read: %s", path, strerror(errno));
    *ret_n = (size_t)n;
    return EVP_DigestUpdate(reading->digest, out, (size_t)n) ||
           err_set(err, ERR_TEMP, "attachment '%.120s' can't be hashed", path);
}

// All of it was read: does the file end here too, and was it the same?
static bool compare(struct attachment_reading *reading, struct err *err)
{
    const struct attachment *attachment = reading->attachment;
    unsigned char more[1], digest[EVP_MAX_MD_SIZE];
    size_t n = 0;
    if (!read_piece(reading, attachment->path, more, sizeof more, &n, err))
        return false;
    bool same = n == 0 && EVP_DigestFinal_ex(reading->digest, digest, NULL) &&
                memcmp(digest, attachment->sha256, sizeof attachment->sha256) == 0;
    reading->same = same;
    return same || changed(attachment, err);
}

bool attachment_read(struct attachment_reading *reading, unsigned char *out, size_t room,
        size_t *ret_n, struct err *err)
{
    const struct attachment *attachment = reading->attachment;
    *ret_n = 0;
    if (reading->left == 0)
        return reading->same || compare(reading, err);
    if (!read_piece(reading, attachment->path, out, room < reading->left ? room : reading->left,
                ret_n, err))
        return false;
    reading->left -= *ret_n;
    return *ret_n > 0 || changed(attachment, err);
}

static bool check_one(const char *folder, const struct attachment *attachment, unsigned char *piece,
        struct err *err)
{
    AUTO_READING struct attachment_reading reading = {.fd = -1};
    bool ok = attachment_open(&reading, folder, attachment, err);
    for (size_t n = 1; ok && n > 0;)
        ok = attachment_read(&reading, piece, PIECE, &n, err);
    return ok;
}

bool attachments_check(const struct content *content, const char *folder, struct err *err)
{
    AUTO_FREE unsigned char *piece = xmalloc(PIECE);
    for (size_t i = 0; i < content->n_attachments; i++)
        if (!check_one(folder, &content->attachments[i], piece, err))
            return false;
    return true;
}

// A file that grows while it is read is not measured to its end.
static bool measure(struct attachment_reading *reading, const char *path, size_t size,
        unsigned char sha256[32], struct err *err)
{
    AUTO_FREE unsigned char *piece = xmalloc(PIECE);
    unsigned char digest[EVP_MAX_MD_SIZE];
    size_t all = 0;
    for (size_t n = 1; n > 0 && all <= size; all += n)
        if (!read_piece(reading, path, piece, PIECE, &n, err))
            return false;
    if (all != size)
        return err_set(err, ERR_INPUT, "attachment '%.120s' changes while it is read", path);
    if (!EVP_DigestFinal_ex(reading->digest, digest, NULL))
        return err_set(err, ERR_TEMP, "attachment '%.120s' can't be hashed", path);
    memcpy(sha256, digest, 32);
    return true;
}

// before: bytes of the files that come before it.
static bool size_ok(size_t before, const char *path, size_t size, struct err *err)
{
    if (size == 0)
        return err_set(err, ERR_INPUT, "attachment '%.120s' is empty", path);
    if (size > ATTACHMENT_SIZE_MAX)
        return err_set(err, ERR_INPUT, "attachment '%.120s' has %zu bytes, more than %zu MiB", path,
                size, MIB(ATTACHMENT_SIZE_MAX));
    if (before + size > ATTACHMENTS_SIZE_MAX)
        return err_set(err, ERR_INPUT,
                "with attachment '%.120s' they are more than %zu MiB together", path,
                MIB(ATTACHMENTS_SIZE_MAX));
    return true;
}

bool attachment_look(const char *folder, const char *path, size_t *all, struct err *err)
{
    AUTO_READING struct attachment_reading reading = {.fd = -1};
    size_t size = 0;
    if (!begin(&reading, folder, path, &size, err) || !size_ok(*all, path, size, err))
        return false;
    *all += size;
    return true;
}

bool attachment_add(struct content *content, const char *folder, const char *path, struct err *err)
{
    AUTO_READING struct attachment_reading reading = {.fd = -1};
    struct attachment added = {0};
    if (content->n_attachments == MESSAGE_ATTACHMENTS_MAX)
        return err_set(err, ERR_INPUT, "more than %d attachments", MESSAGE_ATTACHMENTS_MAX);
    if (!begin(&reading, folder, path, &added.size, err) ||
            !size_ok(attachments_size(content), path, added.size, err) ||
            !measure(&reading, path, added.size, added.sha256, err))
        return false;
    size_t n = content->n_attachments + 1;
    content->attachments = xrealloc(content->attachments, n * sizeof added);
    added.path = xstrdup(path);
    content->attachments[content->n_attachments++] = added;
    return true;
}
