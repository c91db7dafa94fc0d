// resume.h: puts back what pauses held, when they have ended (any dispatcher, about once a second).
//
// What is put aside for providers that are all paused comes back when any of them is resumed. What
// is held stands in `due` under a lane of its pause, where no claim looks: it is read once when it
// is put there, and once when it comes back, however long the pause. The pauses themselves are read
// here too, since a claim, which reads them as well, may have to wait for their end.
#pragma once
#include "dispatcher/claim/gates/pauses.h"

enum { RESUME_MAX = 1000 }; // rows of one run

struct resumer;
// sender: the active policy, NULL = there is none yet.
struct resumer *resumer_new(
        struct pauses *pauses, const struct policy *(*sender)(void *user), void *user);
void resumer_free(struct resumer *resumer);
struct work_kind resumer_work(struct resumer *resumer);
bool resumer_full(const struct resumer *resumer); // the last run: there may be more, run again soon
