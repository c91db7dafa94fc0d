// sink.h: a small SMTP server for the demo: takes every mail, writes it to a folder, sends nothing
// on.
//
// RFC 5321 as far as a well-behaved client needs it: EHLO HELO MAIL RCPT DATA RSET NOOP QUIT, no
// extension but 8BITMIME and PIPELINING. One line a mail and recipient goes to DIR/log.tsv before
// the mail is acknowledged: time, recipient, bytes, file. Files are used again after SINK_FILES.
#pragma once
#include "common/err.h"

enum {
    SINK_CLIENTS = 64,
    SINK_MAIL_MAX = 10 << 20, // bytes; a longer mail is refused with 552
    SINK_RECIPIENTS = 100,
    SINK_FILES = 1000,
    SINK_IDLE_MS = 300000,
};

struct sink_options {
    int listen_fd;
    const char *dir; // is there
};

// Serves until SIGTERM or SIGINT (blocked before, as below `pawl up`). An exit status.
int sink_main(const struct sink_options *options);

// How many mails for the recipient the log of dir holds.
MUST_CHECK bool sink_count(const char *dir, const char *recipient, int *ret_count, struct err *err);
