#include "cli/context.h"
#include "cli/inbox/advice.h"
#include "cli/inbox/rejected.h"
#include "cli/inbox_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/json/scan.h"
#include "common/utf8.h"

#include <openssl/evp.h>

#define OUTPUT_MAX (8 << 20)

// The columns of rejected_one.sql.
enum { AT, SOURCE, REASON, BYTES, SHA256, METHOD, TARGET, PEER, HEADERS, BODY };

static struct slice part(const struct pg *pg, int col)
{
    return pg_null(pg, 0, 0, col) ? (struct slice){0} : pg_bytes(pg, 0, 0, col);
}

static bool is_line(unsigned char c)
{
    return c == '\t' || c == '\r' || c == '\n';
}

// UTF-8 without control characters but those of lines.
static bool is_text(struct slice rest)
{
    while (rest.len > 0) {
        size_t n = utf8_len(rest);
        if (n == 0 || (rest.ptr[0] < 0x20 && !is_line(rest.ptr[0])))
            return false;
        rest = (struct slice){rest.ptr + n, rest.len - n};
    }
    return true;
}

static void add_base64(struct text *out, struct slice bytes)
{
    AUTO_FREE unsigned char *encoded = xmalloc(4 * (bytes.len / 3 + 1) + 1);
    int len = EVP_EncodeBlock(encoded, bytes.ptr, (int)bytes.len);
    text_add(out, (struct slice){encoded, (size_t)len});
}

static void add_hex(struct text *out, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        text_fmt(out, "%02x", bytes.ptr[i]);
}

static void add_named(struct text *out, const char *name, struct slice value)
{
    if (value.len == 0)
        return;
    text_fmt(out, "%-9s ", name);
    text_add_shown(out, value);
    text_char(out, '\n');
}

static void show_text(const struct call *call, const struct pg *pg, struct text *out)
{
    char at[32];
    const struct advice *advice = advice_of(part(pg, REASON));
    struct slice body = part(pg, BODY);
    add_named(out, "id", slice_of(call->args[0]));
    add_named(out, "received", slice_of(clock_rfc3339(pg_big(pg, 0, 0, AT), at)));
    add_named(out, "source", part(pg, SOURCE));
    add_named(out, "reason", part(pg, REASON));
    add_named(out, "means", slice_of(advice->means));
    add_named(out, "next", slice_of(advice->next));
    add_named(out, "peer", part(pg, PEER));
    text_fmt(out, "%-9s %d\n", "bytes", pg_int(pg, 0, 0, BYTES));
    if (part(pg, SHA256).len > 0) {
        text_fmt(out, "%-9s only the first %zu bytes are kept; sha256 of all: ", "cut", body.len);
        add_hex(out, part(pg, SHA256));
        text_char(out, '\n');
    }
    text_char(out, '\n');
    text_add_shown(out, part(pg, METHOD));
    text_char(out, ' ');
    text_add_shown(out, part(pg, TARGET));
    text_char(out, '\n');
    text_add_shown(out, part(pg, HEADERS));
    text_char(out, '\n');
    if (is_text(body)) {
        text_add_shown(out, body);
    } else {
        text_str(out, "(not text; base64) ");
        add_base64(out, body);
    }
    text_char(out, '\n');
}

static void quote(struct text *out, const char *name, struct slice value)
{
    text_fmt(out, ",\"%s\":", name);
    if (value.ptr)
        json_quote(out, value);
    else
        text_str(out, "null");
}

static void show_json(const struct call *call, const struct pg *pg, struct text *out)
{
    char at[32];
    const struct advice *advice = advice_of(part(pg, REASON));
    struct slice body = part(pg, BODY), sha256 = part(pg, SHA256);
    text_str(out, "{\"id\":");
    json_quote(out, slice_of(call->args[0]));
    quote(out, "received_at", slice_of(clock_rfc3339(pg_big(pg, 0, 0, AT), at)));
    quote(out, "source", part(pg, SOURCE));
    quote(out, "reason", part(pg, REASON));
    quote(out, "means", slice_of(advice->means));
    quote(out, "next", slice_of(advice->next));
    quote(out, "peer", part(pg, PEER));
    quote(out, "method", part(pg, METHOD));
    quote(out, "target", part(pg, TARGET));
    quote(out, "headers", part(pg, HEADERS));
    text_fmt(out, ",\"bytes\":%d,\"cut\":%s,\"sha256\":", pg_int(pg, 0, 0, BYTES),
            sha256.len ? "true" : "false");
    text_str(out, sha256.len ? "\"" : "null");
    add_hex(out, sha256);
    text_str(out, sha256.len ? "\"" : "");
    quote(out, "body", is_text(body) ? body : (struct slice){0});
    text_str(out, ",\"body_base64\":\"");
    add_base64(out, body);
    text_str(out, "\"}\n");
}

static bool ask(const struct call *call, struct key id, struct pg *pg, struct err *err)
{
    pg_add(pg, INBOX_REJECTED_ONE);
    pg_p_uuid(pg, id);
    if (!pg_fly(pg, context_soon(), err))
        return false;
    return pg_rows(pg, 0) > 0 ||
           err_set(err, ERR_NOTFOUND, "no refused request with the id '%.60s' is kept",
                   call->args[0]);
}

int rejected_show(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    struct key id;
    if (!key_from_hex(slice_of(call->args[0]), &id)) {
        err_set(&err, ERR_INPUT, "'%.60s' is no id: they have 32 hex digits", call->args[0]);
        return out_usage(call, &err);
    }
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, inbox_statements, INBOX_COUNT, &err);
    if (!pg || !ask(call, id, pg, &err))
        return out_fail(call, &err);
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_RAW))
        text_add(&out, part(pg, BODY));
    else if (call_has(call, FLAG_HEADERS))
        text_add(&out, part(pg, HEADERS));
    else if (call_has(call, FLAG_JSON))
        show_json(call, pg, &out);
    else
        show_text(call, pg, &out);
    return out_data(&out, EXIT_DONE);
}
