// Credentials: every file that the active policy names, as the programs would read it.
#include "cli/doctor/findings.h"
#include "cli/keys/owner.h"

#include "receiver/verify/verify.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENDS_SOON_S (7 * 86400)
#define PATH_ROOM 4200

struct folder {
    const char *dir;
    uid_t uid;          // whose the folder is
    struct owner owner; // who reads what is in it
    struct owner_names names;
};

// Root can read it, and so does not meet what the program will.
static bool judge_reader(struct visit *visit, const struct folder *folder, const char *path)
{
    const struct owner_names *names = &folder->names;
    if (access(path, R_OK) != 0 || owner_reads(&folder->owner, path))
        return true;
    found(visit, FINDING_WARN, "credentials", "%s can't be read by %s%s, as the others can", path,
            folder->owner.uid ? "" : "group ", folder->owner.uid ? names->user : names->group);
    mend(visit, "chown %s:%s '%s' && chmod 0640 '%s'", names->user, names->group, path, path);
    return false;
}

static void judge_file(struct visit *visit, const struct folder *folder, const char *credential)
{
    const char *dir = folder->dir;
    uid_t owner = folder->uid;
    char path[PATH_ROOM];
    struct stat st;
    if (!credential || snprintf(path, sizeof path, "%s/%s", dir, credential) >= (int)sizeof path ||
            stat(path, &st) != 0)
        return; // told by the reading
    if (!judge_reader(visit, folder, path))
        return;
    if (st.st_uid != 0 && st.st_uid != owner) {
        found(visit, FINDING_WARN, "credentials", "%s is owned by user %u, its folder by %u", path,
                (unsigned)st.st_uid, (unsigned)owner);
        mend(visit, "chown --reference='%s' '%s'", dir, path);
    }
    if ((st.st_mode & (S_IROTH | S_IWOTH)) == 0 && (st.st_mode & S_IWGRP)) {
        found(visit, FINDING_WARN, "credentials", "%s can be written by its group", path);
        mend(visit, "chmod g-w '%s'", path);
    }
}

static void judge_source(struct visit *visit, const struct source *source, int64_t now_s)
{
    size_t live = 0;
    int64_t last_until = 0;
    bool bounded = true;
    for (size_t i = 0; i < source->n_secrets; i++) {
        const struct secret *secret = &source->secrets[i];
        bool is_live = secret->from <= now_s && (secret->until == 0 || now_s < secret->until);
        if (!is_live || secret->value.len == 0)
            continue;
        live++;
        bounded &= secret->until != 0;
        last_until = secret->until > last_until ? secret->until : last_until;
    }
    if (scheme_unverified(source)) {
        found(visit, FINDING_WARN, "credentials",
                "source '%s' believes anybody who can reach it: `verify: none`", source->name);
        mend(visit, "pawl schemes list");
    } else if (!scheme_has_key(source, now_s)) {
        found(visit, FINDING_FAIL, "credentials", "source '%s' has no live secret: it answers 503",
                source->name);
        mend(visit, "pawl policy show");
    } else if (live && bounded && last_until - now_s < ENDS_SOON_S) {
        found(visit, FINDING_WARN, "credentials",
                "the last secret of source '%s' ends in %.1f days", source->name,
                (double)(last_until - now_s) / 86400);
        mend(visit, "pawl policy show");
    }
}

static void tell(struct visit *visit, const struct owner_names *names, const struct diag *diag)
{
    for (size_t i = 0; i < diag->n; i++) {
        const struct diag_row *row = &diag->rows[i];
        bool error = row->level == DIAG_ERROR;
        found(visit, error ? FINDING_FAIL : FINDING_WARN, "credentials", "%s%s%s",
                row->file ? row->file : "", row->file ? ": " : "", row->text);
        if (!row->file)
            mend(visit, "pawl -v doctor");
        else if (strstr(row->text, "chmod"))
            mend(visit, "chmod o-rwx '%s'", row->file);
        else if (error)
            mend(visit, "install -o %s -g %s -m 0640 /dev/stdin '%s'", names->user, names->group,
                    row->file);
        else
            mend(visit, "wc -lw '%s'", row->file); // shows nothing of it
    }
}

static void judge_files(struct visit *visit, const struct folder *folder)
{
    const struct policy *policy = visit->policy;
    for (size_t s = 0; s < policy->n_sources; s++) {
        const struct source *source = &policy->sources[s];
        for (size_t i = 0; source->active && i < source->n_secrets; i++)
            judge_file(visit, folder, source->secrets[i].credential);
        if (source->active)
            judge_file(visit, folder, source->handshake_token.credential);
    }
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        for (size_t i = 0; i < policy->channels[kind].n_providers; i++) {
            judge_file(visit, folder, policy->channels[kind].providers[i].password.credential);
            judge_file(visit, folder, policy->channels[kind].providers[i].session.credential);
        }
    for (size_t i = 0; i < policy->unsubscribe.n_secrets; i++)
        judge_file(visit, folder, policy->unsubscribe.secrets[i].credential);
}

// False: there is nothing to judge, or systemd guards it itself, by an access list.
static bool look_at_folder(const char *dir, struct folder *folder)
{
    struct stat st;
    const char *systemd = getenv("CREDENTIALS_DIRECTORY");
    *folder = (struct folder){.dir = dir};
    if (dir)
        owner_of(dir, &folder->owner);
    owner_names(&folder->owner, &folder->names);
    if (!dir || stat(dir, &st) != 0)
        return false;
    folder->uid = st.st_uid;
    return !systemd || strcmp(systemd, dir) != 0;
}

void visit_credentials(struct visit *visit)
{
    if (!visit->policy || !visit->context->host)
        return;
    const char *dir = visit->context->host->credentials;
    struct diag diag = {0};
    size_t before = visit->findings.n;
    struct folder folder;
    bool guarded = !look_at_folder(dir, &folder);
    bool loaded = secrets_load(visit->policy, dir, SECRETS_OF_ALL, &diag);
    tell(visit, &folder.names, &diag);
    diag_fini(&diag);
    if (!guarded)
        judge_files(visit, &folder);
    int64_t now_s = (int64_t)time(NULL);
    for (size_t i = 0; dir && i < visit->policy->n_sources; i++)
        if (visit->policy->sources[i].active)
            judge_source(visit, &visit->policy->sources[i], now_s);
    if (loaded && visit->findings.n == before)
        found(visit, FINDING_OK, "credentials", "all that the policy names can be read in %s", dir);
}
