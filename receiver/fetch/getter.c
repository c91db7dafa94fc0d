#include "receiver/fetch/getter.h"

#include "common/address.h"

#include <curl/curl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct getter {
    struct getter_options options;
    CURL *easy;
    struct curl_slist *connect; // as libcurl writes it: "host::address:port", at any port
    char why[CURL_ERROR_SIZE];
    bool any_address; // of the URL being asked
    bool bad_address; // what it was refused for
    struct getter_reply *reply;
};

const char *getter_end_name(enum getter_end end)
{
    static const char *const names[GETTER_END_COUNT] = {[GETTER_OK] = "ok",
            [GETTER_UNREACHABLE] = "unreachable",
            [GETTER_ADDRESS] = "address",
            [GETTER_REDIRECT] = "redirect",
            [GETTER_STATUS] = "status",
            [GETTER_TOO_LARGE] = "too_large"};
    return names[end];
}

void getter_reply_fini(struct getter_reply *reply)
{
    text_fini(&reply->body);
    text_fini(&reply->chain);
}

// Behind the resolver and before the connection: what a name means can change between two looks.
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct getter *getter = user;
    if (purpose != CURLSOCKTYPE_IPCXN ||
            (!getter->any_address && !address_public(&address->addr))) {
        getter->bad_address = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_body(char *bytes, size_t size, size_t n, void *user)
{
    struct getter *getter = user;
    struct slice more = {(const unsigned char *)bytes, size * n};
    return text_add(&getter->reply->body, more) ? more.len : 0;
}

static int is_over(
        void *user, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
    const struct getter *getter = user;
    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    return getter->options.stopping && *getter->options.stopping;
}

// "host=address:port" as "host::address:port".
static bool add_connect(struct getter *getter, const char *rule, struct err *err)
{
    const char *equals = strchr(rule, '=');
    AUTO_TEXT struct text entry = {.max = 512};
    if (!equals || equals == rule ||
            !text_fmt(&entry, "%.*s::%s", (int)(equals - rule), rule, equals + 1))
        return err_set(
                err, ERR_INPUT, "receiver.fetch.connect: \"%s\" is not host=address:port", rule);
    struct curl_slist *longer = curl_slist_append(getter->connect, text_cstr(&entry));
    if (!longer)
        return err_set(err, ERR_FATAL, "out of memory");
    getter->connect = longer;
    return true;
}

static void set_rules(struct getter *getter)
{
    CURL *easy = getter->easy;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); // none from the environment: it would be the peer
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // a slow resolver is not waited for
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)GETTER_TIME_MS);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)GETTER_CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_MAXFILESIZE, (long)GETTER_BODY_MAX);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, getter->why);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, getter);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, getter);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, is_over);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, getter);
    if (getter->options.ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, getter->options.ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (getter->connect)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, getter->connect);
}

static bool fill(struct getter *getter, struct err *err)
{
    for (size_t i = 0; i < getter->options.n_connect; i++)
        if (!add_connect(getter, getter->options.connect[i], err))
            return false;
    getter->easy = curl_easy_init();
    if (!getter->easy)
        return err_set(err, ERR_FATAL, "can't make a libcurl handle");
    set_rules(getter);
    return true;
}

struct getter *getter_new(const struct getter_options *options, struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(err, ERR_FATAL, "can't initialise libcurl");
        return NULL;
    }
    struct getter *getter = xcalloc(1, sizeof *getter);
    getter->options = *options;
    if (fill(getter, err))
        return getter;
    getter_free(getter);
    return NULL;
}

void getter_free(struct getter *getter)
{
    if (!getter)
        return;
    curl_easy_cleanup(getter->easy);
    curl_slist_free_all(getter->connect);
    free(getter);
}

// The host stands between "https://" and the next of ":/?"; the callers' rules allow no more.
static bool is_named(const struct getter *getter, const char *url)
{
    const char *host = strstr(url, "://");
    if (!host)
        return false;
    host += 3;
    size_t len = strcspn(host, ":/?#");
    for (size_t i = 0; i < getter->options.n_connect; i++) {
        const char *rule = getter->options.connect[i];
        if (strncmp(rule, host, len) == 0 && rule[len] == '=')
            return true;
    }
    return false;
}

static void keep_chain(struct getter *getter)
{
    struct curl_certinfo *info = NULL;
    if (curl_easy_getinfo(getter->easy, CURLINFO_CERTINFO, &info) != CURLE_OK || !info)
        return;
    for (int i = 0; i < info->num_of_certs; i++) {
        for (const struct curl_slist *row = info->certinfo[i]; row; row = row->next)
            if (strncmp(row->data, "Cert:", 5) == 0)
                text_fmt(&getter->reply->chain, "%s\n", row->data + 5);
    }
}

static enum getter_end end_of(struct getter *getter, CURLcode code, struct err *err)
{
    long status = 0;
    curl_easy_getinfo(getter->easy, CURLINFO_RESPONSE_CODE, &status);
    getter->reply->status = (int)status;
    bool too_large = code == CURLE_FILESIZE_EXCEEDED || code == CURLE_WRITE_ERROR;
    enum getter_end end = GETTER_OK;
    if (getter->bad_address && code != CURLE_OK)
        end = GETTER_ADDRESS;
    else if (too_large)
        end = GETTER_TOO_LARGE;
    else if (code != CURLE_OK)
        end = GETTER_UNREACHABLE;
    else if (status >= 300 && status < 400)
        end = GETTER_REDIRECT;
    else if (status != 200)
        end = GETTER_STATUS;
    if (end == GETTER_OK)
        return end;
    err_set(err, ERR_TEMP, "%s (status %ld): %s", getter_end_name(end), status,
            getter->why[0] ? getter->why : curl_easy_strerror(code));
    return end;
}

enum getter_end getter_get(
        struct getter *getter, const char *url, struct getter_reply *reply, struct err *err)
{
    text_init(&reply->body, GETTER_BODY_MAX);
    text_init(&reply->chain, GETTER_CHAIN_MAX);
    getter->reply = reply;
    getter->why[0] = '\0';
    getter->bad_address = false;
    getter->any_address = is_named(getter, url);
    curl_easy_setopt(getter->easy, CURLOPT_URL, url);
    CURLcode code = curl_easy_perform(getter->easy);
    enum getter_end end = end_of(getter, code, err);
    if (end == GETTER_OK)
        keep_chain(getter);
    getter->reply = NULL;
    return end;
}
