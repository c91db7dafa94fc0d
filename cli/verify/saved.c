#include "cli/verify/saved.h"

#include "common/json/scan.h"
#include "receiver/http/route.h"
#include "receiver/verify/mac.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#define LAST_S 253402300799 // of the year 9999: what comes later has no RFC 3339

void saved_fini(struct saved *saved)
{
    text_fini(&saved->bytes);
}

static struct slice rest_of(struct slice text, size_t skip)
{
    return (struct slice){text.ptr + skip, text.len - skip};
}

static struct slice trimmed(struct slice text)
{
    while (text.len && strchr(" \t\r", text.ptr[0]))
        text = rest_of(text, 1);
    while (text.len && strchr(" \t\r", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

// The next line without its end; false at the end of the text.
static bool next_line(struct slice *text, struct slice *ret_line)
{
    if (text->len == 0)
        return false;
    const unsigned char *end = memchr(text->ptr, '\n', text->len);
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    *ret_line = (struct slice){text->ptr, len};
    *text = rest_of(*text, end ? len + 1 : len);
    if (len && ret_line->ptr[len - 1] == '\r')
        ret_line->len--;
    return true;
}

static bool is_name(struct slice name, const char *want)
{
    return name.len == strlen(want) && strncasecmp((const char *)name.ptr, want, name.len) == 0;
}

static bool add_header(struct saved *saved, struct slice name, struct slice value)
{
    size_t n = saved->request.n_headers;
    if (n == SAVED_HEADERS_MAX || name.len == 0)
        return false;
    saved->headers[n] = (struct verify_header){name, value};
    saved->request.n_headers = n + 1;
    if (slice_starts(value, SLICE("sha256:")))
        saved->hidden++;
    if (!is_name(name, "content-length"))
        return true;
    size_t length = 0;
    for (size_t i = 0; i < value.len && i < 10; i++)
        length = value.ptr[i] >= '0' && value.ptr[i] <= '9' ? length * 10 + value.ptr[i] - '0'
                                                            : length;
    saved->said_length = length;
    return true;
}

// "Name: value"; a value that was hidden when it was kept stands behind "=".
static bool add_line(struct saved *saved, struct slice line)
{
    size_t at = 0;
    while (at < line.len && line.ptr[at] != ':' && line.ptr[at] != '=')
        at++;
    if (at == 0 || at == line.len)
        return false;
    return add_header(saved, trimmed((struct slice){line.ptr, at}), trimmed(rest_of(line, at + 1)));
}

// --- HTTP text

static bool request_line(struct slice line, struct saved *saved)
{
    const unsigned char *first = line.len ? memchr(line.ptr, ' ', line.len) : NULL;
    if (!first)
        return false;
    saved->request.method = (struct slice){line.ptr, (size_t)(first - line.ptr)};
    struct slice rest = rest_of(line, saved->request.method.len + 1);
    const unsigned char *second = rest.len ? memchr(rest.ptr, ' ', rest.len) : NULL;
    if (!second || !slice_starts(rest_of(rest, (size_t)(second - rest.ptr) + 1), SLICE("HTTP/")))
        return false;
    saved->request.target = (struct slice){rest.ptr, (size_t)(second - rest.ptr)};
    return rest.ptr[0] == '/';
}

static struct slice without_mark(struct slice line)
{
    if (slice_starts(line, SLICE("> ")))
        return rest_of(line, 2);
    return slice_eq(line, SLICE(">")) ? (struct slice){NULL, 0} : line;
}

static bool read_http(struct slice input, struct saved *saved, struct err *err)
{
    struct slice line;
    bool started = false;
    while (next_line(&input, &line)) {
        line = without_mark(line);
        if (!started && (started = request_line(line, saved)))
            continue;
        if (started && line.len == 0)
            break;
        // What curl -v says before it sends is not of the request.
        if (started && !add_line(saved, line))
            return err_set(err, ERR_INPUT, "this is no header line: '%.*s'",
                    (int)(line.len < 60 ? line.len : 60), (const char *)line.ptr);
    }
    if (!started)
        return err_set(err, ERR_INPUT,
                "there is no request line such as 'POST /hooks/NAME HTTP/1.1', and it is no JSON");
    saved->request.body = input;
    if (saved->said_length < input.len) {
        saved->behind = input.len - saved->said_length;
        saved->request.body.len = saved->said_length;
    }
    return true;
}

// --- JSON

static const char *const pointers[] = {"/method", "/target", "/headers", "/body", "/body_base64",
        "/source", "/received_at", "/cut", "/items/0"};
enum { METHOD, TARGET, HEADERS, BODY, BODY_BASE64, SOURCE, RECEIVED_AT, CUT, ITEM, PARTS };

// A text of the document, decoded behind the others: saved->bytes never moves (see read_json).
static struct slice text_of(struct saved *saved, const struct json_result *part)
{
    size_t before = saved->bytes.len;
    if (part->found != JSON_FOUND || part->token.kind != JSON_KIND_STRING ||
            !json_text(part->token, &saved->bytes, NULL))
        return (struct slice){NULL, 0};
    return (struct slice){
            (const unsigned char *)saved->bytes.ptr + before, saved->bytes.len - before};
}

static bool add_pairs(struct saved *saved, struct json_token list)
{
    size_t at = 0;
    struct json_token pair;
    while (json_next(list, &at, NULL, &pair)) {
        struct json_token both[2];
        size_t in = 0;
        if (pair.kind != JSON_KIND_ARRAY || !json_next(pair, &in, NULL, &both[0]) ||
                !json_next(pair, &in, NULL, &both[1]))
            return false;
        struct json_result name = {JSON_FOUND, both[0]}, value = {JSON_FOUND, both[1]};
        struct slice name_text = text_of(saved, &name);
        if (!add_header(saved, name_text, text_of(saved, &value)))
            return false;
    }
    return true;
}

static bool add_headers(struct saved *saved, const struct json_result *part)
{
    if (part->found == JSON_FOUND && part->token.kind == JSON_KIND_ARRAY)
        return add_pairs(saved, part->token);
    struct slice lines = text_of(saved, part), line;
    bool ok = true;
    while (next_line(&lines, &line))
        ok &= line.len == 0 || add_line(saved, line);
    return ok;
}

static bool read_body(struct saved *saved, const struct json_result parts[], struct err *err)
{
    saved->request.body = text_of(saved, &parts[BODY]);
    if (parts[BODY_BASE64].found != JSON_FOUND || parts[BODY_BASE64].token.kind != JSON_KIND_STRING)
        return true;
    struct slice base64 = text_of(saved, &parts[BODY_BASE64]);
    unsigned char *room = (unsigned char *)(uintptr_t)base64.ptr; // decoded where it stands
    size_t len = 0;
    if (base64.len && !encoding_decode_any(ENCODING_BASE64, base64, room, base64.len, &len))
        return err_set(err, ERR_INPUT, "'body_base64' is no base64");
    saved->request.body = (struct slice){base64.ptr, len};
    return true;
}

static bool read_json(struct slice input, struct saved *saved, struct err *err)
{
    struct json_result parts[PARTS];
    if (!json_find(input, pointers, PARTS, parts, err))
        return false;
    if (parts[ITEM].found == JSON_FOUND)
        return read_json(parts[ITEM].token.raw, saved, err);
    if (parts[HEADERS].found != JSON_FOUND)
        return err_set(err, ERR_INPUT, "the JSON has no 'headers'");
    // Decoded texts are never longer than they stand there: with the room for all, none moves.
    text_init(&saved->bytes, input.len + 1);
    saved->bytes.ptr = xcalloc(1, input.len + 2);
    saved->bytes.room = input.len + 2;
    saved->request.method = text_of(saved, &parts[METHOD]);
    saved->request.target = text_of(saved, &parts[TARGET]);
    if (!add_headers(saved, &parts[HEADERS]))
        return err_set(err, ERR_INPUT, "'headers' are no lines and no [name, value] pairs");
    struct slice source = text_of(saved, &parts[SOURCE]), at = text_of(saved, &parts[RECEIVED_AT]);
    snprintf(saved->source, sizeof saved->source, "%.*s", (int)source.len,
            source.len ? (const char *)source.ptr : "");
    if (at.len && !saved_time(at, &saved->received_s))
        return err_set(err, ERR_INPUT, "'received_at' is no time");
    saved->cut = parts[CUT].found == JSON_FOUND && parts[CUT].token.kind == JSON_KIND_TRUE;
    return read_body(saved, parts, err);
}

static void name_source(struct saved *saved)
{
    struct slice name;
    if (!saved->source[0] && saved->request.target.len && route_hook(saved->request.target, &name))
        snprintf(
                saved->source, sizeof saved->source, "%.*s", (int)name.len, (const char *)name.ptr);
}

bool saved_read(struct slice input, struct saved *ret_saved, struct err *err)
{
    *ret_saved = (struct saved){.said_length = SIZE_MAX};
    struct slice start = input;
    while (start.len && strchr(" \t\r\n", start.ptr[0]))
        start = rest_of(start, 1);
    bool json = start.len && start.ptr[0] == '{';
    if (!(json ? read_json(start, ret_saved, err) : read_http(input, ret_saved, err)))
        return false;
    ret_saved->request.headers = ret_saved->headers;
    if (ret_saved->request.method.len == 0)
        ret_saved->request.method = SLICE("POST");
    name_source(ret_saved);
    return true;
}

bool saved_time(struct slice text, int64_t *ret_s)
{
    char copy[40], *end = NULL;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    long long seconds = strtoll(copy, &end, 10);
    if (*end == '\0' && seconds > 0 && seconds <= LAST_S) {
        *ret_s = seconds;
        return true;
    }
    struct tm tm = {0};
    end = strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm);
    if (end && *end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    if (!end || (strcmp(end, "Z") != 0 && strcmp(end, "+00:00") != 0))
        return false;
    *ret_s = (int64_t)timegm(&tm);
    return true;
}
