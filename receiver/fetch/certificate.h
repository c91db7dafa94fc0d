// certificate.h: a provider's signing certificate: whether it may be trusted, and its key.
#pragma once
#include "receiver/pubkey.h"

struct trust;
// ca: file with the trusted CAs, NULL = the system's.
MUST_CHECK struct trust *trust_new(const char *ca, struct err *err);
void trust_free(struct trust *trust); // NULL is fine

// Reads the first certificate of pem and demands that it is of the domain (".amazonaws.com" = any
// name in it), that now lies within its dates, and that it leads to a trusted CA over those that
// stand behind it or in `more` (PEM, may be empty). Sets the key (yours) and the dates. ERR_INPUT:
// no certificate; ERR_AUTH: one that is not to be trusted.
struct certificate {
    EVP_PKEY *key;
    int64_t from_s, until_s;
};
MUST_CHECK bool certificate_read(const struct trust *trust, struct slice pem, struct slice more,
        const char *domain, int64_t now_s, struct certificate *ret_certificate, struct err *err);
