// Channels: which provider runs, and whether mail may leave without TLS.
#include "common/config/policy_made.h"
#include "common/config/value.h"

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

static void check_channel(const struct making *making, struct channel *channel)
{
    for (size_t i = 0; i < channel->n_providers; i++) {
        struct provider *provider = &channel->providers[i];
        provider->driver = DRIVER_OTHER;
        bool smtp = channel->kind == CHANNEL_EMAIL && provider->driver_name &&
                    strcmp(provider->driver_name, "smtp") == 0;
        if (smtp)
            check_smtp(making, provider);
        if (smtp && i > 0)
            SAY(DIAG_INACTIVE, &provider->driver_name, NULL, "inactive",
                    "not active yet: providers: only the first is used");
    }
    channel->active = channel->n_providers > 0 && channel->providers[0].driver == DRIVER_SMTP;
}

void policy_check_channels(const struct making *making)
{
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++)
        check_channel(making, &making->made->policy.channels[kind]);
}
