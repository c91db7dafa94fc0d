#include "dispatcher/claim/gate.h"

static struct gate closed(
        const struct delivery *delivery, enum delivery_state end, const char *reason)
{
    if (delivery->earlier_unknown > 0)
        return (struct gate){.end = DELIVERY_UNKNOWN,
                .reason = "its time ended after a try whose outcome is unknown"};
    return (struct gate){.end = end, .reason = reason};
}

struct gate gate_check(const struct delivery *delivery, int64_t now_us)
{
    if (delivery->expires_us && now_us >= delivery->expires_us)
        return closed(delivery, DELIVERY_EXPIRED, "expired before it could be sent");
    // A message without retries has an end of retries that is its beginning: its first try is due.
    bool retries = delivery->retry_until_us > delivery->created_us;
    if (!retries || now_us < delivery->retry_until_us)
        return (struct gate){.open = true};
    if (delivery->tries > 0)
        return closed(delivery, DELIVERY_DEAD, "retries ran out");
    return closed(delivery, DELIVERY_EXPIRED, "its time for tries ended before the first one");
}
