#include "common/base64url.h"

#include <sodium.h>

bool base64url_decode(struct slice text, unsigned char *out, size_t room, size_t *ret_len)
{
    return sodium_base642bin(out, room, (const char *)text.ptr, text.len, NULL, ret_len, NULL,
                   sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0;
}
