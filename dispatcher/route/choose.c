#include "dispatcher/route/choose.h"

static bool is_pinned(const struct candidate *candidates, const struct history *history)
{
    return history->unknown && history->last >= 0 && candidates[history->last].suits &&
           history->in_doubt_us < candidates[history->last].key_window_us;
}

// Where the list begins for this delivery.
static size_t first_of(size_t n, const struct history *history)
{
    if (history->last < 0)
        return 0;
    if (history->unknown)
        return (size_t)history->last;
    return history->passed_on ? ((size_t)history->last + 1) % n : 0;
}

static struct choice none(int64_t wait_ms, bool open)
{
    return (struct choice){.at = -1, .stays_open = open, .wait_ms = wait_ms};
}

static struct choice take(const struct candidate *candidate, size_t at)
{
    return candidate->room ? (struct choice){.at = (int)at} : none(0, false);
}

struct choice choose(const struct candidate *candidates, size_t n, const struct history *history)
{
    if (is_pinned(candidates, history)) {
        const struct candidate *last = &candidates[history->last];
        return last->open_ms > 0 ? none(last->open_ms, true) : take(last, (size_t)history->last);
    }
    int64_t wait_ms = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t at = (first_of(n, history) + i) % n;
        if (!candidates[at].suits)
            continue;
        if (candidates[at].open_ms == 0)
            return take(&candidates[at], at);
        wait_ms = candidates[at].open_ms < wait_ms ? candidates[at].open_ms : wait_ms;
    }
    return none(wait_ms, true);
}

bool choose_other(const struct candidate *candidates, size_t n, const struct history *history)
{
    if (history->last < 0 || is_pinned(candidates, history))
        return false;
    for (size_t at = (size_t)history->last + 1; at < n; at++)
        if (candidates[at].suits && candidates[at].open_ms == 0)
            return true;
    return false;
}
