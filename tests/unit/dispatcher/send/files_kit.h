// files_kit.h: a folder with files of known bytes, for the tests of attachments.
#pragma once
#include "dispatcher/attachment.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char kit_folder[64];

static inline void kit_path(const char *name, char out[200])
{
    snprintf(out, 200, "%s/%s", kit_folder, name);
}

static inline void kit_put(const char *name, const void *bytes, size_t len)
{
    char path[200];
    kit_path(name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

// Bytes that tell their place.
static inline void kit_fill(unsigned char *bytes, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1103515245 + 12345;
        bytes[i] = (unsigned char)(seed >> 16);
    }
}

static inline int kit_set_up(void **state)
{
    (void)state;
    snprintf(kit_folder, sizeof kit_folder, "/tmp/pawl-files-XXXXXX");
    return mkdtemp(kit_folder) ? 0 : -1;
}

// Every file is called by one letter.
static inline int kit_tear_down(void **state)
{
    (void)state;
    char path[200], name[2] = "a";
    for (; name[0] <= 'z'; name[0]++) {
        kit_path(name, path);
        unlink(path);
    }
    return rmdir(kit_folder);
}
