// cert_url.h: the rule for a certificate's URL, which the request itself names: anybody can write
// one, so only the provider's own are ever asked for.
#pragma once
#include "common/base.h"

enum { CERT_URL_MAX = 512 };

// Written in a form that every parser reads alike: "https://", a host of lower-case letters,
// digits,
// '-' and '.', perhaps ":443", then a path of letters, digits, "-._~/" without "." and ".."
// segments. No user, query, fragment, percent sign or backslash: what would be fetched is what was
// looked at.
bool cert_url_sns(struct slice url);    // host sns.REGION.amazonaws.com[.cn], path *.pem
bool cert_url_paypal(struct slice url); // api[.sandbox].paypal.com/v1/notifications/certs/*

// A region as it stands in a host name: [a-z0-9-], at least 3.
bool cert_url_region(struct slice region);
