// dialog.h: one SMTP transaction as a pure state machine: bytes of the peer in, bytes for the peer
// out. It never touches a socket, so that every phase can be tested by what it is fed.
//
// libcurl does the connecting (TCP, TLS, EHLO, AUTH) and not this: its own transaction waits for
// the reply to the final dot with the whole multi handle blocked, tells a drop before the dot from
// one after it only by guessing, and may send a message again by itself (docs/adr/0004).
#pragma once
#include "dispatcher/send/smtp.h"

struct smtp_dialog {
    enum smtp_phase phase;
    const struct smtp_request *request; // borrowed while a try runs
    struct smtp_offers offers;          // of the connection
    struct smtp_reply reply;            // the last one
    struct text command;                // the command that goes out
    size_t sent;                        // bytes of it, or of the message, that are handed over
    struct inlay_reader *reader;        // of a message with files, while it goes out
    struct smtp_window {
        unsigned char *bytes; // made for the first such message
        size_t len, sent;
    } window;
    struct err spoilt; // of such a message: why it can't go on; ERR_NONE = it can
    char line[1024];   // of the peer, not complete yet
    size_t line_len;
};

void dialog_init(struct smtp_dialog *dialog);
void dialog_fini(struct smtp_dialog *dialog);

// Begins a transaction on a connection that is idle.
void dialog_begin(struct smtp_dialog *dialog, const struct smtp_request *request);
// Takes back a transaction that ended before its message was taken, by RSET.
void dialog_reset(struct smtp_dialog *dialog);

// The try has ended: lets go of the files of its message.
void dialog_let_go(struct smtp_dialog *dialog);

// What is to be sent next, at most 16 KiB: one TLS record. A send call that fails has handed over
// nothing that a peer could use, so the final dot counts as sent only when the call that held it
// said so. Empty = nothing now.
// Where a file of the message is not what it was, there is nothing any more to be sent, and .spoilt
// says why: the connection is to be dropped.
struct slice dialog_output(const struct smtp_dialog *dialog);
void dialog_sent(struct smtp_dialog *dialog, size_t n);

enum dialog_step { DIALOG_GOES_ON, DIALOG_ENDED, DIALOG_GARBLED };

// Takes what the peer sent. DIALOG_ENDED: .reply decides (or RSET was answered and the phase is
// SMTP_IDLE).
enum dialog_step dialog_input(struct smtp_dialog *dialog, struct slice bytes);

// After DIALOG_ENDED: can the connection carry another transaction (perhaps after RSET)?
bool dialog_reusable(const struct smtp_dialog *dialog);
