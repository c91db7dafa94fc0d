#include "common/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

struct range {
    unsigned char start[16];
    int bits;
};

static const struct range closed_v4[] = {{{0}, 8}, {{10}, 8}, {{100, 64}, 10}, {{127}, 8},
        {{169, 254}, 16}, {{172, 16}, 12}, {{192, 0, 0}, 24}, {{192, 0, 2}, 24},
        {{192, 88, 99}, 24}, {{192, 168}, 16}, {{198, 18}, 15}, {{198, 51, 100}, 24},
        {{203, 0, 113}, 24}, {{224}, 4}, {{240}, 4}};

// Global unicast is 2000::/3; of it these are not.
static const struct range open_v6 = {{0x20}, 3};
static const struct range closed_v6[] = {
        {{0x20, 0x01}, 23}, {{0x20, 0x01, 0x0d, 0xb8}, 32}, {{0x20, 0x02}, 16}, {{0x3f, 0xff}, 20}};

// Of which the last four bytes are an IPv4 address.
static const struct range mapped_v6 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
static const struct range nat64_v6 = {{0, 0x64, 0xff, 0x9b}, 96};

static bool in_range(const unsigned char *address, const struct range *range)
{
    for (int i = 0; i < range->bits; i++) {
        unsigned mask = 0x80u >> (i % 8);
        if ((address[i / 8] & mask) != (range->start[i / 8] & mask))
            return false;
    }
    return true;
}

static bool public_v4(const unsigned char *address)
{
    for (size_t i = 0; i < ARRAY_LEN(closed_v4); i++)
        if (in_range(address, &closed_v4[i]))
            return false;
    return true;
}

static bool public_v6(const unsigned char *address)
{
    if (in_range(address, &mapped_v6) || in_range(address, &nat64_v6))
        return public_v4(address + 12);
    for (size_t i = 0; i < ARRAY_LEN(closed_v6); i++)
        if (in_range(address, &closed_v6[i]))
            return false;
    return in_range(address, &open_v6);
}

bool address_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return public_v4((const unsigned char *)&v4.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return public_v6(v6.sin6_addr.s6_addr);
    }
    return false;
}

bool address_read(const char *text, struct sockaddr_storage *ret_address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    *ret_address = (struct sockaddr_storage){.ss_family = AF_UNSPEC};
    if (text && inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        memcpy(ret_address, &v4, sizeof v4);
    else if (text && inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
        memcpy(ret_address, &v6, sizeof v6);
    return ret_address->ss_family != AF_UNSPEC;
}
