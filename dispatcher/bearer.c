#include "dispatcher/bearer.h"

#include "dispatcher/send/push.h"

#define APNS_LIFE_S 3600 // Apple takes none that is older
#define APNS_AGE_MIN_S 1200
#define FCM_AGE_MIN_S 60
#define TOKEN_MAX ((size_t)16 << 10)

// One request for a token.
struct asking {
    struct bearer_maker *maker;
    struct token_order order;
};

static void wipe(struct text *text)
{
    if (text->ptr)
        explicit_bzero(text->ptr, text->room);
}

static bool sign_apns(struct bearer_maker *maker, const struct provider *provider,
        const struct token_order *order, struct err *err)
{
    AUTO_TEXT struct text token = {0};
    text_init(&token, TOKEN_MAX);
    if (!apns_token(provider->password.value, provider->team, provider->key_id, order->now_s,
                &token, err))
        return false;
    tokens_made(maker->tokens, order, text_slice(&token), APNS_LIFE_S);
    wipe(&token);
    return true;
}

static void landed(void *user, const struct http_reply *reply)
{
    AUTO_FREE struct asking *asking = user;
    AUTO_TEXT struct text token = {0};
    text_init(&token, TOKEN_MAX);
    int64_t life_s = 0;
    struct err err = {0};
    if (fcm_token_read(reply, &token, &life_s, &err))
        tokens_made(asking->maker->tokens, &asking->order, text_slice(&token), life_s);
    else
        tokens_failed(asking->maker->tokens, &asking->order,
                reply->end == HTTP_REPLIED || !reply->why ? err.msg : reply->why);
    wipe(&token);
}

static bool ask_fcm(struct bearer_maker *maker, const struct provider *provider,
        const struct token_order *order, struct err *err)
{
    AUTO_HTTP_REQUEST struct http_request request = {0};
    if (!fcm_token_build(provider->password.value, order->now_s, &request, err))
        return false;
    AUTO_FREE struct asking *asking = xcalloc(1, sizeof *asking);
    *asking = (struct asking){.maker = maker, .order = *order};
    const struct transport_fetch fetch = {.provider = provider, .landed = landed, .user = asking};
    if (!transport_fetch(maker->transport, &request, &fetch, err))
        return false;
    (void)steal(&asking); // landed() frees it
    return true;
}

static const struct {
    const char *driver;
    int64_t age_min_s;
    bool (*begin)(struct bearer_maker *maker, const struct provider *provider,
            const struct token_order *order, struct err *err);
} makers[] = {
        {"apns", APNS_AGE_MIN_S, sign_apns},
        {"fcm", FCM_AGE_MIN_S, ask_fcm},
};

static bool needs(const struct provider *provider, int64_t *ret_age_min_s)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        if (strcmp(makers[i].driver, provider->driver_name) != 0)
            continue;
        *ret_age_min_s = makers[i].age_min_s;
        return true;
    }
    return false;
}

static bool begin(void *user, const struct provider *provider, const struct token_order *order,
        struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        if (strcmp(makers[i].driver, provider->driver_name) == 0)
            return makers[i].begin(user, provider, order, err);
    return err_set(err, ERR_FATAL, "the driver needs no token");
}

struct token_maker bearer_token_maker(struct bearer_maker *maker)
{
    return (struct token_maker){.needs = needs, .begin = begin, .user = maker};
}
