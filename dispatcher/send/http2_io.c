// What HTTP/2 adds to a transfer: who may begin, and what was surely not taken.
#include "common/clock.h"
#include "dispatcher/send/carrier.h"

#include <stdio.h>

#define NOT_TAKEN_MAX 5 // times that one which was not taken is said again at once

int exchange_hear(CURL *easy, curl_infotype type, char *text, size_t n, void *user)
{
    struct exchange *exchange = user;
    (void)easy;
    if (type == CURLINFO_TEXT && stream_line(&exchange->stream, exchange->goaways,
                                         (struct slice){(const unsigned char *)text, n}))
        scouts_forget(exchange->scouts, exchange->server);
    return 0;
}

int exchange_seek(void *user, curl_off_t offset, int origin)
{
    const struct exchange *exchange = user;
    bool nowhere = offset == 0 && origin == SEEK_SET && exchange->taken == 0;
    return nowhere ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

bool exchange_begin_in_turn(struct exchange *exchange)
{
    bool alone = !exchange->request.http2 || exchange->request.body.len == 0;
    int64_t now = clock_mono_ms();
    if (alone || scouts_may_go(exchange->scouts, exchange->server, now, &exchange->scout))
        return exchange_begin(exchange);
    const struct transport_options *options = exchange->options;
    exchange->taken = 0;
    exchange->wait_until_ms = now + options->connect_ms + options->reply_ms;
    return true;
}

void exchange_look(struct exchange *exchange, int64_t now_ms)
{
    bool late = now_ms >= exchange->wait_until_ms;
    if (!late && !scouts_may_go(exchange->scouts, exchange->server, now_ms, &exchange->scout))
        return;
    exchange->wait_until_ms = 0;
    if (late || !exchange_begin(exchange))
        exchange_finish(exchange, "waited for an answer on a new connection");
}

bool exchange_goes_again(struct exchange *exchange)
{
    long status = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    scouts_back(exchange->scouts, exchange->server, exchange->scout);
    exchange->scout = false;
    if (status >= 200) {
        exchange->stream.id = 0; // it was answered, so it was not refused
        scouts_prove(exchange->scouts, exchange->server, clock_mono_ms());
        return false;
    }
    return stream_not_taken(&exchange->stream, exchange->goaways) &&
           exchange->again++ < NOT_TAKEN_MAX && exchange_begin_in_turn(exchange);
}
