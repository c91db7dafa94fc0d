// folder.h: looks at a folder as another user sees it, within a time: it may be on a network that
// hangs.
#pragma once
#include "common/base.h"

enum folder_state {
    FOLDER_FINE,
    FOLDER_MISSING,
    FOLDER_NO_FOLDER,
    FOLDER_SHUT,    // the user may not enter it, or one above it, or not list it
    FOLDER_NETWORK, // fine, and on a network file system
    FOLDER_SILENT,  // no answer in time
    FOLDER_UNKNOWN, // it could not be looked at
};

// user NULL = as who calls. Another user can only be looked for by root. The look that gets no
// answer in time is left behind, to end when it can.
enum folder_state folder_look(const char *folder, const char *user, int timeout_ms);
