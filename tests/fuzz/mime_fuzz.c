// Fuzzes what makes a mail: addresses, RFC 2047 headers, MIME bodies, dots. tests/fuzz/test_fuzz.py
// builds it. A byte (which parts there are; bit 7: a file called like the subject), then lines:
// sender, recipient, subject; the rest is the body. Properties, judged by a reader of its own: 7
// bit, CRLF, bounded lines, no header that nobody asked for, envelope addresses that are one
// argument, and everything decodes to what went in.
#include "dispatcher/send/encode.h"
#include "dispatcher/send/filename.h"
#include "dispatcher/send/smtp.h"

#include <assert.h>
#include <openssl/evp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 20, LINE_BOUND = 998 };

static bool find(struct slice in, const char *what, size_t *ret_at)
{
    const unsigned char *at = in.len ? memmem(in.ptr, in.len, what, strlen(what)) : NULL;
    if (at)
        *ret_at = (size_t)(at - in.ptr);
    return at != NULL;
}

static struct slice from(struct slice s, size_t at)
{
    return (struct slice){s.ptr + at, s.len - at};
}

static struct slice upto(struct slice s, size_t len)
{
    return (struct slice){s.ptr, len};
}

static struct slice next_line(struct slice *rest, const char *end)
{
    size_t at = rest->len;
    bool ended = find(*rest, end, &at);
    struct slice line = upto(*rest, at);
    *rest = from(*rest, ended ? at + strlen(end) : at);
    return line;
}

static struct slice without_line_ends(struct slice s)
{
    while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    return s;
}

static void add(struct text *out, struct slice bytes)
{
    assert(text_add(out, bytes));
}

static void decode_base64(struct slice in, struct text *out)
{
    unsigned char *bytes = malloc(in.len / 4 * 3 + 4);
    int n = in.len ? EVP_DecodeBlock(bytes, in.ptr, (int)in.len) : 0;
    assert(n >= 0 && in.len % 4 == 0);
    size_t pad = in.len ? (size_t)(in.ptr[in.len - 1] == '=') + (in.ptr[in.len - 2] == '=') : 0;
    add(out, (struct slice){bytes, (size_t)n - pad});
    free(bytes);
}

// Lines joined, encoded-words decoded, the space between two of them dropped (RFC 2047 6.2).
static void decode_header(struct slice in, struct text *out)
{
    AUTO_TEXT struct text line = {.max = OUT_MAX};
    while (in.len)
        add(&line, next_line(&in, "\r\n"));
    struct slice rest = text_slice(&line);
    bool after_word = false;
    while (rest.len) {
        size_t end, gap = after_word && rest.ptr[0] == ' ';
        struct slice word = from(rest, gap);
        if (!slice_starts(word, SLICE("=?UTF-8?B?"))) {
            add(out, upto(rest, 1));
            rest = from(rest, 1);
            after_word = false;
            continue;
        }
        assert(find(from(word, 10), "?=", &end) && end + 12 <= 75);
        size_t before = out->len;
        decode_base64(upto(from(word, 10), end), out);
        // Each word decodes alone.
        assert(text_is_utf8(from(text_slice(out), before)));
        rest = from(word, end + 12);
        after_word = true;
    }
}

static void decode_quoted_printable(struct slice in, struct text *out)
{
    while (in.len) {
        struct slice line = next_line(&in, "\r\n");
        assert(line.len <= 76);
        assert(!line.len || (line.ptr[line.len - 1] != ' ' && line.ptr[line.len - 1] != '\t'));
        bool soft = line.len && line.ptr[line.len - 1] == '=';
        for (size_t i = 0; i + soft < line.len; i++) {
            unsigned value = line.ptr[i];
            if (value == '=') {
                assert(i + 2 < line.len);
                char digits[3] = {(char)line.ptr[i + 1], (char)line.ptr[i + 2], '\0'};
                value = (unsigned)strtoul(digits, NULL, 16);
                i += 2;
            }
            assert(text_char(out, (char)value));
        }
        if (!soft)
            add(out, SLICE("\r\n"));
    }
}

static struct slice field(struct slice head, const char *name)
{
    size_t at, end;
    assert(find(head, name, &at));
    struct slice value = from(head, at + strlen(name));
    for (end = 0; end + 2 < value.len; end++) {
        if (memcmp(value.ptr + end, "\r\n", 2) == 0 && value.ptr[end + 2] != ' ')
            break;
    }
    return upto(value, end);
}

static void check_part(struct slice part, struct slice want)
{
    size_t head;
    AUTO_TEXT struct text got = {.max = OUT_MAX}, asked = {.max = OUT_MAX},
                          joined = {.max = OUT_MAX};
    // The empty line before an empty body may be the boundary's (RFC 2046 5.1.1).
    bool empty = !find(part, "\r\n\r\n", &head);
    struct slice body = empty ? (struct slice){0} : from(part, head + 4);
    head = empty ? part.len : head;
    size_t ignored;
    bool base64 = find(upto(part, head), "\r\nContent-Transfer-Encoding: base64", &ignored);
    assert(base64 ||
            find(upto(part, head), "\r\nContent-Transfer-Encoding: quoted-printable", &ignored));
    if (base64) {
        while (body.len) {
            struct slice line = next_line(&body, "\r\n");
            assert(line.len <= 76);
            add(&joined, line);
        }
        decode_base64(text_slice(&joined), &got);
    } else {
        decode_quoted_printable(body, &got);
    }
    for (size_t i = 0; i < want.len; i++) {
        bool pair = want.ptr[i] == '\r' && i + 1 < want.len && want.ptr[i + 1] == '\n';
        bool end = want.ptr[i] == '\r' || want.ptr[i] == '\n';
        add(&asked, end ? SLICE("\r\n") : upto(from(want, i), 1));
        i += pair;
    }
    assert(slice_eq(without_line_ends(text_slice(&got)), without_line_ends(text_slice(&asked))));
}

static void check_bodies(struct slice message, const struct content *content)
{
    size_t at;
    if (!content->text || !content->html) {
        check_part(message, slice_of(content->text ? content->text : content->html));
        return;
    }
    struct slice type = field(message, "\r\nContent-Type: ");
    assert(find(type, "multipart/alternative;\r\n boundary=\"", &at) && at == 0);
    struct slice name = from(type, strlen("multipart/alternative;\r\n boundary=\""));
    char mark[80];
    assert(find(name, "\"", &at) && at < 60);
    snprintf(mark, sizeof mark, "\r\n--%.*s", (int)at, (const char *)name.ptr);
    struct slice rest = message;
    next_line(&rest, mark);
    check_part(next_line(&rest, mark), slice_of(content->text));
    check_part(next_line(&rest, mark), slice_of(content->html));
    assert(slice_eq(rest, SLICE("--\r\n")));
}

static void decode_percent(struct slice in, struct text *out)
{
    for (size_t i = 0; i < in.len; i++) {
        unsigned value = in.ptr[i];
        if (value == '%') {
            assert(i + 2 < in.len);
            char digits[3] = {(char)in.ptr[i + 1], (char)in.ptr[i + 2], '\0'};
            value = (unsigned)strtoul(digits, NULL, 16);
            i += 2;
        }
        assert(text_char(out, (char)value));
    }
}

// filename="..", or the pieces of RFC 2231 in their order.
static void check_file(struct slice part, const char *path)
{
    AUTO_TEXT struct text name = {.max = OUT_MAX};
    struct slice head = next_line(&part, "\r\n\r\n");
    size_t at;
    bool quoted = false;
    for (int piece = 0; head.len;) {
        struct slice line = next_line(&head, "\r\n");
        char mark[20];
        snprintf(mark, sizeof mark, " filename*%d*=", piece);
        assert(line.len <= 76 && (line.ptr[0] == ' ' || slice_starts(line, SLICE("Content-"))));
        line.len -= line.ptr[line.len - 1] == ';';
        if (find(line, " filename=\"", &at) && at == 0) {
            add(&name, upto(from(line, 11), line.len - 12));
            quoted = true;
        } else if (find(line, "=UTF-8''", &at)) {
            decode_percent(from(line, at + 8), &name);
            piece++;
        } else if (find(line, mark, &at)) {
            decode_percent(from(line, strlen(mark)), &name);
            piece++;
        }
    }
    assert(!quoted || !memchr(name.ptr, '"', name.len));
    assert(slice_eq(text_slice(&name), slice_of(filename_of(path))));
}

// The text's part is what it is without files.
static void check_mixed(struct slice message, const struct content *content)
{
    static const char type[] = "multipart/mixed;\r\n boundary=\"";
    size_t at;
    char mark[80];
    struct slice name = field(message, "\r\nContent-Type: ");
    assert(find(name, type, &at) && at == 0);
    name = from(name, strlen(type));
    assert(find(name, "\"", &at) && at < 60);
    snprintf(mark, sizeof mark, "\r\n--%.*s\r\n", (int)at, (const char *)name.ptr);
    struct slice rest = message;
    next_line(&rest, mark);
    struct slice body = next_line(&rest, mark);
    AUTO_TEXT struct text alone = {.max = OUT_MAX};
    add(&alone, SLICE("\r\n"));
    add(&alone, body);
    add(&alone, SLICE("\r\n"));
    check_bodies(text_slice(&alone), content);
    check_file(rest, content->attachments[0].path);
}

static size_t fields(struct slice head)
{
    size_t n = 0;
    while (head.len)
        n += next_line(&head, "\r\n").ptr[0] != ' ';
    return n;
}

// The name before <address>, as it was given.
static void check_name(struct slice value, const char *given)
{
    struct mailbox mailbox = {0};
    AUTO_TEXT struct text name = {.max = OUT_MAX}, plain = {.max = OUT_MAX};
    domain_to_ascii_fn *none = NULL;
    if (!mailbox_parse(slice_of(given), none, &mailbox, NULL))
        return; // a domain outside ASCII: only its IDNA form is known
    size_t open = value.len;
    while (open && value.ptr[open - 1] != '<')
        open--;
    assert((open > 0) == (mailbox.name != NULL));
    if (open) {
        assert(open >= 2 && value.ptr[open - 2] == ' ');
        struct slice shown = upto(value, open - 2); // without the space before '<'
        decode_header(shown, &name);
        struct slice got = text_slice(&name);
        bool quoted = shown.ptr[0] == '"';
        for (size_t i = quoted; i + quoted < got.len; i++) {
            i += quoted && got.ptr[i] == '\\';
            add(&plain, upto(from(got, i), 1));
        }
        struct slice want = slice_of(mailbox.name);
        assert(slice_eq(text_slice(&plain), want));
    }
    mailbox_fini(&mailbox);
}

// An address that needs SMTPUTF8 stands in its header as it is (RFC 6532).
static void check_message(struct slice message, const struct content *content, bool utf8)
{
    size_t end;
    for (struct slice rest = message; rest.len;) {
        struct slice line = next_line(&rest, "\r\n");
        bool address = line.len && memchr(line.ptr, '@', line.len) && line.ptr < message.ptr + 2000;
        assert(line.len <= LINE_BOUND && (text_is_ascii(line) || (utf8 && address)));
        assert(!line.len ||
                (!memchr(line.ptr, '\r', line.len) && !memchr(line.ptr, '\n', line.len)));
    }
    assert(find(message, "\r\n\r\n", &end));
    struct slice head = upto(message, end + 2);
    bool several = content->n_attachments || (content->text && content->html);
    assert(fields(head) == (several ? 7 : 8));
    AUTO_TEXT struct text subject = {.max = OUT_MAX};
    decode_header(field(head, "\r\nSubject: "), &subject);
    assert(slice_eq(text_slice(&subject), slice_of(content->subject)));
    check_name(field(head, "From: "), content->from);
    check_name(field(head, "\r\nTo: "), content->to);
    if (content->n_attachments)
        check_mixed(message, content);
    else
        check_bodies(message, content);
}

static void check_address(const char *address, bool utf8)
{
    struct slice s = slice_of(address);
    assert(s.len >= 3 && s.len <= 254 && strchr(address, '@') && !strpbrk(address, "<> \r\n\t"));
    assert(!text_has_control(s) && (utf8 || text_is_ascii(s)));
}

// What is on the wire, without its doubled dots and its end.
static void check_wire(const struct smtp_request *request, const struct content *content)
{
    AUTO_TEXT struct text message = {.max = OUT_MAX};
    struct slice rest = text_slice(&request->wire);
    assert(rest.len > 5 && memcmp(rest.ptr + rest.len - 5, "\r\n.\r\n", 5) == 0);
    for (rest.len -= 3; rest.len;) {
        struct slice line = next_line(&rest, "\r\n");
        assert(!line.len || line.ptr[0] != '.' || (line.len > 1 && line.ptr[1] == '.'));
        add(&message, line.len && line.ptr[0] == '.' ? from(line, 1) : line);
        add(&message, SLICE("\r\n"));
    }
    assert(request->size == message.len + inlays_size(&request->inlays));
    assert(request->inlays.n == content->n_attachments);
    check_message(text_slice(&message), content, request->needs_utf8);
}

// Stands for IDNA: what it gives depends on the domain alone, and is not always usable.
static bool to_ascii(const char *domain, char out[256])
{
    return snprintf(out, 256, "xn--%zu.%s", strlen(domain), strchr(domain, '.') ? "example" : "-") <
           256;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice rest = {data + 1, size - 1};
    AUTO_FREE char *sender = slice_dup(next_line(&rest, "\n"));
    AUTO_FREE char *to = slice_dup(next_line(&rest, "\n"));
    AUTO_FREE char *subject = slice_dup(next_line(&rest, "\n"));
    AUTO_FREE char *body = slice_dup(rest);
    static char id[] = "0123456789abcdef@example.net", date[] = "Sun, 29 Nov 2026 12:00:00 +0000";
    static char url[] = "smtp://127.0.0.1:25";
    struct content content = {.from = sender,
            .to = to,
            .subject = subject,
            .text = data[0] % 3 != 1 ? body : NULL,
            .html = data[0] % 3 != 0 ? body : NULL,
            .message_id = id,
            .date = date};
    struct attachment attachment = {.path = subject, .size = 100};
    content.attachments = &attachment;
    content.n_attachments = data[0] >> 7;
    struct provider provider = {.url = url, .plain = true};
    struct smtp_request request = {0};
    enum failure_level level;
    struct err err = {0};
    if (!smtp_build(&content, &provider, to_ascii, &request, &level, &err)) {
        assert(err.kind == ERR_INPUT && err.msg[0] && level != LEVEL_PROVIDER);
        return 0;
    }
    check_address(request.mail_from, request.sender_utf8);
    check_address(request.rcpt, request.needs_utf8);
    check_wire(&request, &content);
    smtp_request_fini(&request);
    return 0;
}
