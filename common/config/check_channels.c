// Channels: which provider runs, and whether mail may leave without TLS.
#include "common/config/policy_made.h"
#include "common/config/value.h"

#include <stdio.h>

#define SAY(level, slot, beside, code, ...)                                                        \
    schema_diag(making->load, level, AT_SLOT(slot, beside), code, __VA_ARGS__)

static void decide_tls(
        const struct making *making, struct provider *provider, const struct value_smtp_url *url)
{
    bool loopback = value_is_loopback(url->host);
    int tls = provider->tls;
    if (url->implicit_tls && tls != TLS_UNSAID && tls != TLS_IMPLICIT)
        SAY(DIAG_ERROR, &provider->tls, &provider->url, "smtp-tls",
                "tls: smtps:// is implicit TLS; leave the key out");
    if (!url->implicit_tls && tls == TLS_IMPLICIT)
        SAY(DIAG_ERROR, &provider->tls, &provider->url, "smtp-tls",
                "tls: implicit TLS is written smtps:// in the url");
    if (!loopback && tls == TLS_NONE)
        SAY(DIAG_ERROR, &provider->tls, &provider->url, "smtp-tls",
                "tls: none is for this machine only: mail and login would cross the network "
                "readable");
    provider->plain = !url->implicit_tls && loopback && tls != TLS_STARTTLS;
    provider->starttls = !url->implicit_tls && !provider->plain;
}

// The URL may carry a password by mistake, so it is not repeated.
static void refuse_url(
        const struct making *making, const struct provider *provider, const char *why)
{
    AUTO_TEXT struct text text;
    text_init(&text, DIAG_TEXT_MAX);
    text_fmt(&text, "url: %s", why);
    yaml_diag_secret(
            making->diag, schema_where(making->load, &provider->url), "smtp-url", text_cstr(&text));
}

static void check_smtp(const struct making *making, struct provider *provider)
{
    provider->driver = DRIVER_SMTP;
    struct value_smtp_url url;
    const char *why = NULL;
    if (provider->url && !value_smtp_url(slice_of(provider->url), &url, &why))
        refuse_url(making, provider, why);
    else if (provider->url)
        decide_tls(making, provider, &url);
    if (provider->user && !provider->password.credential)
        SAY(DIAG_ERROR, &provider->user, NULL, "smtp-login", "'user' needs 'password'");
    if (!provider->user && provider->password.credential)
        SAY(DIAG_ERROR, &provider->password.credential, NULL, "smtp-login",
                "'password' needs 'user'");
}

// What the API's base must not be, so that a token never crosses a network readable.
static void check_http(const struct making *making, struct provider *provider)
{
    provider->driver = DRIVER_HTTP;
    const char *url = provider->url;
    if (!url || strncmp(url, "http://", 7) != 0)
        return;
    const char *host = url + 7;
    bool brackets = *host == '[';
    size_t len = brackets ? strcspn(host, "]") - 1 : strcspn(host, ":/?");
    if (!value_is_loopback((struct slice){(const unsigned char *)host + brackets, len}))
        SAY(DIAG_ERROR, &provider->url, NULL, "provider-url",
                "url: http:// is for this machine only: messages and token would cross the "
                "network readable");
}

// RFC 8292 2.1: how the push services reach who sends.
static void check_webpush(const struct making *making, struct provider *provider)
{
    provider->driver = DRIVER_HTTP;
    const char *subject = provider->subject;
    if (subject && strncmp(subject, "mailto:", 7) != 0 && strncmp(subject, "https://", 8) != 0)
        SAY(DIAG_ERROR, &provider->subject, NULL, "webpush-subject",
                "subject: begins with mailto: or https://, by which the push services reach you");
}

// By name what runs; dispatcher/send/providers.c has the same names (a test compares them).
static const struct {
    enum channel_kind channel;
    const char *name;
    void (*check)(const struct making *making, struct provider *provider);
} running[] = {
        {CHANNEL_EMAIL, "smtp", check_smtp},
        {CHANNEL_EMAIL, "resend", check_http},
        {CHANNEL_EMAIL, "postmark", check_http},
        {CHANNEL_EMAIL, "sendgrid", check_http},
        {CHANNEL_EMAIL, "ses", check_http},
        {CHANNEL_SMS, "twilio", check_http},
        {CHANNEL_SMS, "sinch", check_http},
        {CHANNEL_SMS, "vonage", check_http},
        {CHANNEL_SMS, "telnyx", check_http},
        {CHANNEL_SMS, "http", check_http},
        {CHANNEL_PUSH, "apns", check_http},
        {CHANNEL_PUSH, "fcm", check_http},
        {CHANNEL_PUSH, "webpush", check_webpush},
};

static void check_driver(
        const struct making *making, enum channel_kind channel, struct provider *provider)
{
    provider->driver = DRIVER_OTHER;
    if (provider->driver_name && strcmp(provider->driver_name, "http") == 0)
        policy_check_gateway(making, provider);
    for (size_t i = 0; i < ARRAY_LEN(running) && provider->driver_name; i++)
        if (running[i].channel == channel && strcmp(running[i].name, provider->driver_name) == 0)
            running[i].check(making, provider);
}

const struct provider *channel_provider(const struct channel *channel)
{
    for (size_t i = 0; i < channel->n_providers; i++)
        if (channel->providers[i].driver != DRIVER_OTHER)
            return &channel->providers[i];
    return NULL;
}

bool provider_takes(const struct provider *provider, enum channel_kind channel, const char *target)
{
    if (provider->driver == DRIVER_OTHER || channel != CHANNEL_PUSH)
        return provider->driver != DRIVER_OTHER;
    size_t len = strlen(provider->driver_name);
    return strncmp(target, provider->driver_name, len) == 0 && target[len] == '-';
}

static bool is_taken(const struct channel *channel, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (channel->providers[i].name && strcmp(channel->providers[i].name, name) == 0)
            return true;
    return false;
}

// The driver's own name, or the first of `smtp-2`, `smtp-3`, .. that is free.
static void name_provider(struct channel *channel, size_t i)
{
    struct provider *provider = &channel->providers[i];
    char name[64];
    snprintf(name, sizeof name, "%s", provider->driver_name);
    for (unsigned n = 2; is_taken(channel, channel->n_providers, name); n++)
        snprintf(name, sizeof name, "%.40s-%u", provider->driver_name, n);
    provider->name = xstrdup(name);
}

static void check_names(const struct making *making, struct channel *channel)
{
    for (size_t i = 0; i < channel->n_providers; i++) {
        const struct provider *provider = &channel->providers[i];
        if (provider->name && is_taken(channel, i, provider->name))
            SAY(DIAG_ERROR, &provider->name, NULL, "provider-name",
                    "name: another provider of this channel is called '%s'", provider->name);
    }
    for (size_t i = 0; i < channel->n_providers; i++)
        if (!channel->providers[i].name && channel->providers[i].driver_name)
            name_provider(channel, i);
}

static void check_channel(const struct making *making, struct channel *channel)
{
    for (size_t i = 0; i < channel->n_providers; i++) {
        struct provider *provider = &channel->providers[i];
        check_driver(making, channel->kind, provider);
    }
    check_names(making, channel);
    channel->active = channel_provider(channel) != NULL;
}

void policy_check_channels(const struct making *making)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        check_channel(making, &making->made->policy.channels[kind]);
}
