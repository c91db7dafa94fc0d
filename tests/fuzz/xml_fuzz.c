// Fuzzes the reader of small XML documents: what it takes becomes JSON that our own scanner takes,
// and base64 of the bytes is all it reads. tests/fuzz/test_fuzz.py builds and runs it.
#include "common/json/scan.h"
#include "receiver/accept/read_xml.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE unsigned char *base64 = xcalloc(1, size / 3 * 4 + 8);
    int len = EVP_EncodeBlock(base64, data, (int)size);
    AUTO_TEXT struct text out = {.max = OUT_MAX};
    struct err err = {0};
    if (read_xml((struct slice){base64, (size_t)len}, &out) &&
            !json_check(text_slice(&out), &err)) {
        fprintf(stderr, "not JSON: %s\n", err.msg);
        abort();
    }
    AUTO_TEXT struct text raw = {.max = OUT_MAX};
    (void)!read_xml((struct slice){data, size}, &raw);
    return 0;
}
