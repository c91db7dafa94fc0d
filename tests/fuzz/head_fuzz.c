// Fuzzes the scan of a raw request head. Not built by default; from the root:
//   clang-14 -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I.
//   common/base.c tests/fuzz/head_fuzz.c -o head_fuzz
//   ./head_fuzz -max_total_time=60 -max_len=4096
// Properties, judged by plain searches: a head that passes has CRLF line ends only, one length at
// most and none beside a coding, one host at most, and no line that starts with a blank.
#include "receiver/http/head.c"  // NOLINT(bugprone-suspicious-include)
#include "receiver/http/route.c" // NOLINT(bugprone-suspicious-include)

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t head_len(const uint8_t *data, size_t size)
{
    const uint8_t *end = memmem(data, size, "\r\n\r\n", 4);
    assert(end);
    return (size_t)(end - data) + 2;
}

static int lines_starting(const uint8_t *head, size_t len, const char *name)
{
    int n = 0;
    for (size_t i = 0; i + strlen(name) < len; i++)
        n += head[i] == '\n' && strncasecmp((const char *)head + i + 1, name, strlen(name)) == 0;
    return n;
}

static void check_ends(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        assert(head[i] != '\n' || (i > 0 && head[i - 1] == '\r'));
        assert(head[i] != '\r' || (i + 1 < len && head[i + 1] == '\n'));
        assert(head[i] != '\n' || i + 1 >= len || (head[i + 1] != ' ' && head[i + 1] != '\t'));
    }
}

static void check_head(const uint8_t *data, size_t size)
{
    struct slice source, input = {data, size};
    if (route_hook(input, &source))
        assert(source.len > 0 && source.ptr + source.len <= data + size);
    if (head_scan(input) != HEAD_OK)
        return;
    // The one empty line that may stand before the request is not the end of the head.
    if (memcmp(data, "\r\n", 2) == 0) {
        data += 2;
        size -= 2;
    }
    size_t len = head_len(data, size);
    check_ends(data, len);
    int lengths = lines_starting(data, len, "content-length:");
    int codings = lines_starting(data, len, "transfer-encoding:");
    assert(lengths + codings <= 1);
    assert(lines_starting(data, len, "host:") <= 1);
}

// The bytes as they are, and as header lines of a request.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char before[] = "POST / HTTP/1.1\r\nContent-Length: 1\r\n";
    static const char after[] = "\r\nHost: a\r\n\r\n";
    static uint8_t whole[sizeof before + sizeof after + 8192];
    check_head(data, size);
    if (size > 8192)
        return 0;
    size_t len = sizeof before - 1;
    memcpy(whole, before, len);
    memcpy(whole + len, data, size);
    memcpy(whole + len + size, after, sizeof after - 1);
    check_head(whole, len + size + sizeof after - 1);
    return 0;
}
