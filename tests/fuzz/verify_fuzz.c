// Fuzzes the verifier with hostile headers and grammars. Not built by default; from the root:
//   clang-14 -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. common/base.c
//   common/clock.c common/err.c common/form.c common/text.c common/utf8.c common/keys.c
//   common/json/*.c receiver/pubkey.c receiver/verify/*.c
//   tests/fuzz/verify_fuzz.c -lcrypto -lz -o verify_fuzz
//   ./verify_fuzz -max_total_time=60 -max_len=6000
// The first byte picks the scheme; the rest is lines: the grammar's signed form and
// prefix (custom), then header values up to an empty line, then the body. Properties: nothing
// verifies under a secret that the input does not know, and what the verifier signs itself it
// takes.
#include "receiver/verify/scheme.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW 1795961472

static char names[][20] = {"stripe", "app", "custom", "standardwebhooks", "github", "twilio",
        "slack", "adyen", "custom", "mailgun", "braintree", "hubspot", "contentful", "box",
        "recurly", "docusign", "custom", "linear", "postmark", "shippo", "ms-graph",
        "mailgun-routes"};
static char secret_text[] = "a-secret-the-fuzzer-does-not-know-5f0c7d1e";

static struct slice next_line(struct slice *rest)
{
    const unsigned char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    struct slice line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t used = line.len + (end ? 1 : 0);
    *rest = (struct slice){used ? rest->ptr + used : rest->ptr, rest->len - used};
    return line;
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

// Of grammars that the policy's checks take.
static void take_own(const struct source *source, struct slice body)
{
    AUTO_TEXT struct text lines = {.max = 65536};
    struct err err;
    const struct custom_verify *verify = source->verify;
    if (verify->item_sep && strstr(verify->signature_prefix, verify->item_sep))
        return;
    if (!verify_sign(source, body, SLICE("evt_1"), NOW, &lines, &err))
        return;
    struct verify_header headers[3];
    size_t n = 0;
    for (struct slice rest = text_slice(&lines); rest.len && n < ARRAY_LEN(headers);) {
        struct slice line = next_line(&rest);
        const unsigned char *colon = line.len ? memmem(line.ptr, line.len, ": ", 2) : NULL;
        if (!colon)
            return; // the grammar's own prefix holds a line end
        size_t at = (size_t)(colon - line.ptr);
        if (line.ptr[line.len - 1] != '\r')
            return;
        headers[n++] =
                (struct verify_header){{line.ptr, at}, {line.ptr + at + 2, line.len - at - 3}};
    }
    struct verify_request request = {.method = SLICE("POST"),
            .headers = headers,
            .n_headers = n,
            .body = body,
            .now_s = NOW};
    struct verify_result got = verify_request(source, &request);
    must(got.reason == VERIFY_OK || got.reason == VERIFY_BAD_HEADER, "refuses its own signature");
}

static size_t read_headers(struct slice *rest, struct verify_header *headers, size_t room)
{
    static const char *const header_names[] = {"Stripe-Signature", "Authorization",
            "Idempotency-Key", "X-Sig", "X-Time", "x-sig", "webhook-id", "svix-signature",
            "webhook-signature", "webhook-timestamp", "X-Hub-Signature-256", "X-Twilio-Signature",
            "X-Slack-Signature", "X-Slack-Request-Timestamp"};
    // Behind a first byte that is no ASCII.
    static const char *const more[] = {"X-HubSpot-Signature-v3", "X-HubSpot-Request-Timestamp",
            "x-contentful-signature", "x-contentful-timestamp", "x-contentful-signed-headers",
            "BOX-SIGNATURE-SECONDARY", "BOX-DELIVERY-TIMESTAMP", "recurly-signature",
            "X-DocuSign-Signature-1", "X-DocuSign-Signature-2", "Linear-Signature",
            "X-Twilio-Webhooks-Signature-Settings"};
    size_t n = 0;
    while (rest->len && n < room) {
        struct slice line = next_line(rest);
        if (line.len == 0)
            break;
        size_t at = line.ptr[0] & 127;
        const char *name = line.ptr[0] & 128 ? more[at % ARRAY_LEN(more)]
                                             : header_names[at % ARRAY_LEN(header_names)];
        headers[n++] = (struct verify_header){slice_of(name), {line.ptr + 1, line.len - 1}};
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char header[] = "X-Sig", time_header[] = "X-Time", hex[] = "hex", base64[] = "base64",
                seconds[] = "seconds", url[] = "https://h:8/p", milliseconds[] = "milliseconds",
                sha256[] = "hmac-sha256", id[] = "/id";
    if (size == 0)
        return 0;
    struct slice rest = {data + 1, size - 1};
    AUTO_FREE char *form = slice_dup(next_line(&rest));
    AUTO_FREE char *prefix = slice_dup(next_line(&rest));
    static char v1[] = "v1", comma[] = ",", equals[] = "=";
    char *keys[] = {v1};
    bool listed = data[0] & 32, field = data[0] & 64;
    struct custom_verify verify = {.signature_header = field ? NULL : header,
            .signature_field = field ? id : NULL,
            .signature_prefix = prefix,
            .encoding = data[0] & 4 ? hex : base64,
            .item_sep = listed ? comma : NULL,
            .kv_sep = listed ? equals : NULL,
            .keys = keys,
            .n_keys = listed,
            .timestamp_header = data[0] & 8 ? time_header : NULL,
            .timestamp_unit = data[0] & 16 ? seconds : milliseconds,
            .tolerance_s = 300,
            .signed_form = form,
            .algorithm = sha256};
    struct secret secret = {.value = slice_of(secret_text)};
    struct source source = {.name = names[data[0] % ARRAY_LEN(names)],
            .scheme = names[data[0] % ARRAY_LEN(names)],
            .secrets = &secret,
            .n_secrets = 1,
            .public_url = url,
            .verify = &verify,
            .id_ptr = id};
    struct verify_header headers[16];
    size_t n = read_headers(&rest, headers, ARRAY_LEN(headers));
    struct verify_request request = {
            .target = rest, .headers = headers, .n_headers = n, .body = rest, .now_s = NOW};
    struct verify_result got = verify_request(&source, &request);
    must(got.reason != VERIFY_OK && got.reason != VERIFY_NO_ID, "accepts what nobody signed");
    must(verify_reason_name(got.reason)[0] != '\0', "has no name for a reason");
    take_own(&source, rest);
    return 0;
}
