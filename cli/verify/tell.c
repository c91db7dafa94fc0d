// What `pawl verify` found, for people and for programs.
#include "cli/inbox/advice.h"
#include "cli/schemes/words.h"
#include "cli/verify/verify.h"
#include "common/clock.h"
#include "common/json/scan.h"

bool verify_is_good(const struct verify_told *told)
{
    return told->handshake || (!told->coded && told->why->reason == VERIFY_OK);
}

static const char *reason_of(const struct verify_told *told)
{
    return told->coded ? told->coded : verify_reason_name(told->why->reason);
}

static const struct secret *matched(const struct verify_told *told)
{
    int index = told->why->secret_index;
    bool there = index >= 0 && (size_t)index < told->source->n_secrets;
    return there ? &told->source->secrets[index] : NULL;
}

static void add_time(struct text *out, int64_t at_s)
{
    char at[32];
    text_str(out, clock_rfc3339(at_s * 1000000, at));
}

static void tell_request(const struct verify_told *told, struct text *out)
{
    const struct saved *saved = told->saved;
    const struct verify_request *request = &saved->request;
    text_fmt(out, "source    %s, scheme %s\n", told->source->name, told->source->scheme);
    text_str(out, "request   ");
    text_add(out, request->method);
    text_char(out, ' ');
    text_add(out, request->target.len ? request->target : SLICE("(target not kept)"));
    text_fmt(out, ", %zu headers, %zu bytes of body\n", request->n_headers, request->body.len);
    if (saved->behind)
        text_fmt(out, "note      %zu bytes behind Content-Length are left out\n", saved->behind);
    if (saved->said_length != SIZE_MAX && request->body.len < saved->said_length)
        text_fmt(out,
                "note      the body is shorter than its Content-Length, %zu: it was cut or "
                "changed when it was saved\n",
                saved->said_length);
    if (saved->cut)
        text_str(out, "note      only the start of the body was kept: it can't be verified\n");
    if (saved->hidden)
        text_str(out, "note      headers that are secrets were not kept (sha256:..): what needs "
                      "them can't match\n");
    text_str(out, "judged    at ");
    add_time(out, request->now_s);
    text_char(out, '\n');
}

static void tell_time(const struct verify_told *told, struct text *out)
{
    const struct why *why = told->why;
    if (!why->has_time)
        return;
    int64_t age_s = told->saved->request.now_s - why->signed_s;
    text_str(out, "signed    at ");
    add_time(out, why->signed_s);
    text_str(out, ", ");
    write_duration(age_s < 0 ? -age_s : age_s, out);
    text_str(out, age_s < 0 ? " in the future; tolerance " : " ago; tolerance ");
    write_duration(age_s < 0 ? why->future_s : why->past_s, out);
    text_char(out, '\n');
}

static void tell_secrets(const struct verify_told *told, struct text *out)
{
    for (size_t i = 0; i < told->why->n_secrets; i++) {
        const struct why_secret *tried = &told->why->secrets[i];
        text_fmt(out, "secret    %s (%s", tried->secret->credential, why_state_name(tried->state));
        if (tried->state == WHY_EXPIRED || tried->state == WHY_EARLY) {
            text_char(out, ' ');
            add_time(out, tried->state == WHY_EARLY ? tried->secret->from : tried->secret->until);
        }
        text_fmt(out, "): %s\n", tried->matches ? "matches" : "no match");
    }
}

static void tell_findings(const struct verify_told *told, struct text *out)
{
    const struct why *why = told->why;
    for (size_t i = 0; i < why->n_findings; i++) {
        text_fmt(out, "matches   %s", why->findings[i].says);
        if (why->findings[i].credential)
            text_fmt(out, " (secret %s)", why->findings[i].credential);
        text_char(out, '\n');
    }
    bool none = why->n_findings == 0 && why->reason == VERIFY_NO_MATCH;
    for (size_t i = 0; i < why->n_secrets; i++)
        none &= !why->secrets[i].matches;
    if (none)
        text_str(out,
                "matches   nothing that was tried: other line ends, escapes and white space of "
                "the body, other forms of the secrets and their use, other sources' secrets, "
                "other schemes\n");
}

void verify_text(const struct verify_told *told, struct text *out)
{
    tell_request(told, out);
    bool good = verify_is_good(told);
    const struct secret *secret = matched(told);
    if (told->handshake)
        text_fmt(out, "verdict   a handshake (%s): it would be answered\n", told->handshake);
    else if (good && told->source->verify && told->source->verify->none)
        text_str(out, "verdict   taken without being verified: the policy says `verify: none`\n");
    else
        text_fmt(out, "verdict   %s%s\n",
                good ? "authentic" : "refused: ", good ? "" : reason_of(told));
    if (secret && good)
        text_fmt(out, "secret    %s\n", secret->credential);
    tell_time(told, out);
    if (good)
        return;
    if (told->why->header)
        text_fmt(out, "header    %s carries the signature\n", told->why->header);
    tell_secrets(told, out);
    tell_findings(told, out);
    const struct advice *advice = advice_of(slice_of(reason_of(told)));
    text_fmt(out, "means     %s\nnext      %s\n", advice->means, advice->next);
}

// --- JSON

static void member(struct text *out, const char *name, const char *value)
{
    text_fmt(out, ",\"%s\":", name);
    if (value)
        json_quote(out, slice_of(value));
    else
        text_str(out, "null");
}

static void json_tried(const struct why *why, struct text *out)
{
    text_str(out, ",\"tried\":[");
    for (size_t i = 0; i < why->n_secrets; i++) {
        text_fmt(
                out, "%s{\"matches\":%s", i ? "," : "", why->secrets[i].matches ? "true" : "false");
        member(out, "secret", why->secrets[i].secret->credential);
        member(out, "state", why_state_name(why->secrets[i].state));
        text_char(out, '}');
    }
    text_str(out, "],\"would_match\":[");
    for (size_t i = 0; i < why->n_findings; i++) {
        text_str(out, i ? ",{\"if\":" : "{\"if\":");
        json_quote(out, slice_of(why->findings[i].says));
        member(out, "secret", why->findings[i].credential);
        member(out, "source", why->findings[i].source);
        text_char(out, '}');
    }
    text_char(out, ']');
}

void verify_json(const struct verify_told *told, struct text *out)
{
    const struct why *why = told->why;
    const struct secret *secret = matched(told);
    text_fmt(out, "{\"authentic\":%s", verify_is_good(told) ? "true" : "false");
    member(out, "source", told->source->name);
    member(out, "scheme", told->source->scheme);
    member(out, "reason", reason_of(told));
    member(out, "handshake", told->handshake);
    member(out, "secret", secret ? secret->credential : NULL);
    text_fmt(out, ",\"judged_at_s\":%lld", (long long)told->saved->request.now_s);
    if (why->has_time)
        text_fmt(out, ",\"signed_at_s\":%lld,\"age_s\":%lld,\"past_s\":%lld,\"future_s\":%lld",
                (long long)why->signed_s, (long long)(told->saved->request.now_s - why->signed_s),
                (long long)why->past_s, (long long)why->future_s);
    json_tried(why, out);
    text_str(out, "}\n");
}
