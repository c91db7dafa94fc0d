// beneath.h: opens a regular file below a folder, so that nothing outside of it can be reached: no
// "..", no symbolic link on the way, no pipe or device, whatever the path's text says.
#pragma once
#include "common/err.h"

enum {
    BENEATH_PATH_MAX = 512, // bytes of a path
    BENEATH_NAME_MAX = 255, // of one name in it (Linux NAME_MAX)
};

// Can this be a path below a folder? Relative, of names parted by single '/', none of them "." or
// "..", UTF-8 without control characters, not too long. ERR_INPUT says what it is not.
MUST_CHECK bool beneath_path_ok(const char *path, struct err *err);

// Opens the file for reading; *ret_fd is yours. ERR_INPUT: the path is none, there is no such file,
// it is not a regular one, it may not be read, or a symbolic link stands on the way. ERR_TEMP: the
// folder itself can't be opened, or the machine failed (no descriptors, a read error). Messages
// name the path.
MUST_CHECK bool beneath_open(const char *folder, const char *path, int *ret_fd, struct err *err);

// The same by one open() a name: what beneath_open() does where openat2 (Linux 5.6) is not to be
// had.
MUST_CHECK bool beneath_walk(const char *folder, const char *path, int *ret_fd, struct err *err);
