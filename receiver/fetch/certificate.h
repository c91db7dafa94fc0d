// certificate.h: a provider's signing certificate: whether it may be trusted, and its key.
#pragma once
#include "receiver/pubkey.h"

struct trust;
// ca: file with the trusted CAs, NULL = the system's.
MUST_CHECK struct trust *trust_new(const char *ca, struct err *err);
void trust_free(struct trust *trust); // NULL is fine

struct certificate {
    EVP_PKEY *key;
    int64_t from_s, until_s;
};
struct certificate_text {
    struct slice own;    // PEM: the certificate, then perhaps its issuers
    struct slice beside; // more issuers, PEM; may be empty
};

// Reads the first certificate of text and demands that it is of the domain (".amazonaws.com" = any
// name in it), that now lies within its dates, and that it leads to a trusted CA over the others.
// Sets the key (yours) and the dates. ERR_INPUT: no certificate; ERR_AUTH: one that is not to be
// trusted.
MUST_CHECK bool certificate_read(const struct trust *trust, const struct certificate_text *text,
        const char *domain, int64_t now_s, struct certificate *ret_certificate, struct err *err);
