// address.h: one mailbox, as people write it: "Example Shop <notify@example.net>" or a bare
// address.
//
// libcurl and SMTP servers pass on what they are given, line ends included, so that an address is
// a place where commands and headers can be smuggled in: here is the gate.
#pragma once
#include "common/err.h"

struct mailbox {
    char *name;    // display name in UTF-8, unquoted; NULL = none
    char *address; // local@domain
    size_t domain; // where the domain begins in address
};
void mailbox_fini(struct mailbox *mailbox);

// Puts the ASCII form of a domain (IDNA) into out; false when it has none.
typedef bool domain_to_ascii_fn(const char *domain, char out[256]);

// ERR_INPUT unless text is exactly one mailbox: UTF-8 without control characters, local part of at
// most 64 bytes, address of at most 254 (RFC 5321 4.5.3.1, RFC 3696 erratum 1690). Quoted local
// parts and address literals are not taken. A domain that is not ASCII goes through to_ascii.
MUST_CHECK bool mailbox_parse(struct slice text, domain_to_ascii_fn *to_ascii,
        struct mailbox *ret_mailbox, struct err *err);

// A local part that is not ASCII needs a server with SMTPUTF8 (RFC 6531).
bool mailbox_needs_utf8(const struct mailbox *mailbox);
