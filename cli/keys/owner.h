// owner.h: who reads the credentials of a folder, so that a file which root put there is one of
// them.
#pragma once
#include "common/base.h"

#include <sys/types.h>

struct owner {
    uid_t uid; // 0: who is in the group reads them; with group 0 as well, only root
    gid_t gid;
};

// The folder's, or where it is root's own and open, that of the first file which is not.
void owner_of(const char *dir, struct owner *ret_owner);

// May the owner read the file? What can't be looked at may be.
bool owner_reads(const struct owner *owner, const char *path);

// Their names, or numbers without one.
struct owner_names {
    char user[64], group[64];
};
void owner_names(const struct owner *owner, struct owner_names *ret_names);
