// The time at which the provider says that it signed.
#include "receiver/verify/claim.h"
#include "receiver/verify/moment.h"

enum { ISO_MAX = 40, ISO_ZONE = 6 }; // bytes of a time, and of its "+01:00"

// Digits only and no leading zero: "12abc", "+12", "1e9" and " 12" are read differently by
// different libraries.
static bool read_decimal(struct slice text, int64_t *ret_value)
{
    if (text.len == 0 || text.len > SCHEME_TIME_DIGITS_MAX || text.ptr[0] == '0')
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (text.ptr[i] - '0');
    }
    *ret_value = value;
    return true;
}

static int two_digits(const unsigned char *at)
{
    bool both = at[0] >= '0' && at[0] <= '9' && at[1] >= '0' && at[1] <= '9';
    return both ? (at[0] - '0') * 10 + at[1] - '0' : -1;
}

// RFC 3339: in UTC, or with the zone that some providers write ("-07:00").
static bool read_iso(struct slice text, int64_t *ret_at_s)
{
    char utc[ISO_MAX];
    int64_t at_s = 0;
    if (text.len < ISO_ZONE || text.len > sizeof utc || text.ptr[text.len - 1] == 'Z')
        return moment_read(text, ret_at_s);
    size_t n = text.len - ISO_ZONE;
    const unsigned char *zone = text.ptr + n;
    int hours = two_digits(zone + 1), minutes = two_digits(zone + 4);
    if ((zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || hours < 0 || hours > 23 ||
            minutes < 0 || minutes > 59)
        return false;
    memcpy(utc, text.ptr, n);
    utc[n] = 'Z';
    if (!moment_read((struct slice){(const unsigned char *)utc, n + 1}, &at_s))
        return false;
    int64_t ahead_s = hours * INT64_C(3600) + minutes * INT64_C(60);
    *ret_at_s = zone[0] == '-' ? at_s + ahead_s : at_s - ahead_s;
    return true;
}

static bool read_number(struct slice text, bool milliseconds, int64_t *ret_at_s)
{
    int64_t value = 0;
    if (!read_decimal(text, &value))
        return false;
    *ret_at_s = milliseconds ? value / 1000 : value;
    return true;
}

enum verify_reason claim_read_time(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    if (row->time.from == TIME_NONE)
        return VERIFY_OK;
    if (row->time.from == TIME_HEADER) {
        enum verify_reason reason =
                header_one(request, row->time.name, VERIFY_NO_TIME, &claim->timestamp);
        if (reason != VERIFY_OK)
            return reason;
    }
    if (row->time.from == TIME_FIELD)
        claim->timestamp = claim->values[VALUE_TIME];
    if (!claim->timestamp.ptr)
        return VERIFY_NO_TIME;
    bool read = row->iso_time ? read_iso(claim->timestamp, &claim->at_s)
                              : read_number(claim->timestamp, row->time.milliseconds, &claim->at_s);
    return read ? VERIFY_OK : VERIFY_BAD_TIME;
}
