#include "dispatcher/token/entry.h"

#include "common/log.h"
#include "dispatcher/token/seal.h"

void entry_init(struct entry *entry, struct key identity, const struct provider *provider)
{
    *entry = (struct entry){.identity = identity, .provider = provider};
    text_init(&entry->token, SEAL_TOKEN_MAX);
    text_init(&entry->made, SEAL_TOKEN_MAX);
}

static void wipe(struct text *text)
{
    if (text->ptr)
        explicit_bzero(text->ptr, text->room);
    text_fini(text);
}

void entry_fini(struct entry *entry)
{
    wipe(&entry->token);
    wipe(&entry->made);
}

static bool usable(const struct entry *entry, int64_t now_ms)
{
    return entry->generation > 0 && entry->stale == 0 && now_ms < entry->good_until_ms;
}

enum token_ready entry_ready(const struct entry *entry, int64_t now_ms)
{
    if (usable(entry, now_ms))
        return TOKEN_READY;
    return entry->missing ? TOKEN_MISSING : TOKEN_COMING;
}

enum token_wants entry_wants(const struct entry *entry, int64_t now_ms)
{
    if (entry->made.len > 0)
        return now_ms >= entry->ask_ms ? WANTS_PUT : WANTS_NOTHING;
    if (entry->failed)
        return now_ms >= entry->ask_ms ? WANTS_POSTPONE : WANTS_NOTHING;
    return !entry->making && now_ms >= entry->ask_ms ? WANTS_READ : WANTS_NOTHING;
}

int64_t entry_next_ms(const struct entry *entry)
{
    bool waits = entry->making && entry->made.len == 0 && !entry->failed;
    return waits ? INT64_MAX : entry->ask_ms;
}

void entry_again(struct entry *entry, int64_t now_ms)
{
    entry->ask_ms = now_ms + 1000;
}

// False: there is none, or it is not ours to read.
static bool take_token(struct entry *entry, const struct token_row *row, int64_t now_ms)
{
    if (row->generation == entry->generation && entry->generation > 0)
        return true;
    text_reset(&entry->token);
    entry->generation = 0;
    if (!row->sealed.ptr ||
            !unseal(entry->provider->password.value, entry->identity, row->sealed, &entry->token))
        return false;
    entry->generation = row->generation;
    entry->good_until_ms = now_ms + row->expires_ms;
    entry->missing = false;
    return true;
}

// A refused token that is still the row's: another is on its way, or it may not be made yet.
static void judge_stale(struct entry *entry, const struct token_row *row, int64_t now_ms)
{
    bool same = row->generation == entry->stale;
    if (same && (row->granted || row->hold_ms > 0))
        return;
    if (same) {
        entry->deaf_ms = now_ms + TOKEN_DEAF_MS;
        LOG(WARNING, "token.refused", "a young token is called too old: are the clocks right?",
                L_STR("driver", entry->provider->driver_name));
    }
    entry->stale = 0;
}

static int64_t next_ask_ms(const struct entry *entry, const struct token_row *row, int64_t now_ms)
{
    bool good = usable(entry, now_ms);
    if (good && row->refresh_ms > 0)
        return now_ms + row->refresh_ms;
    if (!row->held && row->hold_ms > 0) // postponed: nobody may begin before
        return now_ms + row->hold_ms;
    return now_ms + (!good && row->held ? TOKEN_ASK_SOON_MS : TOKEN_ASK_LATER_MS);
}

bool entry_take(struct entry *entry, const struct token_row *row, int64_t asked_ms)
{
    // A row that says it has a token which can't be opened is treated as one that was refused.
    bool opened = take_token(entry, row, asked_ms);
    if (!opened && row->sealed.ptr && !row->held)
        entry->stale = row->generation;
    else if (entry->stale)
        judge_stale(entry, row, asked_ms);
    if (row->granted) {
        entry->making = true;
        entry->ask_ms = asked_ms;
        return true;
    }
    if (!usable(entry, asked_ms))
        entry->missing = !row->held && row->hold_ms > 0;
    entry->ask_ms = next_ask_ms(entry, row, asked_ms);
    return false;
}

static double share(uint32_t random)
{
    return (double)random / (double)UINT32_MAX;
}

int64_t token_refresh_s(int64_t life_s, uint32_t random)
{
    return (int64_t)((double)life_s * (0.7 + 0.1 * share(random)));
}

int64_t token_use_s(int64_t life_s)
{
    return life_s - life_s / 12;
}

int64_t token_life_s(int64_t said_s)
{
    if (said_s < TOKEN_LIFE_MIN_S)
        return 0;
    return said_s < TOKEN_LIFE_MAX_S ? said_s : TOKEN_LIFE_MAX_S;
}

int64_t token_pause_s(int fails, uint32_t random)
{
    int64_t pause_s = TOKEN_FAILED_S;
    for (int i = 1; i < fails && pause_s < TOKEN_FAILED_MAX_S; i++)
        pause_s *= 2;
    if (pause_s > TOKEN_FAILED_MAX_S)
        pause_s = TOKEN_FAILED_MAX_S;
    return (int64_t)((double)pause_s * (0.8 + 0.4 * share(random)));
}
