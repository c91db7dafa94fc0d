#include "cli/doctor/folder.h"

#include "cli/up/child.h"
#include "common/clock.h"

#include <errno.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 5
// Not in Debian's linux/magic.h.
#define CIFS_MAGIC 0xff534d42
#define GPFS_MAGIC 0x47504653
#define LUSTRE_MAGIC 0x0bd00bd0

struct look {
    const char *folder;
    const struct passwd *user;
};

static bool become(const struct passwd *user)
{
    return !user || (initgroups(user->pw_name, user->pw_gid) == 0 &&
                            setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 &&
                            setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0);
}

static bool is_network(const char *folder)
{
    static const unsigned int magics[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, SMB2_SUPER_MAGIC,
            CIFS_MAGIC, CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC, AFS_FS_MAGIC, CODA_SUPER_MAGIC,
            V9FS_MAGIC, OCFS2_SUPER_MAGIC, GPFS_MAGIC, LUSTRE_MAGIC, FUSE_SUPER_MAGIC};
    struct statfs fs;
    for (size_t i = 0; statfs(folder, &fs) == 0 && i < ARRAY_LEN(magics); i++)
        if ((unsigned int)fs.f_type == magics[i])
            return true;
    return false;
}

static enum folder_state state_of(const struct look *look)
{
    struct stat st;
    if (!become(look->user))
        return FOLDER_UNKNOWN;
    if (stat(look->folder, &st) != 0)
        return errno == EACCES                       ? FOLDER_SHUT
               : errno == ENOENT || errno == ENOTDIR ? FOLDER_MISSING
                                                     : FOLDER_UNKNOWN;
    if (!S_ISDIR(st.st_mode))
        return FOLDER_NO_FOLDER;
    if (access(look->folder, R_OK | X_OK) != 0)
        return FOLDER_SHUT;
    return is_network(look->folder) ? FOLDER_NETWORK : FOLDER_FINE;
}

// Ends at once: who has become another user has nothing to tidy up.
static int look_and_end(void *arg)
{
    _exit((int)state_of(arg));
}

enum folder_state folder_look(const char *folder, const char *user, int timeout_ms)
{
    struct child child = {.pid = 0};
    struct look look = {.folder = folder, .user = user ? getpwnam(user) : NULL};
    int64_t end_ms = clock_mono_ms() + timeout_ms;
    if ((user && !look.user) ||
            !child_call(&child, "pawl-look", look_and_end, &look,
                    (struct child_how){.death_signal = SIGKILL, .log_fd = -1}, NULL))
        return FOLDER_UNKNOWN;
    for (; clock_mono_ms() <= end_ms; usleep(LOOK_MS * 1000)) {
        if (!child_runs(&child))
            return WIFEXITED(child.status) ? (enum folder_state)WEXITSTATUS(child.status)
                                           : FOLDER_UNKNOWN;
    }
    child_signal(&child, SIGKILL);
    return FOLDER_SILENT;
}
