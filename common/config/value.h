// value.h: the small written forms of a configuration: durations, sizes, dates, names, addresses.
//
// All are pure; each returns false for what is not exactly its form (no blanks, signs or leading
// zeros) and sets ret_* only on success.
#pragma once
#include "common/text.h"

enum {
    VALUE_TEXT_MAX = 4096, // bytes of any one value
    VALUE_NAME_MAX = 63,   // bytes of a name that is stored or part of a path
    VALUE_POINTER_MAX = 512,
    VALUE_YEARS_MAX = 10, // longest duration
};

// "2500ms" "10s" "1m" "2h" "7d"; one number, one unit.
MUST_CHECK bool value_duration_ms(struct slice text, int64_t *ret_ms);
// "512" "256KiB" "2MiB" "1GiB", bytes; at most 1 TiB.
MUST_CHECK bool value_size(struct slice text, size_t *ret_bytes);
// "500/s" "30/m" "0.5/s" "100/h", as a number a second, above zero.
MUST_CHECK bool value_rate(struct slice text, double *ret_per_s);
// 0 .. 10^15.
MUST_CHECK bool value_number(struct slice text, int64_t *ret_number);
// "20%", 0 to 100.
MUST_CHECK bool value_percent(struct slice text, int *ret_percent);
// "2026-12-31": unix seconds of that UTC day's begin, in the years 1970 to 9999.
MUST_CHECK bool value_date(struct slice text, int64_t *ret_s);
// "21:00".
MUST_CHECK bool value_wall_time(struct slice text);
// RFC 6901, not empty: "/data/object~1id".
MUST_CHECK bool value_pointer(struct slice text);
// Printable (UTF-8 allowed), no control characters, 1 to VALUE_TEXT_MAX bytes.
MUST_CHECK bool value_text(struct slice text);
// 1 to VALUE_NAME_MAX of [a-z0-9] and the bytes of more, first one [a-z0-9].
MUST_CHECK bool value_name(struct slice text, const char *more);
// A data field as templates name it: [A-Za-z_][A-Za-z0-9_]*.
MUST_CHECK bool value_field(struct slice text);
// A header's name as admins write it: [A-Za-z0-9-], beginning with a letter.
MUST_CHECK bool value_header(struct slice text);
// A credential's file name: [A-Za-z0-9._-], not starting with a dot.
MUST_CHECK bool value_credential(struct slice text);
// "Europe/Berlin": the form, and that the zone exists where this machine has the tz database.
MUST_CHECK bool value_zone(struct slice text);
// Appends the zone of this machine's list that is nearest in name or city; false where none is.
MUST_CHECK bool value_zone_near(struct slice text, struct text *out);
// "en" "de-AT".
MUST_CHECK bool value_locale(struct slice text);
// "127.0.0.1:8080" "[::1]:8080" "localhost:0".
MUST_CHECK bool value_listen(struct slice text);
// "10.0.0.0/8" "::1" "127.0.0.1".
MUST_CHECK bool value_network(struct slice text);
// "https://host/..": http or https, a host, no user, no fragment.
MUST_CHECK bool value_web_url(struct slice text);
// Only https, and no query.
MUST_CHECK bool value_https_url(struct slice text);
// "arn:aws:sns:eu-west-1:123456789012:orders"; the last part may be "*".
MUST_CHECK bool value_topic(struct slice text);
// "keys.example.com=10.0.0.5:443" "keys.example.com=[::1]:8443".
MUST_CHECK bool value_detour(struct slice text);
// "user@example.net" or "Name <user@example.net>"; no line ends (RFC 5322 §3.4, the plain forms).
MUST_CHECK bool value_mailbox(struct slice text);
// "+4915112345678" (E.164) or an alphanumeric sender of up to 11.
MUST_CHECK bool value_phone_sender(struct slice text);

// The parts of smtp://host:port and smtps://host:port, borrowed from text.
struct value_smtp_url {
    struct slice host; // without brackets
    int port;          // 0 = the scheme's own
    bool implicit_tls; // smtps
};
// *ret_why says what is wrong with it.
MUST_CHECK bool value_smtp_url(
        struct slice text, struct value_smtp_url *ret_url, const char **ret_why);
// localhost, 127.0.0.0/8, ::1.
bool value_is_loopback(struct slice host);
// The host part of a listen address.
struct slice value_listen_host(struct slice text);
