// A connection that is given up while the server works on it leaves a backend behind: it waits for
// a lock, or for a synchronous standby, which no timeout of the server ends. So it is cancelled
// first.
#include "common/pg/internal.h"

#include <pthread.h>
#include <stdatomic.h>

#define CANCELS_MAX 4 // under way in this process; a server that hangs swallows them

static atomic_int under_way;

// PQcancel connects and waits without a limit of its own, so it gets a thread of its own.
static void *cancel(void *arg)
{
    char why[256];
    PQcancel(arg, why, sizeof why);
    PQfreeCancel(arg);
    atomic_fetch_sub(&under_way, 1);
    return NULL;
}

void cancel_in_background(PGconn *conn)
{
    pthread_attr_t attr;
    pthread_t thread;
    if (atomic_fetch_add(&under_way, 1) >= CANCELS_MAX) {
        atomic_fetch_sub(&under_way, 1);
        return;
    }
    PGcancel *request = PQgetCancel(conn);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (!request || pthread_create(&thread, &attr, cancel, request) != 0) {
        PQfreeCancel(request);
        atomic_fetch_sub(&under_way, 1);
    }
    pthread_attr_destroy(&attr);
}
