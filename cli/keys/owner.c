#include "cli/keys/owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#define FILES_MAX 10000

static bool is_roots(const struct stat *st)
{
    return st->st_uid == 0 && st->st_gid == 0;
}

// The first file of another than root.
static void owner_of_files(const char *dir, struct stat *st)
{
    DIR *files = opendir(dir);
    const struct dirent *file = files ? readdir(files) : NULL;
    struct stat one;
    for (int n = 0; file && is_roots(st) && n < FILES_MAX; n++, file = readdir(files))
        if (fstatat(dirfd(files), file->d_name, &one, 0) == 0 && S_ISREG(one.st_mode))
            *st = one;
    if (files)
        closedir(files);
}

void owner_of(const char *dir, struct owner *ret_owner)
{
    struct stat st;
    *ret_owner = (struct owner){0, 0};
    if (stat(dir, &st) != 0)
        return;
    if (is_roots(&st) && (st.st_mode & S_IXOTH))
        owner_of_files(dir, &st);
    *ret_owner = (struct owner){st.st_uid, st.st_gid};
}

bool owner_reads(const struct owner *owner, const char *path)
{
    struct stat st;
    if ((owner->uid == 0 && owner->gid == 0) || stat(path, &st) != 0)
        return true;
    if (owner->uid ? st.st_uid == owner->uid : st.st_uid != 0)
        return (st.st_mode & S_IRUSR) != 0;
    return (st.st_mode & (st.st_gid == owner->gid ? S_IRGRP : S_IROTH)) != 0;
}

void owner_names(const struct owner *owner, struct owner_names *ret_names)
{
    const struct passwd *user = getpwuid(owner->uid);
    const struct group *group = getgrgid(owner->gid);
    snprintf(ret_names->user, sizeof ret_names->user, "%u", (unsigned)owner->uid);
    snprintf(ret_names->group, sizeof ret_names->group, "%u", (unsigned)owner->gid);
    if (user)
        snprintf(ret_names->user, sizeof ret_names->user, "%s", user->pw_name);
    if (group)
        snprintf(ret_names->group, sizeof ret_names->group, "%s", group->gr_name);
}
