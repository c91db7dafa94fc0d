#include "common/config/yaml_source.h"

#include "common/utf8.h"

char *yaml_source_line(const struct yaml_doc *doc, int line)
{
    const char *at = doc->source, *end = doc->source + doc->len;
    for (int i = 1; i < line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at >= end)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((stop ? stop : end) - at);
    if (n && at[n - 1] == '\r')
        n--;
    if (n > DIAG_SOURCE_MAX)
        return NULL;
    char *copy = slice_dup((struct slice){(const unsigned char *)at, n});
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
            copy[i] = ' '; // a terminal must not act on it
    }
    return copy;
}

struct refusal {
    const char *code, *why;
    bool seen;
};
enum { REFUSE_UTF8, REFUSE_TAB, REFUSE_BOM, REFUSE_LINE_END, REFUSE_CONTROL, REFUSE_COUNT };

// Which refusal this character meets, -1 = none.
static int judge_char(uint32_t code, const unsigned char *next, size_t left)
{
    if (code == '\t')
        return REFUSE_TAB;
    if (code == 0xfeff)
        return REFUSE_BOM;
    if ((code == '\r' && (left == 0 || *next != '\n')) || code == 0x85 || code == 0x2028 ||
            code == 0x2029)
        return REFUSE_LINE_END;
    bool control = (code < 0x20 && code != '\n' && code != '\r') || (code >= 0x7f && code < 0xa0);
    return control ? REFUSE_CONTROL : -1;
}

bool yaml_source_ok(const struct yaml_doc *doc, struct diag *diag)
{
    struct refusal refusals[REFUSE_COUNT] = {[REFUSE_UTF8] = {"encoding", "is not UTF-8", false},
            [REFUSE_TAB] = {"tab", "a tab: indent with spaces (write \\t in double quotes)", false},
            [REFUSE_BOM] = {"encoding", "a byte order mark: save the file without it", false},
            [REFUSE_LINE_END] = {"line-end", "a line end that is neither LF nor CRLF", false},
            [REFUSE_CONTROL] = {"control", "a control character", false}};
    if (doc->len > YAML_FILE_MAX) {
        diag_file(diag, DIAG_ERROR, doc->file, "too-large", "is larger than 1 MiB");
        return false;
    }
    const unsigned char *bytes = (const unsigned char *)doc->source;
    struct yaml_node at = {.doc = doc, .line = 1, .column = 1, .span = 1};
    bool ok = true;
    for (size_t i = 0; i < doc->len;) {
        size_t n = utf8_len((struct slice){bytes + i, doc->len - i});
        uint32_t code = n ? utf8_code(bytes + i, n) : 0;
        int which = n ? judge_char(code, bytes + i + n, doc->len - i - n) : REFUSE_UTF8;
        if (which >= 0 && !refusals[which].seen)
            yaml_diag(diag, DIAG_ERROR, &at, refusals[which].code, "%s", refusals[which].why);
        if (which >= 0)
            refusals[which].seen = true;
        ok &= which < 0;
        if (n == 0)
            return false; // columns after a broken character would be guesses
        at.line += code == '\n';
        at.column = code == '\n' ? 1 : at.column + 1;
        i += n;
    }
    return ok;
}
