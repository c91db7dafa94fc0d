// bare.c: what libcurl alone sends: bare URL FILE CONNECTIONS MILLISECONDS, JSON on stdout.
//
// A curl_multi loop in which each handle sends the same bytes again as soon as it was answered,
// over a connection that stays: a POST for http://, a mail for smtp://. Nothing is kept of it.
#include "common/base.h"
#include "common/clock.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODY_MAX = 1 << 20, CONNECTIONS_MAX = 1000, WAIT_MS = 100 };

struct body {
    char *data;
    size_t len;
};

struct sender {
    CURL *easy;
    const struct body *body;
    size_t sent;
};

static size_t give(char *to, size_t size, size_t n, void *user)
{
    struct sender *sender = user;
    size_t left = sender->body->len - sender->sent, take = left < size * n ? left : size * n;
    memcpy(to, sender->body->data + sender->sent, take);
    sender->sent += take;
    return take;
}

static size_t drop(char *data, size_t size, size_t n, void *user)
{
    (void)data, (void)user;
    return size * n;
}

static void as_mail(struct sender *sender)
{
    struct curl_slist *to = curl_slist_append(NULL, "ann@example.net");
    curl_easy_setopt(sender->easy, CURLOPT_MAIL_FROM, "notify@example.net");
    curl_easy_setopt(sender->easy, CURLOPT_MAIL_RCPT, to);
    curl_easy_setopt(sender->easy, CURLOPT_UPLOAD, 1L);
}

static void as_post(struct sender *sender)
{
    struct curl_slist *lines = curl_slist_append(NULL, "Content-Type: application/json");
    lines = curl_slist_append(lines, "Authorization: Bearer re_0123456789abcdef0123456789abcdef");
    lines = curl_slist_append(lines, "Idempotency-Key: 0123456789abcdef0123456789abcdef");
    lines = curl_slist_append(lines, "Expect:");
    curl_easy_setopt(sender->easy, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(sender->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(sender->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sender->body->len);
}

static void prepare(struct sender *sender, const struct body *body, const char *url)
{
    sender->body = body;
    sender->easy = curl_easy_init();
    curl_easy_setopt(sender->easy, CURLOPT_URL, url);
    curl_easy_setopt(sender->easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(sender->easy, CURLOPT_READDATA, sender);
    curl_easy_setopt(sender->easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(sender->easy, CURLOPT_PRIVATE, sender);
    curl_easy_setopt(sender->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(sender->easy, CURLOPT_PROXY, "");
    if (strncmp(url, "smtp", 4) == 0)
        as_mail(sender);
    else
        as_post(sender);
}

static bool read_body(const char *path, struct body *ret_body)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    ret_body->data = xcalloc(1, BODY_MAX);
    ret_body->len = fread(ret_body->data, 1, BODY_MAX, file);
    (void)fclose(file);
    return ret_body->len > 0;
}

// Starts anew what ended; how many were taken, -1 when one was not.
static long again(CURLM *multi, bool on)
{
    long n = 0;
    int left = 0;
    for (CURLMsg *msg; (msg = curl_multi_info_read(multi, &left));) {
        struct sender *sender = NULL;
        CURL *easy = msg->easy_handle;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &sender);
        if (msg->data.result != CURLE_OK) {
            fprintf(stderr, "bare: %s\n", curl_easy_strerror(msg->data.result));
            return -1;
        }
        n++;
        sender->sent = 0;
        curl_multi_remove_handle(multi, easy);
        if (on)
            curl_multi_add_handle(multi, easy);
    }
    return n;
}

static int run(CURLM *multi, int64_t ms)
{
    int64_t begin = clock_mono_ms(), now = begin;
    long sent = 0;
    int running = 1;
    while (running > 0) {
        curl_multi_perform(multi, &running);
        now = clock_mono_ms();
        long n = again(multi, now - begin < ms);
        if (n < 0)
            return 1;
        if (now - begin < ms) {
            sent += n;
            running = 1;
        }
        curl_multi_poll(multi, NULL, 0, WAIT_MS, NULL);
    }
    printf("{\"sent\":%ld,\"seconds\":%.3f}\n", sent, (double)ms / 1000);
    return 0;
}

int main(int argc, char **argv)
{
    static struct sender senders[CONNECTIONS_MAX];
    struct body body = {0};
    long n = argc == 5 ? strtol(argv[3], NULL, 10) : 0;
    if (n < 1 || n > CONNECTIONS_MAX || !read_body(argv[2], &body)) {
        fprintf(stderr, "usage: bare URL FILE CONNECTIONS MILLISECONDS\n");
        return 64;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    for (long i = 0; i < n; i++) {
        prepare(&senders[i], &body, argv[1]);
        curl_multi_add_handle(multi, senders[i].easy);
    }
    return run(multi, strtoll(argv[4], NULL, 10));
}
