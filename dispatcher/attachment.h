// attachment.h: the files that go with a mail: measured when it is rendered, compared before and
// while they are sent (docs/attachments.md).
//
// Failures are ERR_INPUT, with the file's name, where the file is not what it should be, and
// ERR_TEMP where that can't be known now: the folder can't be opened, a read failed.
#pragma once
#include "dispatcher/delivery.h"

#define ATTACHMENT_SIZE_MAX ((size_t)5 << 20)   // bytes of one file
#define ATTACHMENTS_SIZE_MAX ((size_t)10 << 20) // of all of one mail

size_t attachments_size(const struct content *content); // of all files together

// Is the file at path one that can be added? Of it nothing is read. *all: bytes of those that come
// before it; with it.
MUST_CHECK bool attachment_look(const char *folder, const char *path, size_t *all, struct err *err);

// Reads the file at path below folder (NULL = the host file names none) and appends it to content;
// an empty one, one above the limits and one more than policy.h allows are refused.
MUST_CHECK bool attachment_add(
        struct content *content, const char *folder, const char *path, struct err *err);

// Reads every file of content and compares it with what was rendered.
MUST_CHECK bool attachments_check(
        const struct content *content, const char *folder, struct err *err);

// One of them while it is sent: its bytes in order, compared at the end.
struct attachment_reading {
    const struct attachment *attachment; // borrowed; NULL = none is being read
    int fd;
    size_t left;
    bool same;    // it was compared
    void *digest; // EVP_MD_CTX
};
MUST_CHECK bool attachment_open(struct attachment_reading *reading, const char *folder,
        const struct attachment *attachment, struct err *err);
// Fills out up to room; *ret_n 0 = that was all, and all was the same. Failures as above.
MUST_CHECK bool attachment_read(struct attachment_reading *reading, unsigned char *out, size_t room,
        size_t *ret_n, struct err *err);
void attachment_close(struct attachment_reading *reading); // one that is not open is fine
