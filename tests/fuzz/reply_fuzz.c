// Fuzzes what a mail server says: replies, offers, and what is concluded. tests/fuzz/test_fuzz.py
// builds it. The first byte picks the phase, the second how it ended; the rest is lines.
// Properties: what is kept of a reply is printable and bounded, accepted is only ever a 2xx after
// the final dot, and once that was handed over only a reply makes the outcome definite.
#include "dispatcher/send/smtp.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t max)
{
    assert(strlen(text) < max);
    for (; *text; text++)
        assert(*text >= 0x20 && *text < 0x7f);
}

static void check_result(const struct smtp_facts *facts)
{
    struct attempt_result result = {0};
    smtp_classify(facts, &result);
    check_text(result.detail, sizeof result.detail);
    check_text(result.enhanced, sizeof result.enhanced);
    check_text(result.provider_id, sizeof result.provider_id);
    int class = facts->reply->code / 100;
    bool decided = facts->end == SMTP_REPLY && (class == 2 || class == 4 || class == 5);
    if (result.outcome == ATTEMPT_ACCEPTED)
        assert(decided && class == 2 && facts->phase == SMTP_END_OF_DATA);
    if (facts->phase == SMTP_END_OF_DATA && !decided && facts->end != SMTP_NO_UTF8 &&
            facts->end != SMTP_NO_UTF8_SENDER)
        assert(result.outcome == ATTEMPT_UNKNOWN);
    if (facts->phase < SMTP_BODY)
        assert(result.outcome != ATTEMPT_UNKNOWN);
    if (result.outcome == ATTEMPT_REFUSED)
        assert(result.level != LEVEL_PROVIDER);
    assert(result.outcome == ATTEMPT_ACCEPTED || result.provider_id[0] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct smtp_reply reply = {0};
    struct smtp_offers offers = {0};
    struct smtp_facts facts = {.phase = (enum smtp_phase)(data[0] % (SMTP_END_OF_DATA + 1)),
            .end = (enum smtp_end)(data[1] % (SMTP_ABORTED + 1)),
            .reply = &reply,
            .why = data[1] & 0x80 ? "why" : NULL};
    struct slice rest = {data + 2, size - 2};
    while (rest.len) {
        const unsigned char *end = memchr(rest.ptr, '\n', rest.len);
        struct slice line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        rest = (struct slice){
                line.ptr + line.len + (end != NULL), rest.len - line.len - (end != NULL)};
        offers_line(&offers, line);
        enum reply_step step = reply_line(&reply, line);
        check_text(reply.text, sizeof reply.text);
        check_text(reply.enhanced, sizeof reply.enhanced);
        assert(step == REPLY_BAD || (reply.code >= 200 && reply.code <= 599));
        if (step == REPLY_DONE)
            check_result(&facts);
    }
    check_result(&(struct smtp_facts){.phase = facts.phase, .end = SMTP_CLOSED, .reply = &reply});
    return 0;
}
