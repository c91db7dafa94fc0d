#include "common/config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(
        int fd, size_t max, char **ret_bytes, size_t *ret_len, const char *path, struct err *err)
{
    size_t room = 4096, len = 0;
    AUTO_FREE char *bytes = xmalloc(room + 1);
    for (;;) {
        ssize_t n = read(fd, bytes + len, room - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_INPUT, "can't read '%s': %s", path, strerror(errno));
        len += (size_t)n;
        if (len > max)
            return err_set(err, ERR_INPUT, "'%s' is larger than %zu bytes", path, max);
        if (n == 0)
            break;
        if (len == room)
            bytes = xrealloc(bytes, (room *= 2) + 1);
    }
    bytes[len] = '\0';
    *ret_len = len;
    *ret_bytes = steal(&bytes);
    return true;
}

bool file_read(const char *path, size_t max, char **ret_bytes, size_t *ret_len, struct err *err)
{
    // O_NONBLOCK: opening a FIFO by mistake must not hang.
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_set(err, errno == ENOENT ? ERR_NOTFOUND : ERR_INPUT, "can't open '%s': %s", path,
                strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "'%s' is no regular file", path);
    return read_all(fd, max, ret_bytes, ret_len, path, err);
}

char *path_join(const char *dir, const char *name)
{
    if (name[0] == '/' || !*dir || strcmp(dir, ".") == 0)
        return xstrdup(name);
    size_t n = strlen(dir), m = strlen(name);
    bool slash = dir[n - 1] == '/';
    char *path = xmalloc(n + m + 2);
    memcpy(path, dir, n);
    if (!slash)
        path[n++] = '/';
    memcpy(path + n, name, m + 1);
    return path;
}
