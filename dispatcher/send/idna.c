// Names of domains outside ASCII, by libcurl's libidn2.
#include "dispatcher/send/carrier.h"
#include "dispatcher/send/encode.h"

#include <locale.h>
#include <stdio.h>

// libcurl has libidn2 take names in the locale's character set.
bool send_domain_to_ascii(const char *domain, char out[256])
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    CURLU *url = curl_url();
    char *host = NULL;
    bool ok = url && curl_url_set(url, CURLUPART_SCHEME, "smtp", 0) == CURLUE_OK &&
              curl_url_set(url, CURLUPART_HOST, domain, 0) == CURLUE_OK &&
              curl_url_get(url, CURLUPART_HOST, &host, CURLU_PUNYCODE) == CURLUE_OK;
    int n = ok ? snprintf(out, 256, "%s", host) : -1;
    curl_free(host);
    curl_url_cleanup(url);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return n > 0 && n < 256;
}

char *send_with_ascii_domain(const char *mailbox)
{
    const char *at = mailbox ? strrchr(mailbox, '@') : NULL;
    if (!at || text_is_ascii(slice_of(at)))
        return NULL;
    size_t len = strcspn(at + 1, "> \t");
    AUTO_FREE char *domain = slice_dup((struct slice){(const unsigned char *)at + 1, len});
    char ascii[256];
    AUTO_TEXT struct text out = {0};
    text_init(&out, 1024);
    if (!send_domain_to_ascii(domain, ascii) ||
            !text_fmt(&out, "%.*s@%s%s", (int)(at - mailbox), mailbox, ascii, at + 1 + len))
        return NULL;
    return text_steal(&out);
}
