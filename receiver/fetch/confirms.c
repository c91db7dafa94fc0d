#include "receiver/fetch/confirms.h"

void confirms_fini(struct confirms *confirms)
{
    for (size_t i = 0; i < CONFIRMS_MAX; i++)
        free(confirms->rows[i].url);
    *confirms = (struct confirms){0};
}

static bool is_there(const struct confirm *row, const char *url)
{
    return row->url && strcmp(row->url, url) == 0;
}

static bool is_free(const struct confirm *row, int64_t mono_ms)
{
    return !row->url || (row->over && row->due_ms <= mono_ms);
}

bool confirms_known(const struct confirms *confirms, const char *url, int64_t mono_ms)
{
    for (size_t i = 0; i < CONFIRMS_MAX; i++)
        if (is_there(&confirms->rows[i], url) && !is_free(&confirms->rows[i], mono_ms))
            return true;
    return false;
}

bool confirms_add(struct confirms *confirms, const char *url, int64_t mono_ms)
{
    for (size_t i = 0; i < CONFIRMS_MAX; i++) {
        struct confirm *row = &confirms->rows[i];
        if (!is_free(row, mono_ms))
            continue;
        free(row->url);
        *row = (struct confirm){.url = xstrdup(url), .due_ms = mono_ms};
        return true;
    }
    return false;
}

const char *confirms_next(const struct confirms *confirms, int64_t mono_ms)
{
    for (size_t i = 0; i < CONFIRMS_MAX; i++) {
        const struct confirm *row = &confirms->rows[i];
        if (row->url && !row->over && row->due_ms <= mono_ms)
            return row->url;
    }
    return NULL;
}

void confirms_done(
        struct confirms *confirms, const char *url, enum key_answer answer, int64_t mono_ms)
{
    for (size_t i = 0; i < CONFIRMS_MAX; i++) {
        struct confirm *row = &confirms->rows[i];
        if (!is_there(row, url) || row->over)
            continue;
        row->over = answer != KEY_UNAVAILABLE || ++row->tries >= CONFIRM_TRIES;
        int64_t wait_ms =
                row->over ? CONFIRM_REST_MS : (int64_t)CONFIRM_WAIT_MS << (row->tries - 1);
        row->due_ms = mono_ms + wait_ms;
    }
}
