#include "dispatcher/send/smtp.h"

#include "dispatcher/send/mime.h"

#include <ctype.h>
#include <stdio.h>

#define URL_MAX 600

void smtp_request_fini(struct smtp_request *request)
{
    free(request->url);
    free(request->mail_from);
    free(request->rcpt);
    text_fini(&request->wire);
    inlays_fini(&request->inlays);
    *request = (struct smtp_request){0};
}

// Where the host begins and ends in scheme://host:port/..; brackets of an IPv6 address included.
static struct slice url_host(const char *url)
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    size_t len = *start == '[' ? strcspn(start, "]") + 1 : strcspn(start, ":/");
    return (struct slice){(const unsigned char *)start, len};
}

static bool is_loopback(struct slice host)
{
    AUTO_FREE char *name = slice_dup(host);
    if (strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0)
        return true;
    return strncmp(name, "127.", 4) == 0 && strspn(name, "0123456789.") == host.len;
}

static bool build_url(
        const struct provider *provider, const char *ehlo_name, char **ret_url, struct err *err)
{
    const char *url = provider->url;
    if (!url || (strncmp(url, "smtp://", 7) != 0 && strncmp(url, "smtps://", 8) != 0) ||
            strpbrk(url, "\r\n@ ?#"))
        return err_set(err, ERR_FATAL, "the provider's url is not smtp:// or smtps://");
    if (provider->plain && !is_loopback(url_host(url)))
        return err_set(err, ERR_FATAL, "mail without TLS goes only to loopback");
    // The path of the URL is the name that libcurl says in EHLO.
    struct slice host = url_host(url);
    bool named = strchr((const char *)host.ptr, '/') != NULL;
    char out[URL_MAX];
    int n = snprintf(out, sizeof out, "%s%s%s", url, named ? "" : "/", named ? "" : ehlo_name);
    if (n < 0 || (size_t)n >= sizeof out)
        return err_set(err, ERR_FATAL, "the provider's url is too long");
    *ret_url = xstrdup(out);
    return true;
}

// RFC 5321 4.5.2: a dot at the start of a line is doubled; then the end of data. Inlays are whole
// lines, and move with the text before them.
static bool stuff(struct slice message, struct text *out, struct inlays *inlays)
{
    bool at_start = true;
    size_t laid = 0;
    for (size_t i = 0; i < message.len; i++) {
        while (inlays_moved(inlays, &laid, i, out->len))
            continue;
        if (at_start && message.ptr[i] == '.' && !text_char(out, '.'))
            return false;
        if (!text_char(out, (char)message.ptr[i]))
            return false;
        at_start = message.ptr[i] == '\n';
    }
    return text_str(out, ".\r\n");
}

static bool build_wire(const struct content *content, const struct mailbox *from,
        const struct mailbox *to, struct smtp_request *request, struct err *err)
{
    AUTO_TEXT struct text message;
    text_init(&message, MIME_MESSAGE_MAX);
    if (!mime_build(content, from, to, &message, &request->inlays, err))
        return false;
    request->size = message.len + inlays_size(&request->inlays);
    text_init(&request->wire, MIME_MESSAGE_MAX * 2);
    return stuff(text_slice(&message), &request->wire, &request->inlays) ||
           err_set(err, ERR_INPUT, "the message is too large");
}

#define AUTO_MAILBOX __attribute__((cleanup(mailbox_fini)))

bool smtp_build(const struct content *content, const struct provider *provider,
        domain_to_ascii_fn *to_ascii, struct smtp_request *ret_request,
        enum failure_level *ret_level, struct err *err)
{
    AUTO_MAILBOX struct mailbox from = {0};
    AUTO_MAILBOX struct mailbox to = {0};
    *ret_level = LEVEL_MESSAGE;
    if (!mailbox_parse(slice_of(content->from), to_ascii, &from, err))
        return err_prefix(err, "from");
    *ret_level = LEVEL_ADDRESS;
    if (!mailbox_parse(slice_of(content->to), to_ascii, &to, err))
        return err_prefix(err, "to");
    __attribute__((cleanup(smtp_request_fini))) struct smtp_request request = {0};
    *ret_level = LEVEL_PROVIDER;
    if (!build_url(provider, from.address + from.domain, &request.url, err))
        return false;
    *ret_level = LEVEL_MESSAGE;
    if (!build_wire(content, &from, &to, &request, err))
        return false;
    request.sender_utf8 = mailbox_needs_utf8(&from);
    request.needs_utf8 = request.sender_utf8 || mailbox_needs_utf8(&to);
    request.mail_from = steal(&from.address);
    request.rcpt = steal(&to.address);
    *ret_request = request;
    request = (struct smtp_request){0};
    return true;
}

struct key smtp_identity(const struct provider *provider, const char *url)
{
    struct slice parts[] = {
            slice_of(url),
            slice_of(provider->user),
            provider->password.value,
            slice_of(provider->ca),
            provider->plain ? SLICE("plain") : SLICE("tls"),
    };
    return key_derive(parts, ARRAY_LEN(parts));
}

struct verdict {
    enum attempt_outcome outcome;
    enum failure_level level;
};

static bool enhanced_begins(const struct smtp_reply *reply, const char *rest)
{
    return reply->enhanced[0] && strncmp(reply->enhanced + 1, rest, strlen(rest)) == 0;
}

// x.7.20 to x.7.29 (RFC 7372 and later): SPF, DKIM or our host's name in DNS did not pass.
static bool is_about_authentication(const struct smtp_reply *reply)
{
    return enhanced_begins(reply, ".7.2") && strlen(reply->enhanced) == strlen("5.7.26");
}

// Does the refusal speak of us, not of this mail? Sign-in demanded or failed, the service going
// down, its own resources short.
static bool is_about_provider(const struct smtp_reply *reply, enum smtp_phase phase)
{
    switch (reply->code) {
    case 421: // RFC 5321 3.8: closing, at any point
    case 530:
    case 534:
    case 535:
    case 538:
        return true;
    case 452:
        // Out of storage or over quota; with an address code it is the mailbox that is full.
        return !enhanced_begins(reply, ".1.") && !enhanced_begins(reply, ".2.");
    default:
        break;
    }
    // RFC 3463 3.4 and 3.5: x.3.x is the mail system's state but for 3.4 (too big for it),
    // x.4.x routing.
    if (reply->code < 500 && (enhanced_begins(reply, ".3.") || enhanced_begins(reply, ".4.")))
        return true;
    // The sender is the same for all our mail.
    return phase == SMTP_MAIL || is_about_authentication(reply);
}

static bool is_too_big(const struct smtp_reply *reply)
{
    return reply->code == 552 || enhanced_begins(reply, ".3.4") || enhanced_begins(reply, ".2.3");
}

static enum failure_level refusal_level(const struct smtp_reply *reply, enum smtp_phase phase)
{
    if (reply->code >= 500 && enhanced_begins(reply, ".2.3"))
        return LEVEL_MESSAGE; // longer than this mailbox takes
    if (enhanced_begins(reply, ".1.") || enhanced_begins(reply, ".2."))
        return LEVEL_ADDRESS;
    // Policy and spam (x.7.x) speak of what is sent, not of who gets it: no reason to suppress the
    // recipient.
    if (phase == SMTP_RCPT && !enhanced_begins(reply, ".7."))
        return LEVEL_ADDRESS;
    return LEVEL_MESSAGE;
}

static struct verdict by_reply(const struct smtp_reply *reply, enum smtp_phase phase)
{
    int class = reply->code / 100;
    bool too_big = class == 5 && phase >= SMTP_MAIL && is_too_big(reply);
    if (phase == SMTP_CONNECT)
        return (struct verdict){ATTEMPT_RETRY, LEVEL_PROVIDER};
    if (class == 2 && phase == SMTP_END_OF_DATA)
        return (struct verdict){ATTEMPT_ACCEPTED, LEVEL_MESSAGE};
    if (class != 4 && class != 5)
        return (struct verdict){
                phase >= SMTP_BODY ? ATTEMPT_UNKNOWN : ATTEMPT_RETRY, LEVEL_PROVIDER};
    if (!too_big && is_about_provider(reply, phase))
        return (struct verdict){ATTEMPT_RETRY, LEVEL_PROVIDER};
    return (struct verdict){
            class == 5 ? ATTEMPT_REFUSED : ATTEMPT_RETRY, refusal_level(reply, phase)};
}

static struct verdict judge(const struct smtp_facts *facts)
{
    if (facts->end == SMTP_REPLY)
        return by_reply(facts->reply, facts->phase);
    if (facts->end == SMTP_NO_UTF8)
        return (struct verdict){ATTEMPT_REFUSED, LEVEL_ADDRESS};
    // The recipient is not to blame, and the sender is the same for all our mail.
    if (facts->end == SMTP_NO_UTF8_SENDER)
        return (struct verdict){ATTEMPT_RETRY, LEVEL_PROVIDER};
    // RFC 1047: all of it went out and no answer came. The peer may have it.
    if (facts->phase == SMTP_END_OF_DATA)
        return (struct verdict){ATTEMPT_UNKNOWN, LEVEL_MESSAGE};
    // Without the final dot no server may deliver (RFC 5321 4.1.1.4); what is not SMTP is not
    // bound by that.
    if (facts->end == SMTP_GARBLED && facts->phase == SMTP_BODY)
        return (struct verdict){ATTEMPT_UNKNOWN, LEVEL_MESSAGE};
    return (struct verdict){ATTEMPT_RETRY, LEVEL_PROVIDER};
}

static const char *const end_texts[] = {
        [SMTP_REPLY] = "",
        [SMTP_CLOSED] = "connection lost",
        [SMTP_TIMEOUT] = "no answer in time",
        [SMTP_NO_ROUTE] = "can't connect",
        [SMTP_NO_TLS] = "no trusted TLS",
        [SMTP_NO_AUTH] = "sign-in failed",
        [SMTP_NO_UTF8] = "the server can't take a non-ASCII address",
        [SMTP_NO_UTF8_SENDER] = "the server can't take a non-ASCII sender",
        [SMTP_GARBLED] = "the answer is not SMTP",
        [SMTP_ABORTED] = "cut off at shutdown",
};

static const char *const phase_texts[] = {
        [SMTP_CONNECT] = "while connecting",
        [SMTP_MAIL] = "at MAIL FROM",
        [SMTP_RCPT] = "at RCPT TO",
        [SMTP_DATA] = "at DATA",
        [SMTP_BODY] = "in the body, before the final dot",
        [SMTP_END_OF_DATA] = "after the final dot: may have been taken",
        [SMTP_RESET] = "",
        [SMTP_IDLE] = "",
};

static void describe(const struct smtp_facts *facts, struct attempt_result *result)
{
    const char *said = facts->reply->text;
    if (facts->end == SMTP_REPLY || (facts->phase == SMTP_CONNECT && facts->reply->code >= 400))
        snprintf(result->detail, sizeof result->detail, "%s", said);
    else
        snprintf(result->detail, sizeof result->detail, "%s %s%s%.100s", end_texts[facts->end],
                phase_texts[facts->phase], facts->why ? ": " : "", facts->why ? facts->why : "");
}

// Postfix and others: "250 2.0.0 Ok: queued as 4Xyz"; what they name is what their log knows.
static void find_provider_id(const struct smtp_reply *reply, struct attempt_result *result)
{
    static const char mark[] = "queued as ";
    const char *found = strcasestr(reply->text, mark);
    if (!found)
        return;
    found += sizeof mark - 1;
    size_t len = strcspn(found, " ;,)");
    if (len < sizeof result->provider_id)
        snprintf(result->provider_id, sizeof result->provider_id, "%.*s", (int)len, found);
}

void smtp_classify(const struct smtp_facts *facts, struct attempt_result *result)
{
    struct verdict verdict = judge(facts);
    result->outcome = verdict.outcome;
    result->level = verdict.level;
    result->code = facts->reply->code;
    snprintf(result->enhanced, sizeof result->enhanced, "%s", facts->reply->enhanced);
    result->provider_id[0] = '\0';
    describe(facts, result);
    if (result->outcome == ATTEMPT_ACCEPTED)
        find_provider_id(facts->reply, result);
}
