#include "receiver/verify/cert_url.h"

#include "tests/test.h"

static void takes_what_sns_and_paypal_write(void **state)
{
    (void)state;
    static const char *const sns[] = {
            "https://sns.us-east-1.amazonaws.com/"
            "SimpleNotificationService-01d088a6f77103d0fe307c0069e40ed6.pem",
            "https://sns.us-east-1.amazonaws.com:443/SimpleNotificationService-0.pem",
            "https://sns.us-gov-west-1.amazonaws.com/x.pem",
            "https://sns.cn-north-1.amazonaws.com.cn/x.pem"};
    static const char *const paypal[] = {
            "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-pawl",
            "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77",
            "https://api.paypal.com:443/v1/notifications/certs/CERT-1"};
    for (size_t i = 0; i < ARRAY_LEN(sns); i++)
        assert_row(cert_url_sns(slice_of(sns[i])) && !cert_url_paypal(slice_of(sns[i])), sns[i]);
    for (size_t i = 0; i < ARRAY_LEN(paypal); i++)
        assert_row(cert_url_paypal(slice_of(paypal[i])) && !cert_url_sns(slice_of(paypal[i])),
                paypal[i]);
}

#define PEM "/x.pem"
#define HOST "sns.us-east-1.amazonaws.com"

static void refuses_every_other_url_of_a_certificate_of_sns(void **state)
{
    (void)state;
    static const char *const rows[] = {"", "https://", "https:///x.pem", "https://" HOST,
            "https://" HOST "/", "https://" HOST "/.pem", "https://" HOST "/x.pem2",
            "http://" HOST PEM, "HTTPS://" HOST PEM, "ftp://" HOST PEM, "//" HOST PEM,
            " https://" HOST PEM, "https:// " HOST PEM, "https://SNS.us-east-1.amazonaws.com" PEM,
            "https://" HOST ".evil.example" PEM, "https://evil.example/" HOST PEM,
            "https://evil.example/?" HOST PEM, "https://evil." HOST PEM,
            "https://xsns.us-east-1.amazonaws.com" PEM, "https://sns.us.east.amazonaws.com" PEM,
            "https://sns.ab.amazonaws.com" PEM, "https://sns.s3-us-west-2.amazonaws.com" PEM,
            "https://sns..amazonaws.com" PEM, "https://sns.amazonaws.com" PEM,
            "https://sns.us_east_1.amazonaws.com" PEM,
            "https://sns.us-east-1.amazonaws.com.cn.evil" PEM, "https://" HOST "." PEM,
            "https://user@" HOST PEM, "https://user:pw@" HOST PEM, "https://" HOST "@evil" PEM,
            "https://" HOST ":80" PEM, "https://" HOST ":4430" PEM, "https://" HOST ":" PEM,
            "https://" HOST ":0443" PEM, "https://" HOST ":443", "https://" HOST "#/x.pem",
            "https://" HOST PEM "#", "https://" HOST PEM "?a=.pem", "https://" HOST "/?x.pem",
            "https://" HOST "/a/../x.pem", "https://" HOST "/./x.pem", "https://" HOST "//x.pem",
            "https://" HOST "/..", "https://" HOST "/%2e%2e/x.pem", "https://" HOST "\\x.pem",
            "https://" HOST "/x\\.pem", "https://evil.example\\@" HOST PEM,
            "https://" HOST "/x y.pem", "https://" HOST "/x\r\n.pem",
            "https://" HOST "/\xc3\xa9.pem",
            "https://sns.us-east-1.amazonaws.com.cn.amazonaws.com" PEM, "https://[::1]" PEM,
            "https://127.0.0.1" PEM, "https://169.254.169.254" PEM, "https://api.paypal.com" PEM};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(!cert_url_sns(slice_of(rows[i])), rows[i]);
    assert_false(cert_url_sns((struct slice){(const unsigned char *)"https://" HOST "/\0.pem",
            sizeof "https://" HOST "/\0.pem" - 1}));
}

static void refuses_every_other_url_of_a_certificate_of_paypal(void **state)
{
    (void)state;
    static const char *const rows[] = {"https://api.paypal.com.evil.example/c",
            "https://api.paypal.com.evil.example/v1/notifications/certs/c",
            "https://api.paypal.com/v1/notifications/certs/",
            "https://api.paypal.com/v1/notifications/certs",
            "https://api.paypal.com/v1/notifications/other/c",
            "https://api.paypal.com/v1/notifications/certs/../../../x",
            "https://api.paypal.com/v1/notifications/certs/a/b",
            "https://api.paypal.com/x/v1/notifications/certs/c",
            "https://www.paypal.com/v1/notifications/certs/c",
            "https://evil.api.paypal.com/v1/notifications/certs/c",
            "https://api.paypal.com@evil/v1/notifications/certs/c",
            "http://api.paypal.com/v1/notifications/certs/c",
            "https://api.paypal.com:8443/v1/notifications/certs/c"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_row(!cert_url_paypal(slice_of(rows[i])), rows[i]);
}

static void refuses_a_url_that_is_too_long(void **state)
{
    (void)state;
    char url[CERT_URL_MAX + 2];
    memset(url, 'a', sizeof url);
    memcpy(url, "https://" HOST "/", sizeof "https://" HOST "/" - 1);
    memcpy(url + CERT_URL_MAX - 4, ".pem", 4);
    assert_true(cert_url_sns((struct slice){(unsigned char *)url, CERT_URL_MAX}));
    memcpy(url + CERT_URL_MAX - 3, ".pem", 4);
    assert_false(cert_url_sns((struct slice){(unsigned char *)url, CERT_URL_MAX + 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(takes_what_sns_and_paypal_write),
            cmocka_unit_test(refuses_every_other_url_of_a_certificate_of_sns),
            cmocka_unit_test(refuses_every_other_url_of_a_certificate_of_paypal),
            cmocka_unit_test(refuses_a_url_that_is_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
