// address.h: which addresses a fetch may go to: none of ours, of our network or of no network.
#pragma once
#include "common/base.h"
#include <sys/socket.h>

// False for loopback, private, link-local (169.254.169.254 hands out a cloud's credentials),
// shared, documentation, multicast and reserved addresses, for what carries one of these inside it
// (mapped, NAT64, 6to4), and for other families. Source: the IANA special-purpose address
// registries.
MUST_CHECK bool address_public(const struct sockaddr *address);
// Reads an address as numbers are written, IPv4 or IPv6; false (and AF_UNSPEC) for anything else.
MUST_CHECK bool address_read(const char *text, struct sockaddr_storage *ret_address);
