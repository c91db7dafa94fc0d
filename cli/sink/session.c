#include "cli/sink/session.h"

#include <stdio.h>
#include <strings.h>

#define LINE_MAX_BYTES 4096 // RFC 5321 4.5.3.1: 512 for a command, 1000 for a line of text
#define OUT_MAX 65536

void session_init(struct session *session)
{
    *session = (struct session){0};
    text_init(&session->in, SINK_MAIL_MAX + LINE_MAX_BYTES);
    text_init(&session->out, OUT_MAX);
    text_init(&session->mail, SINK_MAIL_MAX);
    text_str(&session->out, "220 sink.invalid Pawl's demo sink: mail ends here\r\n");
}

void session_fini(struct session *session)
{
    text_fini(&session->in);
    text_fini(&session->out);
    text_fini(&session->mail);
}

static void reset(struct session *session)
{
    text_reset(&session->mail);
    session->n_recipients = 0;
    session->has_sender = session->in_data = session->too_long = false;
}

static void reply(struct session *session, const char *line)
{
    text_fmt(&session->out, "%s\r\n", line);
}

// The address within <>; without blanks and controls, since it becomes a cell of the log.
static bool address_of(const char *line, char out[256])
{
    const char *open = strchr(line, '<');
    size_t len = open ? strcspn(open + 1, ">") : 0;
    if (!open || open[1 + len] != '>' || len >= 256)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)open[1 + i] <= ' ' || open[1 + i] == 0x7f)
            return false;
    memcpy(out, open + 1, len);
    out[len] = '\0';
    return true;
}

static void on_hello(struct session *session, const char *line)
{
    reset(session);
    if (strncasecmp(line, "EHLO", 4) == 0)
        text_fmt(&session->out,
                "250-sink.invalid\r\n250-PIPELINING\r\n250-SIZE %d\r\n250 8BITMIME\r\n",
                SINK_MAIL_MAX);
    else
        reply(session, "250 sink.invalid");
}

static void on_mail(struct session *session, const char *line)
{
    char address[256];
    if (session->has_sender) {
        reply(session, "503 5.5.1 one sender at a time");
        return;
    }
    session->has_sender = address_of(line, address);
    reply(session, session->has_sender ? "250 2.1.0 ok" : "501 5.1.7 no address");
}

static void on_rcpt(struct session *session, const char *line)
{
    if (!session->has_sender)
        reply(session, "503 5.5.1 MAIL first");
    else if (session->n_recipients == SINK_RECIPIENTS)
        reply(session, "452 4.5.3 too many recipients");
    else if (!address_of(line, session->recipients[session->n_recipients]))
        reply(session, "501 5.1.3 no address");
    else {
        session->n_recipients++;
        reply(session, "250 2.1.5 ok");
    }
}

static void on_data(struct session *session, const char *line)
{
    (void)line;
    session->in_data = session->n_recipients > 0;
    reply(session, session->in_data ? "354 end with a dot" : "503 5.5.1 RCPT first");
}

static void on_reset(struct session *session, const char *line)
{
    (void)line;
    reset(session);
    reply(session, "250 2.0.0 ok");
}

static void on_noop(struct session *session, const char *line)
{
    (void)line;
    reply(session, "250 2.0.0 ok");
}

static void on_quit(struct session *session, const char *line)
{
    (void)line;
    session->quit = true;
    reply(session, "221 2.0.0 bye");
}

static void on_command(struct session *session, const char *line)
{
    static const struct {
        const char *verb;
        void (*f)(struct session *session, const char *line);
    } verbs[] = {{"EHLO", on_hello}, {"HELO", on_hello}, {"MAIL", on_mail}, {"RCPT", on_rcpt},
            {"DATA", on_data}, {"RSET", on_reset}, {"NOOP", on_noop}, {"QUIT", on_quit}};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (strncasecmp(line, verbs[i].verb, 4) == 0) {
            verbs[i].f(session, line);
            return;
        }
    }
    reply(session, "502 5.5.2 unknown command");
}

static void on_end_of_mail(struct session *session, const struct session_store *store)
{
    if (session->too_long)
        reply(session, "552 5.3.4 too long");
    else if (store->store(store->ctx, session))
        text_fmt(&session->out, "250 2.0.0 Ok: queued as %s\r\n", session->kept_as);
    else
        reply(session, "451 4.3.0 can't write it");
    reset(session);
}

static void on_text(struct session *session, const char *line, const struct session_store *store)
{
    if (strcmp(line, ".") == 0) {
        on_end_of_mail(session, store);
        return;
    }
    // RFC 5321 4.5.2: a dot at the start was doubled.
    if (!text_str(&session->mail, line[0] == '.' ? line + 1 : line) ||
            !text_str(&session->mail, "\r\n"))
        session->too_long = true;
}

bool session_feed(struct session *session, struct slice bytes, const struct session_store *store)
{
    if (!text_add(&session->in, bytes))
        return false;
    size_t at = 0;
    char *end;
    while (!session->quit && at < session->in.len &&
            (end = memchr(session->in.ptr + at, '\n', session->in.len - at)) != NULL) {
        char *line = session->in.ptr + at;
        size_t len = (size_t)(end - line);
        at += len + 1;
        line[len] = '\0';
        if (len > 0 && line[len - 1] == '\r')
            line[len - 1] = '\0';
        if (session->in_data)
            on_text(session, line, store);
        else
            on_command(session, line);
    }
    size_t left = session->in.len - at;
    if (at > 0 && left > 0)
        memmove(session->in.ptr, session->in.ptr + at, left);
    session->in.len = left;
    return left <= LINE_MAX_BYTES && !session->out.overflow;
}
