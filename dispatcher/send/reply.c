#include "dispatcher/send/reply.h"

#include <ctype.h>

// "250", "250 text", "250-text" -> 250; -1 for anything else.
static int line_code(struct slice line)
{
    if (line.len < 3 || line.ptr[0] < '2' || line.ptr[0] > '5' || !isdigit(line.ptr[1]) ||
            !isdigit(line.ptr[2]))
        return -1;
    if (line.len > 3 && line.ptr[3] != ' ' && line.ptr[3] != '-')
        return -1;
    return (line.ptr[0] - '0') * 100 + (line.ptr[1] - '0') * 10 + (line.ptr[2] - '0');
}

// Length of "x.y.z" (x as in class, y and z of 1 to 3 digits) at the start of s, followed by a
// space or the end; 0 = none.
static size_t enhanced_len(struct slice s, int class)
{
    if (s.len < 5 || s.ptr[0] != '0' + class || s.ptr[1] != '.')
        return 0;
    size_t pos = 2;
    for (int part = 0; part < 2; part++) {
        size_t digits = 0;
        while (pos < s.len && digits < 3 && isdigit(s.ptr[pos])) {
            pos++;
            digits++;
        }
        if (digits == 0)
            return 0;
        if (part == 0 && (pos >= s.len || s.ptr[pos++] != '.'))
            return 0;
    }
    return pos == s.len || s.ptr[pos] == ' ' ? pos : 0;
}

static void add_printable(struct smtp_reply *reply, struct slice s)
{
    size_t len = strlen(reply->text);
    for (size_t i = 0; i < s.len && len < sizeof reply->text - 1; i++)
        reply->text[len++] = s.ptr[i] >= 0x20 && s.ptr[i] < 0x7f ? (char)s.ptr[i] : '?';
    reply->text[len] = '\0';
}

static void first_line(struct smtp_reply *reply, int code, struct slice line)
{
    *reply = (struct smtp_reply){.code = code};
    struct slice said = line.len > 4 ? (struct slice){line.ptr + 4, line.len - 4} : SLICE("");
    size_t n = enhanced_len(said, code / 100);
    if (n && n < sizeof reply->enhanced)
        memcpy(reply->enhanced, said.ptr, n);
    add_printable(reply, (struct slice){line.ptr, 3});
    add_printable(reply, SLICE(" "));
    add_printable(reply, said);
}

// Long replies repeat code and enhanced code on each line: only the words are added.
static void further_line(struct smtp_reply *reply, struct slice line)
{
    struct slice said = line.len > 4 ? (struct slice){line.ptr + 4, line.len - 4} : SLICE("");
    size_t n = enhanced_len(said, reply->code / 100);
    add_printable(reply, SLICE(" "));
    if (n < said.len)
        n += said.ptr[n] == ' ';
    add_printable(reply, (struct slice){said.ptr + n, said.len - n});
}

enum reply_step reply_line(struct smtp_reply *reply, struct slice line)
{
    int code = line_code(line);
    if (code < 0 || (reply->open && code != reply->code))
        return REPLY_BAD;
    if (reply->open)
        further_line(reply, line);
    else
        first_line(reply, code, line);
    reply->open = line.len > 3 && line.ptr[3] == '-';
    return reply->open ? REPLY_MORE : REPLY_DONE;
}

static bool keyword_is(struct slice line, const char *keyword)
{
    size_t n = strlen(keyword);
    return line.len >= 4 + n && strncasecmp((const char *)line.ptr + 4, keyword, n) == 0 &&
           (line.len == 4 + n || line.ptr[4 + n] == ' ');
}

void offers_line(struct smtp_offers *offers, struct slice line)
{
    int code = line_code(line);
    if (code == 220)
        *offers = (struct smtp_offers){0};
    if (code != 250)
        return;
    offers->size = offers->size || keyword_is(line, "SIZE");
    offers->utf8 = offers->utf8 || keyword_is(line, "SMTPUTF8");
}
