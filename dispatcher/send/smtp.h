// smtp.h: the SMTP driver's two pure ends: what to say for a content, and what the outcome means.
//
// docs/smtp.md has the outcome table in words.
#pragma once
#include "dispatcher/delivery.h"
#include "dispatcher/send/address.h"
#include "dispatcher/send/inlay.h"
#include "dispatcher/send/reply.h"

// All that one transaction needs. One recipient each, so that every reply is about that one.
struct smtp_request {
    char *url;            // smtp://host:port/name-for-EHLO
    char *mail_from;      // local@domain
    char *rcpt;           // local@domain
    bool needs_utf8;      // an address of it needs SMTPUTF8
    bool sender_utf8;     // that of the sender does
    bool probe;           // only connect and say QUIT
    size_t size;          // of the message, for SIZE=
    struct text wire;     // what follows DATA: dots doubled, ends with CRLF.CRLF
    struct inlays inlays; // files inside wire; base64 has no dots
};
void smtp_request_fini(struct smtp_request *request);

// Makes the request of a delivery's content. ERR_INPUT with *ret_level MESSAGE or ADDRESS: can
// never be sent; ERR_FATAL with PROVIDER: the provider's settings forbid it (plain text to a host
// that is not loopback).
MUST_CHECK bool smtp_build(const struct content *content, const struct provider *provider,
        domain_to_ascii_fn *to_ascii, struct smtp_request *ret_request,
        enum failure_level *ret_level, struct err *err);

// Settings that differ in anything never share a connection.
struct key smtp_identity(const struct provider *provider, const char *url);

// How far a try came. From SMTP_END_OF_DATA on the peer may have taken the message.
enum smtp_phase {
    SMTP_CONNECT, // TCP, TLS, greeting, EHLO, AUTH
    SMTP_MAIL,
    SMTP_RCPT,
    SMTP_DATA,
    SMTP_BODY,        // after 354; the final dot is not handed to the socket
    SMTP_END_OF_DATA, // all of it is, the reply is awaited
    SMTP_RESET,       // no try any more: RSET before the next one
    SMTP_IDLE,
};

// What ended it.
enum smtp_end {
    SMTP_REPLY, // the peer's last reply decides
    SMTP_CLOSED,
    SMTP_TIMEOUT,
    SMTP_NO_ROUTE,       // the name or the host could not be reached
    SMTP_NO_TLS,         // TLS failed, or STARTTLS was not offered
    SMTP_NO_AUTH,        // user and password were not taken
    SMTP_NO_UTF8,        // the peer can't take a recipient outside ASCII
    SMTP_NO_UTF8_SENDER, // the same for the sender
    SMTP_GARBLED,        // what came is not SMTP, or came out of turn
    SMTP_ABORTED,        // cut off by us
};

struct smtp_facts {
    enum smtp_end end;
    enum smtp_phase phase;
    const struct smtp_reply *reply; // the last one seen
    const char *why;                // the library's words for a failure without a reply, or NULL
};

// Outcome, level, code, enhanced, detail and provider_id of the result; nothing else is touched.
void smtp_classify(const struct smtp_facts *facts, struct attempt_result *result);
