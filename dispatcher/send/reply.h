// reply.h: reads SMTP replies, line by line (RFC 5321 4.2, RFC 2034).
#pragma once
#include "common/base.h"

// The last reply, or as much of it as has come.
struct smtp_reply {
    int code;          // 0 = none yet
    char enhanced[16]; // "5.1.1", "" when none
    char text[200];    // code and text of all its lines, printable ASCII, cut
    bool open;         // further lines of it follow
};

enum reply_step { REPLY_MORE, REPLY_DONE, REPLY_BAD };

// Takes one line without its line end. REPLY_BAD: not a reply, or not of the code it began with.
enum reply_step reply_line(struct smtp_reply *reply, struct slice line);

// What an EHLO reply offered.
struct smtp_offers {
    bool size, utf8;
};

// Takes one line of the connect phase; a 220 (greeting, STARTTLS) forgets what was offered before,
// as RFC 3207 4.2 demands.
void offers_line(struct smtp_offers *offers, struct slice line);
