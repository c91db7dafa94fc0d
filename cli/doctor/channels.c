// Channels: each provider is connected to and signed in at, and nothing is sent.
#include "cli/doctor/findings.h"
#include "common/clock.h"
#include "common/config/value.h"
#include "dispatcher/send/push.h"
#include "dispatcher/send/send.h"

#define CONNECT_MS 5000
#define REPLY_MS 5000
#define POLL_MS 200
#define PROBE_MS 20000 // in all; the transport's own limits come first

// A mail that could be sent, so that all that is checked before a try is checked here too.
static void fill(const struct channel *channel, struct delivery *delivery)
{
    char date[40];
    bool mail = channel->kind == CHANNEL_EMAIL;
    *delivery = (struct delivery){.channel = channel->kind, .probe = true};
    delivery->content = (struct content){.from = xstrdup(channel->from ? channel->from : ""),
            .to = xstrdup(mail ? "nobody@localhost.localdomain" : "+10000000000"),
            .subject = xstrdup("probe"),
            .text = xstrdup("probe"),
            .message_id = xstrdup("probe@localhost"),
            .date = xstrdup(clock_rfc5322(clock_now_s(), date))};
}

static void wait_for(struct transport *transport)
{
    int64_t end_ms = clock_mono_ms() + PROBE_MS;
    short ignored = 0;
    while (!transport_done(transport)) {
        if (clock_mono_ms() > end_ms)
            transport_abort(transport);
        transport_poll(transport, POLL_MS, -1, 0, &ignored);
    }
}

static void say_how_to_look(struct visit *visit, const struct provider *provider)
{
    struct value_smtp_url url;
    const char *why;
    if (!value_smtp_url(slice_of(provider->url), &url, &why))
        return;
    const char *host = strstr(provider->url, "://") + 3; // with the brackets of IPv6
    if (provider->plain)
        mend(visit, "curl -v '%s'", provider->url);
    else
        mend(visit, "openssl s_client -connect '%.*s%s'%s", (int)strcspn(host, "/"), host,
                url.port           ? ""
                : url.implicit_tls ? ":465"
                                   : ":25",
                url.implicit_tls ? "" : " -starttls smtp");
}

static void tell(struct visit *visit, const struct provider *provider, const char *channel,
        const struct attempt_result *result)
{
    const char *name = provider->url ? provider->url : provider->driver_name;
    if (result->outcome == ATTEMPT_ACCEPTED) {
        found(visit, FINDING_OK, "channels", "%s: %s lets us in, %lld ms", channel, name,
                (long long)result->wire_ms);
        return;
    }
    found(visit, FINDING_FAIL, "channels", "%s: %s: %s", channel, name, result->detail);
    if (provider->driver == DRIVER_SMTP)
        say_how_to_look(visit, provider);
}

// A GET to a gateway may be what sends, and a push service is known only with a browser's address.
static bool can_be_asked(const struct channel *channel, const struct provider *provider)
{
    bool gateway = channel->kind == CHANNEL_SMS && strcmp(provider->driver_name, "http") == 0;
    return !gateway && channel->kind != CHANNEL_PUSH;
}

static void probe(
        struct visit *visit, const struct channel *channel, const struct provider *provider)
{
    const struct transport_options options = {.transfers = 1,
            .connect_ms = CONNECT_MS,
            .reply_ms = REPLY_MS,
            .final_reply_ms = REPLY_MS};
    struct err err = {0};
    struct delivery delivery;
    struct transport *transport = transport_new(&options, &err);
    if (!transport) {
        found_err(visit, "channels", &err);
        return;
    }
    fill(channel, &delivery);
    if (transport_start(transport, channel, provider, NULL, &delivery, &err))
        wait_for(transport);
    tell(visit, provider, channel_name(channel->kind), &delivery.result);
    transport_free(transport);
    content_fini(&delivery.content);
}

// Can a token be made with the provider's key? It goes nowhere: Apple counts those that it sees.
static bool key_works(const struct provider *provider, struct err *err)
{
    AUTO_TEXT struct text token = {0};
    AUTO_HTTP_REQUEST struct http_request request = {0};
    text_init(&token, 16384);
    if (strcmp(provider->driver_name, "apns") == 0)
        return apns_token(provider->password.value, provider->team, provider->key_id, clock_now_s(),
                &token, err);
    return strcmp(provider->driver_name, "fcm") != 0 ||
           fcm_token_build(provider->password.value, clock_now_s(), &request, err);
}

static void visit_provider(
        struct visit *visit, const struct channel *channel, const struct provider *provider)
{
    struct err err = {0};
    if (can_be_asked(channel, provider))
        probe(visit, channel, provider);
    else if (!key_works(provider, &err))
        found(visit, FINDING_FAIL, "channels", "%s: %s: %s", channel_name(channel->kind),
                provider->name, err.msg);
    else
        found(visit, FINDING_OK, "channels", "%s: %s is not asked: that could send something",
                channel_name(channel->kind), provider->name);
}

void visit_channels(struct visit *visit)
{
    if (!visit->policy)
        return;
    for (int kind = CHANNEL_EMAIL; kind < CHANNEL_COUNT; kind++) {
        const struct channel *channel = &visit->policy->channels[kind];
        for (size_t i = 0; channel->active && i < channel->n_providers; i++)
            if (channel->providers[i].driver != DRIVER_OTHER)
                visit_provider(visit, channel, &channel->providers[i]);
    }
}
