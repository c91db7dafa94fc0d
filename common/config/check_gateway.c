// Driver `http`: the request to a gateway, as the admin describes it. What it says wrongly would be
// found with the first message only.
#include "common/config/near.h"
#include "common/config/policy_made.h"
#include "common/json/scan.h"

#include <ctype.h>

#define SAY(level, slot, beside, code, ...)                                                        \
    schema_diag(making->load, level, AT_SLOT(slot, beside), code, __VA_ARGS__)

#define IN_BRACES(name_) "{" #name_ "}",
static const char *const placeholders[] = {GATEWAY_PLACEHOLDERS(IN_BRACES)};

struct checking {
    const struct making *making;
    const struct provider *provider;
    bool used[ARRAY_LEN(placeholders)];
};

// The index of the placeholder that text begins with; -1 = none.
static int placeholder_at(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++) {
        if (strncmp(text, placeholders[i], strlen(placeholders[i])) == 0)
            return (int)i;
    }
    return -1;
}

// "{name}" -> its length; 0 for the other braces that JSON and texts may have.
static size_t name_in_braces(const char *text)
{
    size_t n = 1;
    if (!isalpha((unsigned char)text[n]))
        return 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.')
        n++;
    return text[n] == '}' && n < NEAR_WORD_MAX ? n + 1 : 0;
}

static void report(const struct checking *checking, const void *slot, const char *text, size_t len)
{
    const struct making *making = checking->making;
    struct near near = {0};
    AUTO_FREE char *given = slice_dup((struct slice){(const unsigned char *)text, len});
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
        near_offer(&near, given, placeholders[i]);
    if (near.best)
        SAY(DIAG_ERROR, slot, NULL, "placeholder", "there is no placeholder %s; did you mean %s?",
                given, near.best);
    else
        SAY(DIAG_ERROR, slot, NULL, "placeholder",
                "there is no placeholder %s: there are {to}, {from}, {text}, {key}, {coding} and "
                "{token}",
                given);
}

static void check_value(struct checking *checking, const void *slot, const char *value)
{
    const struct making *making = checking->making;
    for (const char *at = value; at && (at = strchr(at, '{')) != NULL; at++) {
        int found = placeholder_at(at);
        size_t len = name_in_braces(at);
        bool twice = at > value && at[-1] == '{' && len > 0 && at[len] == '}';
        if (found >= 0)
            checking->used[found] = true;
        if (twice)
            SAY(DIAG_ERROR, slot, NULL, "placeholder",
                    "'{%.*s}': a placeholder of a request stands in one pair of braces", (int)len,
                    at);
        else if (found < 0 && len > 0)
            report(checking, slot, at, len);
    }
}

static void check_pairs(struct checking *checking, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_value(checking, &pairs[i].value, pairs[i].value);
}

static bool is_number(const char *text)
{
    return text && *text && text[strspn(text, "0123456789")] == '\0';
}

// Values as long as their placeholders, so that places in the body stay true; digits where the
// value may be a number, which needs no quotes.
static void put_value(const struct checking *checking, char *at, const char *name)
{
    bool from = strcmp(name, "{from}") == 0;
    bool digits = strcmp(name, "{coding}") == 0 || strcmp(name, "{token}") == 0 ||
                  (from && is_number(checking->making->made->policy.channels[CHANNEL_SMS].from));
    memset(at, digits ? '1' : 'x', strlen(name));
}

static void check_json(const struct checking *checking, const struct gateway *gateway)
{
    const struct making *making = checking->making;
    struct err err = {0};
    AUTO_FREE char *body = xstrdup(gateway->json);
    for (char *at = body; (at = strchr(at, '{')) != NULL; at++) {
        int found = placeholder_at(at);
        if (found >= 0)
            put_value(checking, at, placeholders[found]);
    }
    if (!json_check(slice_of(body), &err))
        SAY(DIAG_ERROR, &gateway->json, NULL, "provider-json",
                "%s, with the values in it; placeholders go inside of strings", err.msg);
}

// A gateway may know by itself who gets its messages, or what they say.
static void check_told(const struct checking *checking)
{
    const struct making *making = checking->making;
    const struct provider *provider = checking->provider;
    static const struct {
        const char *name, *what;
    } needed[] = {{"{to}", "who gets the message"}, {"{text}", "what it says"}};
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        if (!checking->used[placeholder_at(needed[i].name)])
            SAY(DIAG_WARNING, &provider->url, NULL, "provider-request",
                    "no %s in url, headers, form or json: the gateway is not told %s",
                    needed[i].name, needed[i].what);
    }
    if (checking->used[placeholder_at("{token}")] && !provider->password.credential)
        SAY(DIAG_ERROR, &provider->url, NULL, "provider-request",
                "{token} stands for nothing here: name the secret, `token: credential:NAME`");
}

static void check_request(const struct making *making, const struct gateway *gateway)
{
    bool form = gateway->n_form > 0;
    if (gateway->json && form)
        SAY(DIAG_ERROR, &gateway->json, NULL, "provider-body",
                "request: 'json' or 'form', not both");
    else if ((gateway->json || form) && gateway->method && strcmp(gateway->method, "GET") == 0)
        SAY(DIAG_ERROR, &gateway->method, &gateway->json, "provider-body",
                "request: a GET has no body; write the values into the url");
    if (gateway->n_success > GATEWAY_SUCCESS_MAX)
        SAY(DIAG_ERROR, &gateway->success[GATEWAY_SUCCESS_MAX], &gateway->success,
                "provider-success", "success: at most %d statuses", GATEWAY_SUCCESS_MAX);
    if (gateway->id && strlen(gateway->id) > GATEWAY_ID_MAX)
        SAY(DIAG_ERROR, &gateway->id, NULL, "provider-id", "id: at most %d characters",
                GATEWAY_ID_MAX);
}

void policy_check_gateway(const struct making *making, const struct provider *provider)
{
    struct checking checking = {.making = making, .provider = provider};
    const struct gateway *gateway = provider->http;
    if (gateway)
        check_request(making, gateway);
    if (!making->known->is_new || !provider->url)
        return;
    check_value(&checking, &provider->url, provider->url);
    if (gateway) {
        check_pairs(&checking, gateway->headers, gateway->n_headers);
        check_pairs(&checking, gateway->form, gateway->n_form);
        check_value(&checking, &gateway->json, gateway->json);
    }
    if (gateway && gateway->json)
        check_json(&checking, gateway);
    check_told(&checking);
}
