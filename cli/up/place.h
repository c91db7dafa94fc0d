// place.h: where `pawl up` and `pawl demo` keep their data, and as which user they run.
#pragma once
#include "common/err.h"

#include <sys/types.h>

struct place {
    char *dir;  // absolute, mode 0700, owned by the user
    char *user; // this process runs as it
};
void place_fini(struct place *place);

// Picks the directory (dir, or name below $XDG_STATE_HOME/pawl, ~/.local/state/pawl, the passwd
// entry's home, /var/tmp), makes it, and as root becomes the user `postgres` for good, since
// PostgreSQL refuses to run as root.
MUST_CHECK bool place_take(
        const char *dir, const char *name, struct place *ret_place, struct err *err);

// The directory that place_take(NULL, name) made before, by its pawl.yaml; NULL when there is none.
// Yours.
char *place_known(const char *name);
