#include "tests/bench/receive/requests.h"

#include "common/clock.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#define KEY_MAX 128
#define REQUEST_MAX 2048

struct signer {
    unsigned char key[KEY_MAX];
    int key_len;
};

static struct signer signer_of(const char *secret)
{
    struct signer signer = {0};
    struct slice text = slice_of(secret), prefix = SLICE("whsec_");
    if (!slice_starts(text, prefix) || text.len - prefix.len > KEY_MAX) {
        fprintf(stderr, "load: the secret is not whsec_ and base64\n");
        exit(2);
    }
    const unsigned char *base64 = text.ptr + prefix.len;
    signer.key_len = EVP_DecodeBlock(signer.key, base64, (int)(text.len - prefix.len));
    for (size_t i = text.len; signer.key_len > 0 && i > 0 && text.ptr[i - 1] == '='; i--)
        signer.key_len--;
    return signer;
}

// https://www.standardwebhooks.com: v1, and base64 of HMAC-SHA256 over id.timestamp.body
static void sign(const struct signer *signer, struct slice signed_text, char out[64])
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned mac_len = 0;
    HMAC(EVP_sha256(), signer->key, signer->key_len, signed_text.ptr, signed_text.len, mac,
            &mac_len);
    EVP_EncodeBlock((unsigned char *)out, mac, (int)mac_len);
}

static void add_request(struct text *all, const struct signer *signer, const char *path,
        const struct bench_event *event, int64_t now_s)
{
    char iso[32], mac[64];
    AUTO_TEXT struct text signed_text = {0};
    text_init(&signed_text, REQUEST_MAX);
    text_fmt(&signed_text, "%s.%lld.", event->id, (long long)now_s);
    size_t head = signed_text.len;
    event_body(event, clock_rfc3339(now_s * 1000000, iso), &signed_text);
    sign(signer, text_slice(&signed_text), mac);
    text_fmt(all,
            "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            "User-Agent: bench/1\r\nAccept: */*\r\nwebhook-id: %s\r\nwebhook-timestamp: %lld\r\n"
            "webhook-signature: v1,%s\r\nContent-Length: %zu\r\n\r\n%s",
            path, event->id, (long long)now_s, mac, signed_text.len - head,
            text_cstr(&signed_text) + head);
}

struct requests *requests_new(const char *path, const char *secret, uint64_t run, size_t n)
{
    struct signer signer = signer_of(secret);
    struct requests *requests = xcalloc(1, sizeof *requests);
    AUTO_FREE size_t *starts = xcalloc(n + 1, sizeof *starts);
    struct text all;
    text_init(&all, (n + 1) * REQUEST_MAX);
    int64_t now_s = clock_now_s();
    for (size_t i = 0; i < n; i++) {
        struct bench_event event = event_nth(run, i);
        add_request(&all, &signer, path, &event, now_s);
        starts[i + 1] = all.len;
    }
    requests->items = xcalloc(n, sizeof *requests->items);
    requests->n = n;
    requests->bytes = text_steal(&all);
    for (size_t i = 0; i < n; i++)
        requests->items[i] =
                (struct request){requests->bytes + starts[i], starts[i + 1] - starts[i]};
    return requests;
}

void requests_free(struct requests *requests)
{
    free(requests->items);
    free(requests->bytes);
    free(requests);
}
