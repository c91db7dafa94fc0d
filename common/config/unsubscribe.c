#include "common/config/unsubscribe.h"

#include "common/text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

enum { MAC_BYTES = 16, MAC_HEX = 2 * MAC_BYTES };

// What is signed begins with a word of its own, so that a key that is used elsewhere too signs
// nothing that is taken here.
static bool sign(const struct secret *secret, const char *place, char out[MAC_HEX + 1])
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int len = 0;
    char text[PLACE_MAX + 32];
    int n = snprintf(text, sizeof text, "pawl unsubscribe 1 %s", place);
    if (n < 0 || !HMAC(EVP_sha256(), secret->value.ptr, (int)secret->value.len,
                         (const unsigned char *)text, (size_t)n, mac, &len))
        return false;
    for (size_t i = 0; i < MAC_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", mac[i]);
    return true;
}

bool unsubscribe_link(const struct policy *policy, const struct delivery_place *place,
        int64_t now_s, struct text *out, struct err *err)
{
    const struct unsubscribe *rule = &policy->unsubscribe;
    char place_text[PLACE_MAX], mac[MAC_HEX + 1];
    if (!rule->url)
        return err_set(err, ERR_INPUT, "the policy has no 'unsubscribe', which says the link");
    place_write(place, place_text);
    for (size_t i = 0; i < rule->n_secrets; i++) {
        if (!secret_is_live(&rule->secrets[i], now_s) || !sign(&rule->secrets[i], place_text, mac))
            continue;
        size_t len = strlen(rule->url);
        bool slash = len && rule->url[len - 1] == '/';
        return text_fmt(out, "%.*s" UNSUBSCRIBE_PATH "%s.%s", (int)(len - slash), rule->url,
                       place_text, mac) ||
               err_set(err, ERR_INPUT, "the unsubscribe link is too long");
    }
    return err_set(err, ERR_INPUT, "no secret of 'unsubscribe' is there to sign the link with");
}

bool unsubscribe_read(const struct policy *policy, struct slice token, int64_t now_s,
        struct delivery_place *ret_place)
{
    const struct unsubscribe *rule = &policy->unsubscribe;
    char place_text[PLACE_MAX], mac[MAC_HEX + 1];
    if (token.len <= MAC_HEX + 1 || token.len >= UNSUBSCRIBE_TOKEN_MAX)
        return false;
    struct slice place = {token.ptr, token.len - MAC_HEX - 1};
    if (token.ptr[place.len] != '.' || !place_read(place, ret_place))
        return false;
    place_write(ret_place, place_text);
    bool signed_by_us = false;
    for (size_t i = 0; i < rule->n_secrets; i++)
        if (secret_is_live(&rule->secrets[i], now_s) && sign(&rule->secrets[i], place_text, mac))
            signed_by_us |= CRYPTO_memcmp(mac, token.ptr + place.len + 1, MAC_HEX) == 0;
    return signed_by_us;
}
