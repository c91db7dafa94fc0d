#include "dispatcher/asker.h"

#include "dispatcher/send/providers.h"

#include <assert.h>
#include <stdio.h>

// Rounds that hang leave room for what asks for tokens.
static_assert(TRANSPORT_FETCHES >= LOOKS_MAX * LOOKS_ROUNDS + 4, "room for every question");

struct question {
    const struct driver_row *driver;
    struct look *look;
    char key_hex[KEY_HEX];
};

// The messages of its key one by one: those before it that failed are none of its try's.
static void read_answer(const struct question *question, const struct http_reply *reply,
        struct attempt_result *result)
{
    for (int nth = 0; nth < LOOK_LIST; nth++) {
        result->outcome = ATTEMPT_UNANSWERED;
        result->provider_id[0] = '\0';
        question->driver->look_read(reply, question->key_hex, nth, result);
        if (result->outcome != ATTEMPT_FOUND || !look_failed(question->look, result->provider_id))
            return;
    }
    result->outcome = ATTEMPT_UNANSWERED;
    result->provider_id[0] = '\0';
}

// What a search that was not answered says is no more than that. An answer holds messages and whom
// they are for, which no detail of a try may say.
static void landed(void *user, const struct http_reply *reply)
{
    struct question *question = user;
    struct attempt_result result = {0};
    bool answered = reply->end == HTTP_REPLIED && reply->status == 200;
    http_result(
            reply, ATTEMPT_UNANSWERED, LEVEL_PROVIDER, answered ? SLICE("") : reply->body, &result);
    result.outcome = ATTEMPT_UNANSWERED;
    if (answered)
        read_answer(question, reply, &result);
    look_landed(question->look, &result);
    free(question);
}

bool asker_ask(struct transport *transport, const struct provider *provider,
        enum channel_kind channel, const char *key_hex, int64_t created_us, struct look *look)
{
    const struct driver_row *driver = driver_find(channel, provider->driver_name);
    AUTO_HTTP_REQUEST struct http_request request = {0};
    struct err err;
    if (!driver || !driver->look_build ||
            !driver->look_build(provider, key_hex, created_us / 1000000, &request, &err))
        return false;
    struct question *question = xcalloc(1, sizeof *question);
    *question = (struct question){.driver = driver, .look = look};
    snprintf(question->key_hex, sizeof question->key_hex, "%s", key_hex);
    const struct transport_fetch fetch = {.provider = provider, .landed = landed, .user = question};
    if (transport_fetch(transport, &request, &fetch, &err))
        return true;
    free(question);
    struct attempt_result result = {.outcome = ATTEMPT_UNANSWERED, .detail = "no room to ask"};
    look_landed(look, &result);
    return true;
}
