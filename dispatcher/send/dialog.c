#include "dispatcher/send/dialog.h"

#define COMMAND_MAX 1024
#define SEND_MAX ((size_t)16384)

void dialog_init(struct smtp_dialog *dialog)
{
    *dialog = (struct smtp_dialog){.phase = SMTP_IDLE};
    text_init(&dialog->command, COMMAND_MAX);
}

void dialog_let_go(struct smtp_dialog *dialog)
{
    inlay_reader_free(dialog->reader);
    dialog->reader = NULL;
    dialog->window.len = dialog->window.sent = 0;
}

void dialog_fini(struct smtp_dialog *dialog)
{
    text_fini(&dialog->command);
    dialog_let_go(dialog);
    free(dialog->window.bytes);
    dialog->window = (struct smtp_window){0};
}

// The next of a message with files into the window.
static void fill_window(struct smtp_dialog *dialog)
{
    struct smtp_window *window = &dialog->window;
    window->len = window->sent = 0;
    if (!inlay_read(dialog->reader, window->bytes, SEND_MAX, &window->len, &dialog->spoilt))
        dialog_let_go(dialog);
}

static void begin_reading(struct smtp_dialog *dialog)
{
    const struct smtp_request *request = dialog->request;
    if (!dialog->window.bytes)
        dialog->window.bytes = xmalloc(SEND_MAX);
    dialog->reader = inlay_reader_new(text_slice(&request->wire), &request->inlays);
    fill_window(dialog);
}

// Addresses are at most 254 bytes each: a command always fits.
static void say(struct smtp_dialog *dialog, enum smtp_phase phase)
{
    const struct smtp_request *request = dialog->request;
    struct text *out = &dialog->command;
    text_reset(out);
    dialog->sent = 0;
    dialog->phase = phase;
    if (phase == SMTP_MAIL) {
        text_fmt(out, "MAIL FROM:<%s>", request->mail_from);
        if (dialog->offers.size)
            text_fmt(out, " SIZE=%zu", request->size);
        text_str(out, request->needs_utf8 ? " SMTPUTF8\r\n" : "\r\n");
    } else if (phase == SMTP_RCPT) {
        text_fmt(out, "RCPT TO:<%s>\r\n", request->rcpt);
    } else if (phase == SMTP_DATA) {
        text_str(out, "DATA\r\n");
    } else if (phase == SMTP_RESET) {
        text_str(out, "RSET\r\n");
    } else if (phase == SMTP_BODY && request->inlays.n) {
        begin_reading(dialog);
    }
}

void dialog_begin(struct smtp_dialog *dialog, const struct smtp_request *request)
{
    dialog->request = request;
    dialog_let_go(dialog);
    dialog->reply = (struct smtp_reply){0};
    dialog->spoilt = (struct err){0};
    dialog->line_len = 0;
    say(dialog, SMTP_MAIL);
}

void dialog_reset(struct smtp_dialog *dialog)
{
    dialog->request = NULL;
    dialog_let_go(dialog);
    dialog->line_len = 0;
    say(dialog, SMTP_RESET);
}

static struct slice sending(const struct smtp_dialog *dialog)
{
    return dialog->phase == SMTP_BODY ? text_slice(&dialog->request->wire)
                                      : text_slice(&dialog->command);
}

struct slice dialog_output(const struct smtp_dialog *dialog)
{
    const struct smtp_window *window = &dialog->window;
    if (dialog->reader)
        return (struct slice){window->bytes + window->sent, window->len - window->sent};
    if (dialog->spoilt.kind)
        return (struct slice){NULL, 0};
    struct slice all = sending(dialog);
    size_t left = all.len - dialog->sent;
    if (left == 0)
        return (struct slice){NULL, 0};
    return (struct slice){all.ptr + dialog->sent, left < SEND_MAX ? left : SEND_MAX};
}

// The final dot is at the end of the text, behind all files.
static void window_sent(struct smtp_dialog *dialog, size_t n)
{
    struct smtp_window *window = &dialog->window;
    window->sent += n;
    if (window->sent < window->len)
        return;
    fill_window(dialog);
    if (dialog->reader && window->len == 0) {
        dialog_let_go(dialog);
        say(dialog, SMTP_END_OF_DATA);
    }
}

void dialog_sent(struct smtp_dialog *dialog, size_t n)
{
    if (dialog->reader) {
        window_sent(dialog, n);
        return;
    }
    dialog->sent += n;
    if (dialog->phase == SMTP_BODY && dialog->sent == dialog->request->wire.len)
        say(dialog, SMTP_END_OF_DATA);
}

// The phase that a good reply leads to; the same one when the reply is no good one.
static enum smtp_phase after_reply(const struct smtp_dialog *dialog)
{
    int code = dialog->reply.code;
    bool good = code / 100 == 2;
    if (dialog->phase == SMTP_MAIL && good)
        return SMTP_RCPT;
    if (dialog->phase == SMTP_RCPT && good)
        return SMTP_DATA;
    if (dialog->phase == SMTP_DATA && code == 354)
        return SMTP_BODY;
    if (dialog->phase == SMTP_RESET && good)
        return SMTP_IDLE;
    return dialog->phase;
}

static enum dialog_step on_reply(struct smtp_dialog *dialog)
{
    bool refusal = dialog->reply.code >= 400;
    // A server may refuse before it was asked (421, or a body that grows too large); anything else
    // that comes out of turn would be taken for the answer to what was not asked yet.
    if (dialog_output(dialog).len && !refusal)
        return DIALOG_GARBLED;
    if (refusal)
        return DIALOG_ENDED;
    enum smtp_phase next = after_reply(dialog);
    if (next == dialog->phase)
        return dialog->phase == SMTP_END_OF_DATA && dialog->reply.code / 100 == 2 ? DIALOG_ENDED
                                                                                  : DIALOG_GARBLED;
    say(dialog, next);
    return next == SMTP_IDLE ? DIALOG_ENDED : DIALOG_GOES_ON;
}

static enum dialog_step on_line(struct smtp_dialog *dialog)
{
    size_t len = dialog->line_len;
    dialog->line_len = 0;
    if (len && dialog->line[len - 1] == '\r')
        len--;
    struct slice line = {(const unsigned char *)dialog->line, len};
    switch (reply_line(&dialog->reply, line)) {
    case REPLY_MORE:
        return DIALOG_GOES_ON;
    case REPLY_DONE:
        return on_reply(dialog);
    case REPLY_BAD:
        break;
    }
    return DIALOG_GARBLED;
}

enum dialog_step dialog_input(struct smtp_dialog *dialog, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] != '\n') {
            if (dialog->line_len == sizeof dialog->line)
                return DIALOG_GARBLED;
            dialog->line[dialog->line_len++] = (char)bytes.ptr[i];
            continue;
        }
        enum dialog_step step = on_line(dialog);
        if (step != DIALOG_GOES_ON)
            return step;
    }
    return DIALOG_GOES_ON;
}

bool dialog_reusable(const struct smtp_dialog *dialog)
{
    // In the middle of a body there is no way back to commands.
    return dialog->reply.code != 421 && dialog->phase != SMTP_BODY && dialog->line_len == 0;
}
