#include "cli/up/place.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DROP_TO "postgres"
#define CANDIDATES 4

void place_fini(struct place *place)
{
    free(place->dir);
    free(place->user);
    *place = (struct place){0};
}

static bool join(char out[PATH_MAX], const char *a, const char *b, const char *c)
{
    int n = snprintf(out, PATH_MAX, "%s%s%s", a, b, c);
    return n > 0 && n < PATH_MAX;
}

// In the order they are tried; a variable that is empty or relative counts as unset (XDG base
// directory specification).
static size_t candidates(
        const struct passwd *user, const char *name, char out[CANDIDATES][PATH_MAX])
{
    size_t n = 0;
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        n += join(out[n], state, "/pawl/", name);
    if (home && home[0] == '/')
        n += join(out[n], home, "/.local/state/pawl/", name);
    if (user->pw_dir && user->pw_dir[0] == '/' && user->pw_dir[1])
        n += join(out[n], user->pw_dir, "/.local/state/pawl/", name);
    char base[PATH_MAX];
    if (join(base, "/var/tmp/pawl-", user->pw_name, "/"))
        n += join(out[n], base, name, "");
    return n;
}

static bool make_one(const char *path, const struct passwd *user, struct err *err)
{
    if (mkdir(path, 0700) != 0)
        return errno == EEXIST || errno == EROFS || access(path, F_OK) == 0 ||
               err_set(err, ERR_TEMP, "can't make '%s': %s", path, strerror(errno));
    if (geteuid() == 0 && lchown(path, user->pw_uid, user->pw_gid) != 0)
        return err_set(
                err, ERR_TEMP, "can't give '%s' to %s: %s", path, user->pw_name, strerror(errno));
    return true;
}

// What lies between stays with who owns the folder it is made in: root's ~/.local, or by `sudo -E`
// a person's, must not become postgres's.
static bool make_between(const char *path, const char *parent, struct err *err)
{
    struct stat st;
    if (geteuid() == 0 ? mkdir(path, 0711) != 0 : mkdir(path, 0700) != 0)
        return errno == EEXIST || errno == EROFS || access(path, F_OK) == 0 ||
               err_set(err, ERR_TEMP, "can't make '%s': %s", path, strerror(errno));
    if (geteuid() != 0)
        return true;
    return (chmod(path, 0711) == 0 && stat(parent, &st) == 0 &&
                   lchown(path, st.st_uid, st.st_gid) == 0) ||
           err_set(err, ERR_TEMP, "can't give '%s' to who owns '%s': %s", path, parent,
                   strerror(errno));
}

static bool make_all(const char *dir, const struct passwd *user, struct err *err)
{
    char path[PATH_MAX];
    if (!join(path, dir, "", ""))
        return err_set(err, ERR_INPUT, "the directory's name is too long");
    char parent[PATH_MAX] = "/";
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (!make_between(path, parent, err))
            return false;
        snprintf(parent, sizeof parent, "%s", path);
        *p = '/';
    }
    return make_one(path, user, err);
}

// A folder that someone else owns is not used: in /var/tmp anybody could have made it.
static bool own(const char *dir, const struct passwd *user, struct err *err)
{
    struct stat st;
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_TEMP, "'%s' is not a directory", dir);
    if (st.st_uid == 0 && geteuid() == 0 && user->pw_uid != 0 &&
            lchown(dir, user->pw_uid, user->pw_gid) == 0)
        st.st_uid = user->pw_uid;
    if (st.st_uid != user->pw_uid)
        return err_set(err, ERR_AUTH, "'%s' belongs to another user than %s", dir, user->pw_name);
    return true;
}

static bool reachable(const char *dir, const struct passwd *user, struct err *err)
{
    bool root = geteuid() == 0;
    if (root && (setegid(user->pw_gid) != 0 || seteuid(user->pw_uid) != 0))
        return err_set(err, ERR_TEMP, "can't become %s: %s", user->pw_name, strerror(errno));
    bool ok = eaccess(dir, R_OK | W_OK | X_OK) == 0;
    if (root && (seteuid(0) != 0 || setegid(0) != 0))
        abort(); // half a user: nothing may go on
    return ok || err_set(err, ERR_AUTH, "user %s can't use '%s'", user->pw_name, dir);
}

// What of the path is there already must let the user through: nothing is made where it can't work.
static bool passable(const char *dir, const struct passwd *user)
{
    char path[PATH_MAX];
    struct stat st;
    if (!join(path, dir, "", ""))
        return false;
    for (char *slash = strrchr(path, '/'); slash && slash != path; slash = strrchr(path, '/')) {
        *slash = '\0';
        if (stat(path, &st) == 0)
            break;
    }
    if (geteuid() != 0)
        return eaccess(path, X_OK) == 0;
    if (setegid(user->pw_gid) != 0 || seteuid(user->pw_uid) != 0)
        return false;
    bool ok = eaccess(path, X_OK) == 0;
    if (seteuid(0) != 0 || setegid(0) != 0)
        abort();
    return ok;
}

static bool use(const char *dir, const struct passwd *user, struct err *err)
{
    return make_all(dir, user, err) && own(dir, user, err) && reachable(dir, user, err);
}

static const struct passwd *run_as(struct err *err)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam(DROP_TO) : getpwuid(geteuid());
    if (!user && geteuid() == 0)
        err_set(err, ERR_AUTH,
                "PostgreSQL refuses to run as root, and there is no user 'postgres' to run as: "
                "start as an ordinary user");
    else if (!user)
        err_set(err, ERR_AUTH, "user %u has no passwd entry", (unsigned)geteuid());
    return user;
}

static bool pick(const char *dir, const char *name, const struct passwd *user, char out[PATH_MAX],
        struct err *err)
{
    char(*rows)[PATH_MAX] = xcalloc(CANDIDATES, sizeof *rows);
    AUTO_FREE void *held = rows;
    if (dir) {
        char cwd[PATH_MAX] = "";
        bool absolute = dir[0] == '/';
        if (!absolute && !getcwd(cwd, sizeof cwd))
            return err_set(err, ERR_TEMP, "can't tell the current directory");
        return (join(out, cwd, absolute ? "" : "/", dir) ||
                       err_set(err, ERR_INPUT, "the directory's name is too long")) &&
               use(out, user, err);
    }
    size_t n = candidates(user, name, rows);
    err_set(err, ERR_TEMP, "no folder for the data was found: name one by --dir");
    for (size_t i = 0; i < n; i++)
        if (passable(rows[i], user) && use(rows[i], user, err))
            return join(out, rows[i], "", "");
    return false;
}

static bool become(const struct passwd *user, const char *dir, struct err *err)
{
    int death_signal = 0; // who started this may have asked for one; the kernel forgets it below
    prctl(PR_GET_PDEATHSIG, &death_signal);
    if (geteuid() == 0 &&
            (setgroups(0, NULL) != 0 || setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
                    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0))
        return err_set(err, ERR_AUTH, "can't become user %s: %s", user->pw_name, strerror(errno));
    if (chdir(dir) != 0 || chmod(dir, 0700) != 0)
        return err_set(err, ERR_TEMP, "can't use '%s': %s", dir, strerror(errno));
    prctl(PR_SET_PDEATHSIG, death_signal);
    // libpq and PostgreSQL look there for files of the user.
    return setenv("HOME", dir, 1) == 0 || err_set(err, ERR_TEMP, "can't set HOME");
}

bool place_take(const char *dir, const char *name, struct place *ret_place, struct err *err)
{
    char path[PATH_MAX];
    const struct passwd *user = run_as(err);
    if (!user || !pick(dir, name, user, path, err))
        return false;
    AUTO_FREE char *real = realpath(path, NULL);
    if (!real)
        return err_set(err, ERR_TEMP, "can't use '%.200s': %s", path, strerror(errno));
    if (!become(user, real, err))
        return false;
    *ret_place = (struct place){.dir = xstrdup(real), .user = xstrdup(user->pw_name)};
    return true;
}

char *place_known(const char *name)
{
    char(*rows)[PATH_MAX] = xcalloc(CANDIDATES, sizeof *rows);
    AUTO_FREE void *held = rows;
    const struct passwd *user = run_as(NULL);
    size_t n = user ? candidates(user, name, rows) : 0;
    for (size_t i = 0; i < n; i++) {
        char file[PATH_MAX];
        if (join(file, rows[i], "/pawl.yaml", "") && access(file, R_OK) == 0)
            return xstrdup(rows[i]);
    }
    return NULL;
}
