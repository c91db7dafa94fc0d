// Sources: scheme, secrets and their dates, what their events may say, and how long keys must live.
#include "common/config/check_verify.h"
#include "common/config/near.h"
#include "common/config/policy_made.h"

#include <stdio.h>

#define SAY(level, slot, beside, code, ...)                                                        \
    schema_diag(making->load, level, AT_SLOT(slot, beside), code, __VA_ARGS__)

// A duration for messages, in its largest whole unit.
struct shown_time {
    char text[32];
};

static struct shown_time show_time(int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    struct shown_time shown = {"0s"};
    for (size_t i = 0; i < ARRAY_LEN(units) && seconds > 0; i++) {
        if (seconds % units[i].seconds != 0)
            continue;
        snprintf(shown.text, sizeof shown.text, "%lld%c", (long long)(seconds / units[i].seconds),
                units[i].unit);
        break;
    }
    return shown;
}

static bool dates_overlap(const struct secret *a, const struct secret *b)
{
    bool before = a->until && b->from && a->until <= b->from;
    bool after = b->until && a->from && b->until <= a->from;
    return !before && !after;
}

static void check_secret(const struct making *making, const struct source *source, size_t at)
{
    const struct secret *secret = &source->secrets[at];
    if (!secret->credential)
        return;
    if (secret->until && secret->from >= secret->until)
        SAY(DIAG_ERROR, &secret->until, &secret->credential, "secret-dates",
                "the secret ends before it begins");
    for (size_t i = 0; i < at; i++) {
        const struct secret *other = &source->secrets[i];
        if (other->credential && strcmp(other->credential, secret->credential) == 0 &&
                dates_overlap(other, secret))
            SAY(DIAG_ERROR, &secret->credential, NULL, "secret-overlap",
                    "credential '%s' is listed twice for the same time", secret->credential);
    }
}

// After this secret's end: does another carry on, or is there a later one with a hole before it?
static void check_gap(const struct making *making, const struct source *source, size_t at)
{
    const struct secret *secret = &source->secrets[at];
    bool carried_on = secret->until == 0, later = false;
    for (size_t i = 0; i < source->n_secrets; i++) {
        const struct secret *other = &source->secrets[i];
        bool outlives = other->until == 0 || other->until > secret->until;
        carried_on |= i != at && outlives && other->from <= secret->until;
        later |= i != at && other->from > secret->until;
    }
    if (!carried_on && later)
        SAY(DIAG_WARNING, &secret->until, &secret->credential, "secret-gap",
                "after this day '%s' has no live secret until the next one begins", source->name);
}

// The time of the check says so, which no stored version is asked.
static void check_ended(const struct making *making, const struct secret *secrets, size_t n,
        const char *owner, const char *then)
{
    const struct secret *last = secrets;
    int64_t now_s = making->known->now_s;
    for (size_t i = 0; i < n; i++) {
        const struct secret *secret = &secrets[i];
        if (secret->until == 0 || secret->until > now_s)
            return;
        if (secret->until > last->until)
            last = secret;
    }
    if (n && now_s)
        SAY(DIAG_WARNING, &last->until, &last->credential, "secret-ended",
                "the last secret of '%s' has ended: %s", owner, then);
}

// A program that knows no schemes (the dispatcher) demands nothing: all was checked when the
// version was applied.
static enum policy_keys keys_of(const struct making *making, const struct source *source)
{
    if (!making->known->keys)
        return KEYS_ANYBODY;
    return source->scheme ? making->known->keys(source->scheme) : KEYS_SECRETS;
}

static void check_secrets(const struct making *making, const struct source *source)
{
    const struct yaml_node *list = schema_where(making->load, &source->secrets);
    if (source->n_secrets == 0 && keys_of(making, source) == KEYS_SECRETS &&
            (!list || list->kind == YAML_LIST))
        SAY(DIAG_ERROR, &source->secrets, &source->name, "no-secret", "source '%s' has no secret",
                source->name);
    for (size_t i = 0; i < source->n_secrets; i++) {
        check_secret(making, source, i);
        check_gap(making, source, i);
    }
    if (keys_of(making, source) == KEYS_SECRETS)
        check_ended(making, source->secrets, source->n_secrets, source->name,
                "all that is sent there is refused; add the provider's newer one");
}

static void report_scheme(const struct making *making, const struct source *source)
{
    const struct policy_known *known = making->known;
    struct near near = {0};
    AUTO_TEXT struct text all;
    text_init(&all, LIST_MAX);
    for (size_t i = 0; known->scheme_at && known->scheme_at(i); i++) {
        bool active = false;
        near_offer(&near, source->scheme, known->scheme_at(i));
        if (known->scheme(known->scheme_at(i), &active) && active)
            text_fmt(&all, "%s%s", all.len ? ", " : "", known->scheme_at(i));
    }
    policy_report_unknown(making, &source->scheme, "scheme",
            &(struct unknown){source->scheme, near.best, text_cstr(&all)});
}

static void check_scheme(const struct making *making, struct source *source)
{
    source->active = true;
    if (!making->known->scheme || !source->scheme)
        return;
    if (making->known->scheme_row)
        source->scheme_row = making->known->scheme_row(source->scheme);
    if (!making->known->scheme(source->scheme, &source->active)) {
        source->active = false;
        report_scheme(making, source);
    } else if (!source->active) {
        SAY(DIAG_INACTIVE, &source->scheme, NULL, "inactive",
                "not active yet: scheme '%s': source '%s' takes nothing in", source->scheme,
                source->name);
    }
}

static void check_rule(const struct making *making, const struct event_rule *rule)
{
    bool moves = rule->by || rule->n_map || schema_where(making->load, &rule->to);
    bool notifies = schema_where(making->load, &rule->notify) != NULL;
    if (!moves && !notifies)
        SAY(DIAG_ERROR, &rule->type, NULL, "event-rule",
                "event '%s' has neither 'to' nor 'notify': leave it out to store it unmapped",
                rule->type);
    bool of_order = schema_where(making->load, &rule->order) != NULL;
    if (moves && !of_order)
        SAY(DIAG_ERROR, rule->by ? (const void *)&rule->by : &rule->to, &rule->type, "event-rule",
                "'to' needs 'order', which says where the order's id is");
    if (!moves && of_order && notifies)
        SAY(DIAG_ERROR, &rule->order, NULL, "event-rule",
                "'order' without 'to' means nothing: an event that only notifies needs no order");
    if (!moves && rule->sequence)
        SAY(DIAG_ERROR, &rule->sequence, NULL, "event-rule", "'sequence' needs 'to'");
}

static void check_horizon(const struct making *making, const struct source *source)
{
    const struct policy *policy = &making->made->policy;
    int64_t horizon = making->known->horizon_s && source->scheme
                              ? making->known->horizon_s(source->scheme)
                              : 0;
    if (policy->keep_keys_s >= horizon)
        return;
    SAY(DIAG_ERROR, &policy->keep_keys_s, &source->scheme, "keep-too-short",
            "keep.keys: %s is shorter than the %s over which '%s' may repeat an event (source "
            "'%s')",
            show_time(policy->keep_keys_s).text, show_time(horizon).text, source->scheme,
            source->name);
}

static void check_url(const struct making *making, const struct source *source)
{
    bool needed =
            source->scheme && making->known->signs_url && making->known->signs_url(source->scheme);
    if (needed && !schema_where(making->load, &source->public_url))
        SAY(DIAG_ERROR, &source->scheme, &source->name, "public-url",
                "scheme '%s' needs 'public_url': the provider signs the URL that it was given",
                source->scheme);
    if (needed && source->public_url && strpbrk(source->public_url, "?#"))
        SAY(DIAG_ERROR, &source->public_url, NULL, "public-url",
                "public_url must end with its path: the query is taken from the request");
}

// What takes the place of secrets, or stands beside them.
static void check_published(const struct making *making, const struct source *source)
{
    enum policy_keys keys = keys_of(making, source);
    if (!making->known->keys || !source->scheme)
        return;
    if (keys == KEYS_TOPICS && source->n_topics == 0)
        SAY(DIAG_ERROR, &source->scheme, &source->name, "topics",
                "scheme '%s' needs 'topics': it signs for every account, so anybody could send "
                "here",
                source->scheme);
    if (keys != KEYS_TOPICS && source->n_topics)
        SAY(DIAG_ERROR, &source->topics, &source->name, "topics",
                "'topics' means nothing to scheme '%s'", source->scheme);
    if (keys == KEYS_SET && !source->jwks && source->n_secrets == 0)
        SAY(DIAG_ERROR, &source->scheme, &source->name, "jwks",
                "scheme '%s' needs 'jwks', the URL of the provider's key set, or a secret whose "
                "file holds the public key (PEM, JWK or JWKS)",
                source->scheme);
    if (keys != KEYS_SET && source->jwks)
        SAY(DIAG_ERROR, &source->jwks, &source->name, "jwks", "'jwks' means nothing to scheme '%s'",
                source->scheme);
}

static void check_token(const struct making *making, const struct source *source)
{
    bool jwt = source->scheme && strcmp(source->scheme, "jwt") == 0;
    if (jwt && !source->token)
        SAY(DIAG_ERROR, &source->scheme, &source->name, "token",
                "scheme jwt needs 'token', which says where the token is and what binds the body");
    if (!jwt && source->scheme && source->token)
        SAY(DIAG_ERROR, &source->token->algorithm, &source->name, "token",
                "'token' is for scheme jwt only; scheme '%s' knows its own", source->scheme);
    if (jwt && source->token && source->token->algorithm == JWT_HS256 && source->n_secrets == 0)
        SAY(DIAG_ERROR, &source->token->algorithm, &source->name, "token",
                "HS256 is made with a shared secret: name it in 'secrets'");
}

static void check_handshake(const struct making *making, const struct source *source)
{
    bool needed = source->scheme && making->known->handshake_token &&
                  making->known->handshake_token(source->scheme);
    if (needed && !source->handshake_token.credential)
        SAY(DIAG_WARNING, &source->scheme, &source->name, "handshake-token",
                "scheme '%s' answers its handshake only with `handshake: { token: .. }`: the "
                "provider can't confirm this endpoint",
                source->scheme);
}

// Whose receipts they are must be known, and be of the channel that is named.
static void check_receipts(const struct making *making, const struct source *source)
{
    const struct policy_known *known = making->known;
    if (!source->receipts && source->provider)
        SAY(DIAG_ERROR, &source->provider, &source->name, "receipts",
                "'provider' says whose receipts these are: it needs 'receipts: CHANNEL'");
    if (!source->receipts || !source->scheme || !known->receipts_of || !known->receipts_channel)
        return;
    const char *provider = source->provider ? source->provider : known->receipts_of(source->scheme);
    enum channel_kind channel = provider ? known->receipts_channel(provider) : CHANNEL_NONE;
    if (!provider)
        SAY(DIAG_ERROR, &source->receipts, &source->scheme, "receipts",
                "receipts: scheme '%s' does not say whose they are: add 'provider', e.g. sinch",
                source->scheme);
    else if (channel == CHANNEL_NONE)
        SAY(DIAG_ERROR, &source->provider, &source->receipts, "receipts",
                "provider: receipts of '%s' can't be read; twilio, sinch, vonage, telnyx, "
                "sendgrid, postmark, resend and ses can",
                provider);
    else if (strcmp(channel_name(channel), source->receipts) != 0)
        SAY(DIAG_ERROR, &source->receipts, &source->scheme, "receipts",
                "receipts: those of %s are of channel %s", provider, channel_name(channel));
}

static void check_source(const struct making *making, struct source *source)
{
    bool is_map =
            source->n_secrets || source->n_events || schema_where(making->load, &source->scheme);
    if (!is_map)
        return; // told already
    check_scheme(making, source);
    policy_check_verify(making, source);
    check_secrets(making, source);
    check_url(making, source);
    check_published(making, source);
    check_token(making, source);
    check_handshake(making, source);
    check_horizon(making, source);
    check_receipts(making, source);
    for (size_t i = 0; i < source->n_events; i++) {
        if (source->events[i].type)
            check_rule(making, &source->events[i]);
    }
    if (source->n_events == 0 && !schema_where(making->load, &source->receipts))
        SAY(DIAG_WARNING, &source->events, &source->name, "no-events",
                "source '%s' has no events: all it sends is stored and moves nothing",
                source->name);
}

void policy_check_sources(const struct making *making)
{
    struct policy *policy = &making->made->policy;
    for (size_t i = 0; i < policy->n_sources; i++) {
        if (policy->sources[i].name)
            check_source(making, &policy->sources[i]);
    }
    check_ended(making, policy->unsubscribe.secrets, policy->unsubscribe.n_secrets, "unsubscribe",
            "no mail that carries the link can be made; add a newer one");
    if (policy->keep_bodies_s > policy->keep_keys_s)
        SAY(DIAG_ERROR, &policy->keep_bodies_s, &policy->keep_keys_s, "keep",
                "keep.bodies: %s is longer than keep.keys, %s",
                show_time(policy->keep_bodies_s).text, show_time(policy->keep_keys_s).text);
}
