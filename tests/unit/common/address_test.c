#include "common/address.h"

#include "tests/test.h"

static bool is_public(const char *text)
{
    struct sockaddr_storage held;
    if (!address_read(text, &held))
        fail_msg("no address: %s", text);
    return address_public((const struct sockaddr *)(const void *)&held);
}

static void lets_public_addresses_be_asked(void **state)
{
    (void)state;
    static const char *const rows[] = {"8.8.8.8", "52.94.0.1", "9.255.255.255", "11.0.0.0",
            "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
            "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
            "198.17.255.255", "198.20.0.0", "223.255.255.255", "2600:1f18::1", "2a00:1450::1",
            "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(is_public(rows[i]), rows[i]);
}

static void refuses_addresses_inside_and_of_no_network(void **state)
{
    (void)state;
    static const char *const rows[] = {"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255",
            "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.0.1", "198.18.0.1",
            "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
            "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1",
            "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1",
            "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2001:db8::1",
            "2002:7f00:1::", "2001::1", "100::1", "4000::1", "fec0::1", "3fff::1"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(!is_public(rows[i]), rows[i]);
}

static void refuses_other_families(void **state)
{
    (void)state;
    struct sockaddr address = {.sa_family = AF_UNIX};
    assert_false(address_public(&address));
}

static void reads_numbers_alone(void **state)
{
    (void)state;
    static const char *const rows[] = {
            "", "localhost", "127.1", "8.8.8.8:443", "[::1]", "fe80::1%1"};
    struct sockaddr_storage held;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(!address_read(rows[i], &held) && held.ss_family == AF_UNSPEC, rows[i]);
    assert_false(address_read(NULL, &held));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(lets_public_addresses_be_asked),
            cmocka_unit_test(refuses_addresses_inside_and_of_no_network),
            cmocka_unit_test(refuses_other_families),
            cmocka_unit_test(reads_numbers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
