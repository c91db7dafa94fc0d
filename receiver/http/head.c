#include "receiver/http/head.h"

#include <strings.h>

struct seen {
    int lengths, codings, hosts;
    bool chunked;
};

const char *head_fault_name(enum head_fault fault)
{
    static const char *const names[HEAD_FAULT_COUNT] = {[HEAD_OK] = "ok",
            [HEAD_INCOMPLETE] = "incomplete",
            [HEAD_BARE_LINE_END] = "bare_line_end",
            [HEAD_FOLDED] = "folded_line",
            [HEAD_BLANK_BEFORE_COLON] = "blank_before_colon",
            [HEAD_BAD_LINE] = "bad_line",
            [HEAD_TWO_LENGTHS] = "two_lengths",
            [HEAD_LENGTH_AND_CODING] = "length_and_coding",
            [HEAD_BAD_CODING] = "bad_coding",
            [HEAD_TWO_HOSTS] = "two_hosts",
            [HEAD_NO_HOST] = "no_host"};
    return (size_t)fault < HEAD_FAULT_COUNT ? names[fault] : "unknown";
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

static bool name_is(struct slice name, const char *want)
{
    return name.len == strlen(want) && strncasecmp((const char *)name.ptr, want, name.len) == 0;
}

// The line at *rest without its CRLF; moves *rest behind it.
static enum head_fault next_line(struct slice *rest, struct slice *ret_line)
{
    const unsigned char *lf = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    if (!lf)
        return HEAD_INCOMPLETE;
    size_t len = (size_t)(lf - rest->ptr);
    if (len == 0 || rest->ptr[len - 1] != '\r')
        return HEAD_BARE_LINE_END;
    *ret_line = (struct slice){rest->ptr, len - 1};
    *rest = (struct slice){lf + 1, rest->len - len - 1};
    if (ret_line->len && memchr(ret_line->ptr, '\r', ret_line->len))
        return HEAD_BARE_LINE_END;
    return HEAD_OK;
}

static bool has_control(struct slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if ((line.ptr[i] < 0x20 && line.ptr[i] != '\t') || line.ptr[i] == 0x7f)
            return true;
    return false;
}

static void note(struct seen *seen, struct slice name, struct slice value)
{
    if (name_is(name, "content-length"))
        seen->lengths++;
    if (name_is(name, "host"))
        seen->hosts++;
    if (name_is(name, "transfer-encoding")) {
        seen->codings++;
        seen->chunked = name_is(value, "chunked");
    }
}

static enum head_fault scan_header(struct slice line, struct seen *seen)
{
    if (is_blank(line.ptr[0]))
        return HEAD_FOLDED;
    const unsigned char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || has_control(line))
        return HEAD_BAD_LINE;
    struct slice name = {line.ptr, (size_t)(colon - line.ptr)};
    if (name.len == 0 || is_blank(name.ptr[name.len - 1]))
        return HEAD_BLANK_BEFORE_COLON;
    struct slice value = {colon + 1, line.len - name.len - 1};
    note(seen, name, slice_trim(value));
    return HEAD_OK;
}

static enum head_fault judge(const struct seen *seen, struct slice request_line)
{
    if (seen->lengths > 1)
        return HEAD_TWO_LENGTHS;
    if (seen->lengths && seen->codings)
        return HEAD_LENGTH_AND_CODING;
    if (seen->codings > 1 || (seen->codings && !seen->chunked))
        return HEAD_BAD_CODING;
    if (seen->hosts > 1)
        return HEAD_TWO_HOSTS;
    bool is_1_1 = request_line.len > 8 &&
                  memcmp(request_line.ptr + request_line.len - 8, "HTTP/1.1", 8) == 0;
    return is_1_1 && seen->hosts == 0 ? HEAD_NO_HOST : HEAD_OK;
}

enum head_fault head_scan(struct slice input)
{
    struct slice rest = {input.ptr, input.len < HEAD_MAX ? input.len : HEAD_MAX};
    struct slice request_line = {NULL, 0}, line = {NULL, 0};
    struct seen seen = {0};
    // One empty line before the request is allowed (RFC 9112 §2.2).
    if (rest.len >= 2 && memcmp(rest.ptr, "\r\n", 2) == 0)
        rest = (struct slice){rest.ptr + 2, rest.len - 2};
    enum head_fault fault = next_line(&rest, &request_line);
    if (fault == HEAD_OK && (request_line.len == 0 || has_control(request_line)))
        fault = HEAD_BAD_LINE;
    while (fault == HEAD_OK) {
        fault = next_line(&rest, &line);
        if (fault == HEAD_OK && line.len == 0)
            return judge(&seen, request_line);
        if (fault == HEAD_OK)
            fault = scan_header(line, &seen);
    }
    return fault;
}
