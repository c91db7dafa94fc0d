#include "common/beneath.h"

#include "common/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Without O_NONBLOCK the open of a pipe would wait for its other end.
#define FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

static bool name_ok(struct slice name)
{
    return name.len > 0 && !slice_eq(name, SLICE(".")) && !slice_eq(name, SLICE(".."));
}

static bool characters_ok(struct slice path)
{
    for (size_t i = 0, n; i < path.len; i += n) {
        n = utf8_len((struct slice){path.ptr + i, path.len - i});
        if (n == 0 || path.ptr[i] < 0x20 || path.ptr[i] == 0x7f)
            return false;
    }
    return true;
}

bool beneath_path_ok(const char *path, struct err *err)
{
    struct slice all = slice_of(path);
    if (all.len == 0)
        return err_set(err, ERR_INPUT, "the path is empty");
    if (all.len > BENEATH_PATH_MAX)
        return err_set(err, ERR_INPUT, "the path is longer than %d bytes", BENEATH_PATH_MAX);
    if (!characters_ok(all))
        return err_set(err, ERR_INPUT, "the path holds a control character or is not UTF-8");
    if (path[0] == '/')
        return err_set(err, ERR_INPUT,
                "'%.120s' is an absolute path: it must be one below the folder", path);
    for (const char *at = path, *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, "/");
        size_t len = (size_t)(end - at);
        if (len > BENEATH_NAME_MAX)
            return err_set(err, ERR_INPUT, "a name in '%.60s' is longer than %d bytes", path,
                    BENEATH_NAME_MAX);
        if (!name_ok((struct slice){(const unsigned char *)at, len}))
            return err_set(
                    err, ERR_INPUT, "'%.120s' has '.', '..' or nothing between two '/'", path);
    }
    return true;
}

// What the failure is about: the file, or this machine.
static bool failed(const char *path, int why, struct err *err)
{
    static const struct {
        int why;
        const char *text;
    } of_the_file[] = {
            {ENOENT, "there is no such file"},
            {ENOTDIR, "a symbolic link, or what is no folder, stands on its way"},
            {ELOOP, "it is a symbolic link, or one stands on its way"},
            {EXDEV, "its way leads out of the folder"},
            {EACCES, "it may not be read"},
            {EPERM, "it may not be read"},
            {ENXIO, "it is not a regular file"},
            {ENAMETOOLONG, "its name is too long"},
    };
    for (size_t i = 0; i < ARRAY_LEN(of_the_file); i++)
        if (of_the_file[i].why == why)
            return err_set(err, ERR_INPUT, "'%.120s': %s", path, of_the_file[i].text);
    return err_set(err, ERR_TEMP, "'%.120s' can't be opened: %s", path, strerror(why));
}

static bool open_folder(const char *folder, int *ret_fd, struct err *err)
{
    *ret_fd = open(folder, FOLDER_FLAGS);
    return *ret_fd >= 0 || err_set(err, ERR_TEMP, "the folder '%.120s' can't be opened: %s", folder,
                                   strerror(errno));
}

// Takes the descriptor over.
static bool take(int opened, const char *path, int *ret_fd, struct err *err)
{
    AUTO_CLOSE int fd = opened;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return failed(path, errno, err);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "'%.120s': it is not a regular file", path);
    *ret_fd = fd;
    fd = -1;
    return true;
}

// -1 + errno.
static int walk(int folder, const char *path)
{
    AUTO_CLOSE int at = -1;
    const char *slash;
    for (; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        AUTO_FREE char *name =
                slice_dup((struct slice){(const unsigned char *)path, (size_t)(slash - path)});
        int next = openat(at < 0 ? folder : at, name, FOLDER_FLAGS | O_NOFOLLOW);
        if (next < 0)
            return -1;
        if (at >= 0)
            close(at);
        at = next;
    }
    return openat(at < 0 ? folder : at, path, FILE_FLAGS);
}

bool beneath_walk(const char *folder, const char *path, int *ret_fd, struct err *err)
{
    AUTO_CLOSE int dir = -1;
    if (!beneath_path_ok(path, err) || !open_folder(folder, &dir, err))
        return false;
    int fd = walk(dir, path);
    return fd >= 0 ? take(fd, path, ret_fd, err) : failed(path, errno, err);
}

bool beneath_open(const char *folder, const char *path, int *ret_fd, struct err *err)
{
    AUTO_CLOSE int dir = -1;
    if (!beneath_path_ok(path, err) || !open_folder(folder, &dir, err))
        return false;
    struct open_how how = {.flags = FILE_FLAGS,
            .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    // A filter of system calls says EPERM, a rename on the way EAGAIN.
    if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        fd = walk(dir, path);
    return fd >= 0 ? take(fd, path, ret_fd, err) : failed(path, errno, err);
}
