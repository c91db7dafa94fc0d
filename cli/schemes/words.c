#include "cli/schemes/words.h"

#include "receiver/verify/handshake.h"

#define UNSAID "?"

static const char *word_of(const char *const words[], size_t n, size_t at)
{
    return at < n && words[at] ? words[at] : UNSAID;
}

const char *scheme_algorithm_words(enum scheme_algorithm algorithm)
{
    static const char *const words[] = {[HMAC_SHA1] = "HMAC-SHA1",
            [HMAC_SHA256] = "HMAC-SHA256",
            [HMAC_SHA512] = "HMAC-SHA512",
            [SIGN_ED25519] = "ed25519",
            [SIGN_ECDSA_P256] = "ECDSA on P-256 over SHA-256",
            [SIGN_RSA_SHA256] = "RSA over SHA-256"};
    return word_of(words, ARRAY_LEN(words), (size_t)algorithm);
}

const char *scheme_encoding_words(enum scheme_encoding encoding)
{
    static const char *const words[] = {[ENCODING_HEX_LOWER] = "lower-case hex",
            [ENCODING_HEX] = "hex",
            [ENCODING_BASE64] = "base64"};
    return word_of(words, ARRAY_LEN(words), (size_t)encoding);
}

const char *scheme_key_words(enum scheme_key key)
{
    static const char *const words[] = {[SECRET_VERBATIM] = "the secret as it stands",
            [SECRET_WHSEC] = "base64 behind an optional whsec_",
            [SECRET_HEX] = "hex",
            [SECRET_BASE64] = "base64",
            [SECRET_SHA1] = "the SHA-1 of the secret",
            [SECRET_NFKD] = "the secret in Unicode's form NFKD",
            [SECRET_PEM] = "PEM, or base64 of its DER form"};
    return word_of(words, ARRAY_LEN(words), (size_t)key);
}

bool scheme_runs(const struct scheme *row)
{
    return row && (row->kind != SCHEME_CODE || row->verify);
}

void write_duration(int64_t seconds, struct text *out)
{
    static const struct {
        int64_t seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    if (seconds < 600) {
        text_fmt(out, "%lld s", (long long)seconds);
        return;
    }
    const char *space = "";
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        bool whole = units[i].seconds != 86400 || seconds % 86400 == 0;
        if (seconds < units[i].seconds || !whole)
            continue;
        text_fmt(out, "%s%lld %s", space, (long long)(seconds / units[i].seconds), units[i].unit);
        seconds %= units[i].seconds;
        space = " ";
    }
}

// "a", "b" and "c"
static void write_list(const char *const list[], const char *last, struct text *out)
{
    for (size_t i = 0; list[i]; i++)
        text_fmt(out, "%s%s", i == 0 ? "" : list[i + 1] ? ", " : last, list[i]);
}

static bool is_row_of_engine(const struct scheme *row)
{
    return row->kind == SCHEME_HMAC;
}

// --- Where the signature is, and over what

// Where the signature or token stands.
static void write_place(const struct scheme *row, struct text *out)
{
    static const char *const tokens[] = {[TOKEN_HEADER] = "token in header ",
            [TOKEN_QUERY] = "token in the URL's query, parameter ",
            [TOKEN_BASIC] = "user:password in header ",
            [TOKEN_MEMBER] = "token at "};
    bool field = row->kind == SCHEME_HMAC && row->from == SIGNATURE_FIELD;
    if (row->kind == SCHEME_TOKEN)
        text_str(out, word_of(tokens, ARRAY_LEN(tokens), (size_t)row->token));
    if (field)
        text_str(out, row->form ? "the form's " : "the body's ");
    text_str(out, field && row->form ? row->header + 1 : row->header);
    if (row->kind == SCHEME_HMAC && row->from == SIGNATURE_NUMBERED)
        text_str(out, "1, -2 and on");
    if (row->header_second)
        text_fmt(out, " and %s", row->header_second);
    if (row->each || (row->kind == SCHEME_TOKEN && row->token == TOKEN_MEMBER))
        text_str(out, " of each event, and all count");
}

// What code of its own does is said by its row.
static bool write_said(const struct scheme *row, const char *said, struct text *out)
{
    if (row->kind != SCHEME_CODE)
        return false;
    text_str(out, said ? said : "");
    return true;
}

// Which items of a list are signatures.
static void write_items(const struct scheme *row, struct text *out)
{
    if (row->time.from == TIME_FIRST)
        text_fmt(out, ": items parted by \"%s\", the first is the time", row->item_sep);
    if (!row->kv_sep)
        return;
    text_fmt(out, ": items parted by \"%s\"%s, those named ", row->item_sep ? row->item_sep : "",
            row->spaced ? ", with or without blanks behind it" : "");
    text_str(out, row->keys[0] ? "" : "anything");
    write_list(row->keys, " or ", out);
    text_fmt(out, " before \"%s\"", row->kv_sep);
}

static void write_signature(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (write_said(row, row->said.signature, out))
        return;
    if (row->kind == SCHEME_BEARER)
        text_str(out, "Authorization: Bearer, the token itself");
    else if (row->kind == SCHEME_NONE)
        text_str(out, "none: it runs only where the policy says `verify: none`");
    else if (row->kind == SCHEME_CUSTOM)
        text_str(out, "as the policy's `verify` says");
    if (!row->header)
        return;
    write_place(row, out);
    write_items(row, out);
    if (row->prefix && *row->prefix)
        text_fmt(out, ", behind \"%s\"", row->prefix);
    if (row->also && row->also->header)
        text_fmt(out, "; or %s", row->also->header);
}

static void write_literal(struct slice literal, struct text *out)
{
    text_char(out, '"');
    for (size_t i = 0; i < literal.len; i++) {
        if (literal.ptr[i] == '\n')
            text_str(out, "\\n");
        else
            text_char(out, (char)literal.ptr[i]);
    }
    text_char(out, '"');
}

static void write_part(const struct scheme_part *part, struct text *out)
{
    const char *text = (const char *)part->literal.ptr;
    static const char *const words[] = {[PART_TIMESTAMP] = "time",
            [PART_BODY] = "body",
            [PART_ID] = "id",
            [PART_URL] = "public_url with the request's query",
            [PART_FORM] = "the form's pairs, sorted",
            [PART_METHOD] = "method",
            [PART_PATH] = "path and query",
            [PART_SIGNED_HEADERS] = "the headers it lists"};
    if (part->kind == PART_LITERAL)
        write_literal(part->literal, out);
    else if (part->kind == PART_FIELD)
        text_fmt(out, "%.*s", (int)part->literal.len, text);
    else if (part->kind == PART_HEADER)
        text_fmt(out, "header %.*s", (int)part->literal.len, text);
    else
        text_str(out, word_of(words, ARRAY_LEN(words), (size_t)part->kind));
}

static void write_signed(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (write_said(row, row->said.what, out))
        return;
    if (row->kind == SCHEME_TOKEN || row->kind == SCHEME_BEARER || row->kind == SCHEME_NONE)
        text_str(out, "nothing: use TLS");
    for (size_t i = 0; is_row_of_engine(row) && row->parts[i].kind != PART_END; i++) {
        text_str(out, i ? ", " : "");
        write_part(&row->parts[i], out);
    }
    if (row->body_hash)
        text_fmt(out, "; a body that is no form by its hash in the query's %s", row->body_hash);
}

static void write_algorithm(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (write_said(row, row->said.algorithm, out) || !is_row_of_engine(row))
        return;
    text_fmt(out, "%s, %s", scheme_algorithm_words(row->algorithm),
            scheme_encoding_words(row->encoding));
    if (row->ed25519)
        text_fmt(out, "; %s is ed25519", row->ed25519);
    if (row->settings)
        text_fmt(out, "; or what %s says", row->settings);
}

static void write_key(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (write_said(row, row->said.key, out) || row->kind == SCHEME_NONE)
        return;
    if (row->kind == SCHEME_HMAC && row->algorithm >= ALGORITHM_PUBLIC)
        text_str(out, "the provider's public key: ");
    text_str(out, scheme_key_words(row->key));
    if (row->ed25519)
        text_str(out, "; a public key behind whpk_");
}

static void write_time(const char *name, const struct scheme *row, struct text *out)
{
    static const char *const places[] = {[TIME_ITEM] = "item",
            [TIME_FIRST] = "the first item",
            [TIME_HEADER] = "header",
            [TIME_FIELD] = "the body's"};
    (void)name;
    if (write_said(row, row->said.time, out) || !is_row_of_engine(row))
        return;
    if (row->time.from == TIME_NONE) {
        text_str(out, "none is signed");
        return;
    }
    text_fmt(out, "%s%s%s, %s; at most ",
            word_of(places, ARRAY_LEN(places), (size_t)row->time.from), row->time.name ? " " : "",
            row->time.name ? row->time.name : "",
            row->iso_time            ? "RFC 3339"
            : row->time.milliseconds ? "ms"
                                     : "s");
    write_duration(row->time.past_s, out);
    text_str(out, " old and ");
    write_duration(row->time.future_s, out);
    text_str(out, " ahead");
}

// --- What the event is

static void write_id(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (row->id_header)
        text_fmt(out, "header %s", row->id_header);
    else if (row->id)
        text_str(out, row->id);
    for (size_t i = 0; !row->id_header && row->id_more[i]; i++)
        text_fmt(out, "%s%s", i || row->id ? " : " : "", row->id_more[i]);
    if (row->id_digest)
        text_fmt(out, "%sdigest of the event", row->id ? " : " : "");
    if (row->id_each)
        text_str(out, " : the request's own, since the same again is news");
    if (!out->len)
        return;
    bool token = row->kind == SCHEME_TOKEN || row->kind == SCHEME_BEARER;
    if (token || row->kind == SCHEME_NONE)
        return;
    text_str(out,
            scheme_id_unsigned(row) ? "; NOT signed: what is signed counts once, too" : "; signed");
}

static void write_type(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (row->type_header)
        text_fmt(out, "header %s", row->type_header);
    if (row->type)
        text_fmt(out, "%s%s", row->type_header ? ", and where there is one " : "", row->type);
    if (row->inner && !row->inner_xml)
        text_fmt(
                out, ", unless the policy says another `type`: JSON in %s is led into", row->inner);
    if (row->inner_xml)
        text_str(out, ": its XML is led into");
    if (row->type_more)
        text_fmt(out, " . %s", row->type_more);
    if (row->type_fixed)
        text_fmt(out, "always %s", row->type_fixed);
    if (row->type_of_batch)
        text_str(out, "the name of the array it stands in");
}

static void write_scope(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    write_list(row->scope, ", ", out);
}

static void write_own_time(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    text_str(out, row->happened ? row->happened : "");
}

static void write_batch(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    if (!row->batch[0])
        text_str(out, "one event a request");
    for (size_t i = 0; row->batch[i]; i++)
        text_fmt(out, "%s%s", i ? " and " : "every element of ",
                *row->batch[i] ? row->batch[i] : "the body, an array");
}

// --- How its provider behaves

static void write_repeats(const char *name, const struct scheme *row, struct text *out)
{
    (void)row;
    int64_t horizon_s = scheme_horizon_s(name);
    if (horizon_s == 0)
        return;
    text_str(out, "for ");
    write_duration(horizon_s, out);
}

static void write_handshake(const char *name, const struct scheme *row, struct text *out)
{
    (void)name;
    const char *words = handshake_words(row->handshake);
    text_str(out, words ? words : "");
}

static void write_answer(const char *name, const struct scheme *row, struct text *out)
{
    static const char *const good[] = {[REPLY_DEFAULT] = "200",
            [REPLY_EMPTY_200] = "200 without a body",
            [REPLY_NO_CONTENT_204] = "204",
            [REPLY_ACCEPTED_BODY] = "200 [accepted]",
            [REPLY_CLIENT_ID] = "200 with the request's X-AdobeSign-ClientId"};
    static const char *const bad[] = {[REFUSE_401] = "401", [REFUSE_498] = "498"};
    (void)name;
    text_fmt(out, "%s; refused %s", word_of(good, ARRAY_LEN(good), (size_t)row->answer),
            word_of(bad, ARRAY_LEN(bad), (size_t)row->refusal));
}

static const struct {
    const char *name, *label;
    void (*write)(const char *name, const struct scheme *row, struct text *out);
} facts[FACT_COUNT] = {
        [FACT_SIGNATURE] = {"signature", "signature", write_signature},
        [FACT_SIGNED] = {"signed", "signed", write_signed},
        [FACT_ALGORITHM] = {"algorithm", "algorithm", write_algorithm},
        [FACT_KEY] = {"key", "key", write_key},
        [FACT_TIME] = {"time", "time", write_time},
        [FACT_ID] = {"event_id", "event id", write_id},
        [FACT_TYPE] = {"event_type", "event type", write_type},
        [FACT_SCOPE] = {"scope", "scope", write_scope},
        [FACT_OWN_TIME] = {"own_time", "own time", write_own_time},
        [FACT_BATCH] = {"batch", "batch", write_batch},
        [FACT_REPEATS] = {"repeats", "repeats", write_repeats},
        [FACT_HANDSHAKE] = {"handshake", "handshake", write_handshake},
        [FACT_ANSWER] = {"answer", "answer", write_answer},
};

const char *fact_label(enum scheme_fact fact)
{
    return facts[fact].label;
}

const char *fact_name(enum scheme_fact fact)
{
    return facts[fact].name;
}

void fact_write(enum scheme_fact fact, const char *name, const struct scheme *row, struct text *out)
{
    AUTO_TEXT struct text words = {.len = 0};
    text_init(&words, 4096);
    if (row || fact == FACT_REPEATS)
        facts[fact].write(name, row, &words);
    text_add(out, text_slice(&words));
}
