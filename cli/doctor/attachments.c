// Attachments: the folder that mails take files from, as the dispatcher sees it.
#include "cli/doctor/findings.h"
#include "cli/doctor/folder.h"

#include <pwd.h>
#include <unistd.h>

#define TIMEOUT_MS 3000
#define DISPATCHER "pawl-dispatcher"
#define CHECK "attachments"

// Whose eyes count, as far as they are to be had: with `pawl up` there is no such user.
static const char *dispatcher_user(void)
{
    return geteuid() == 0 && getpwnam(DISPATCHER) ? DISPATCHER : NULL;
}

static void judge_folder(struct visit *visit, const char *folder)
{
    const char *user = dispatcher_user(), *who = user ? user : context_user();
    switch (folder_look(folder, user, TIMEOUT_MS)) {
    case FOLDER_FINE:
        found(visit, FINDING_OK, CHECK, "%s can be read by %s", folder, who);
        return;
    case FOLDER_NETWORK:
        found(visit, FINDING_WARN, CHECK,
                "%s is on a network: while that hangs the dispatcher sends nothing at all", folder);
        mend(visit, "rsync -a '%s/' /var/lib/shop/files/ # and name that one", folder);
        return;
    case FOLDER_MISSING:
        found(visit, FINDING_FAIL, CHECK, "%s is not there: mails with files wait", folder);
        mend(visit, "install -d -m 0750 -g %s '%s'", DISPATCHER, folder);
        return;
    case FOLDER_NO_FOLDER:
        found(visit, FINDING_FAIL, CHECK, "%s is no folder: mails with files wait", folder);
        mend(visit, "grep -n attachments '%s'", visit->context->config);
        return;
    case FOLDER_SHUT:
        found(visit, FINDING_FAIL, CHECK, "%s can't be read by %s: mails with files wait", folder,
                who);
        mend(visit, "setfacl -m u:%s:rx '%s'; namei -m '%s'", who, folder, folder);
        return;
    case FOLDER_SILENT:
        found(visit, FINDING_FAIL, CHECK,
                "%s gives no answer for %d s: the dispatcher sends nothing meanwhile", folder,
                TIMEOUT_MS / 1000);
        mend(visit, "findmnt -T '%s'", folder);
        return;
    case FOLDER_UNKNOWN:
        break;
    }
    found(visit, FINDING_WARN, CHECK, "%s could not be looked at", folder);
    mend(visit, "ls -ld '%s'", folder);
}

static const struct message *message_with_files(const struct policy *policy)
{
    for (size_t i = 0; policy && i < policy->n_messages; i++)
        if (policy->messages[i].n_attachments > 0)
            return &policy->messages[i];
    return NULL;
}

void visit_attachments(struct visit *visit)
{
    const struct host_config *host = visit->context->host;
    const struct message *message = message_with_files(visit->policy);
    if (host && host->dispatcher.attachments) {
        judge_folder(visit, host->dispatcher.attachments);
    } else if (host && message) {
        found(visit, FINDING_WARN, CHECK,
                "%s carries files, and this host file names no folder: a dispatcher here makes "
                "its mails dead",
                message->name);
        mend(visit, "grep -n -A9 dispatcher: '%s'", visit->context->config);
    }
}
