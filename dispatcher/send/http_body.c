// The body of an HTTP request, as libcurl asks for it.
#include "common/fault.h"
#include "dispatcher/send/carrier.h"

static size_t give_files(struct exchange *exchange, char *out, size_t room)
{
    const struct http_request *request = &exchange->request;
    size_t len = 0;
    if (!exchange->reader)
        exchange->reader = inlay_reader_new(text_slice(&request->body), &request->inlays);
    if (inlay_read(exchange->reader, (unsigned char *)out, room, &len, &exchange->spoilt))
        return len;
    return CURL_READFUNC_ABORT;
}

static size_t give_text(const struct exchange *exchange, char *out, size_t room)
{
    const struct text *body = &exchange->request.body;
    size_t left = body->len - exchange->taken;
    size_t len = left < room ? left : room;
    if (len)
        memcpy(out, body->ptr + exchange->taken, len);
    return len;
}

// There is no seek function, or one that goes nowhere (HTTP/2): a body of which something was taken
// can't be said again, and libcurl ends the transfer where it would have said it twice in silence.
size_t exchange_give(char *out, size_t size, size_t n, void *user)
{
    struct exchange *exchange = user;
    bool files = exchange->request.inlays.n > 0;
    size_t len = files ? give_files(exchange, out, size * n) : give_text(exchange, out, size * n);
    if (len == CURL_READFUNC_ABORT)
        return len;
    exchange->taken += len;
    if (len && exchange->taken == http_body_size(&exchange->request))
        FAULT_STEP(wire_after_body);
    return len;
}

void exchange_rewind(struct exchange *exchange)
{
    exchange->taken = 0;
    exchange->spoilt = (struct err){0};
    inlay_reader_free(exchange->reader);
    exchange->reader = NULL;
}
