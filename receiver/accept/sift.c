#include "receiver/accept/sift.h"

struct sifting {
    struct arrival *arrival;
    sift_try *try;
    void *user;
    int tries;
    enum txn_end end; // of the last try; TXN_DONE and TXN_BAD_DATA say something of the range
    bool *refused;
    size_t n_refused;
};

// Tries the events from..to alone.
static enum txn_end try_range(struct sifting *sifting, size_t from, size_t to)
{
    struct arrival *arrival = sifting->arrival;
    for (size_t i = 0; i < arrival->n_marks; i++)
        arrival->marks[i] = i >= from && i < to ? EVENT_TAKEN : EVENT_LEFT_OUT;
    sifting->tries++;
    sifting->end = sifting->try(sifting->user);
    return sifting->end;
}

static void refuse_range(struct sifting *sifting, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        sifting->refused[i] = true;
    sifting->n_refused += to - from;
}

// False when a try told nothing. As deep as a request's events can be halved.
static bool sift_range(struct sifting *sifting, size_t from, size_t to) // NOLINT(misc-no-recursion)
{
    if (sifting->tries < SIFT_TRIES_MAX) {
        enum txn_end end = try_range(sifting, from, to);
        if (end != TXN_BAD_DATA)
            return end == TXN_DONE;
    }
    if (to - from == 1 || sifting->tries >= SIFT_TRIES_MAX) {
        refuse_range(sifting, from, to);
        return true;
    }
    size_t middle = from + (to - from) / 2;
    return sift_range(sifting, from, middle) && sift_range(sifting, middle, to);
}

void sift_forget(struct arrival *arrivals)
{
    for (; arrivals; arrivals = arrivals->next) {
        free(steal(&arrivals->marks));
        arrivals->n_marks = 0;
    }
}

enum txn_end sift(struct arrival *arrival, sift_try *try, void *user)
{
    size_t n = arrival->n_events;
    AUTO_FREE bool *refused = xcalloc(n + 1, sizeof *refused);
    struct sifting sifting = {.arrival = arrival, .try = try, .user = user, .refused = refused};
    sift_forget(arrival);
    if (n == 0)
        return TXN_BAD_DATA;
    arrival->marks = xcalloc(n, sizeof *arrival->marks);
    arrival->n_marks = n;
    bool told = sift_range(&sifting, 0, n);
    if (!told || sifting.n_refused == 0) {
        sift_forget(arrival);
        return told && sifting.tries > 1 ? TXN_BAD_DATA : sifting.end;
    }
    for (size_t i = 0; i < n; i++)
        arrival->marks[i] = refused[i] ? EVENT_REFUSED : EVENT_TAKEN;
    return TXN_DONE;
}

bool sift_strip(struct arrival *arrival)
{
    bool any = false;
    for (size_t i = 0; i < arrival->n_marks; i++) {
        if (arrival->marks[i] != EVENT_REFUSED)
            continue;
        arrival->marks[i] = EVENT_STRIPPED;
        any = true;
    }
    return any;
}
