#include "dispatcher/send/filename.h"

#include "common/utf8.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/encode.h"

#include <strings.h>

enum {
    PLAIN_MAX = 60, // bytes of a type, and of a name in quotes, so that its line ends before 76
    PIECE_MAX = 55, // characters of a piece: " filename*99*=" and ";" are 15 more
};

static const struct {
    const char *ending, *type;
} types[] = {
        {"pdf", "application/pdf"},
        {"txt", "text/plain"},
        {"csv", "text/csv"},
        {"html", "text/html"},
        {"ics", "text/calendar"},
        {"png", "image/png"},
        {"jpg", "image/jpeg"},
        {"jpeg", "image/jpeg"},
        {"gif", "image/gif"},
        {"webp", "image/webp"},
        {"svg", "image/svg+xml"},
        {"zip", "application/zip"},
        {"json", "application/json"},
        {"xml", "application/xml"},
        {"doc", "application/msword"},
        {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
        {"xls", "application/vnd.ms-excel"},
        {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
        {"odt", "application/vnd.oasis.opendocument.text"},
        {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
        {"epub", "application/epub+zip"},
        {"mp3", "audio/mpeg"},
        {"pkpass", "application/vnd.apple.pkpass"},
};

const char *filename_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *filename_type(const char *path)
{
    const char *dot = strrchr(filename_of(path), '.');
    for (size_t i = 0; dot && i < ARRAY_LEN(types); i++)
        if (strcasecmp(dot + 1, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static bool is_plain(struct slice name)
{
    return name.len <= PLAIN_MAX && text_is_ascii(name) && !memchr(name.ptr, '"', name.len) &&
           !memchr(name.ptr, '\\', name.len) && !memchr(name.ptr, '%', name.len);
}

// The first character, percent-encoded where it must be: bytes of it, 0 = it is none.
static size_t next_character(struct slice rest, struct text *out)
{
    size_t n = utf8_len(rest);
    text_reset(out);
    return n && compose_percent(out, (struct slice){rest.ptr, n}) ? n : 0;
}

// RFC 2231 3 and 4: filename*0*=UTF-8''..; filename*1*=..
static bool add_pieces(struct slice name, struct text *out)
{
    AUTO_TEXT struct text piece = {0};
    AUTO_TEXT struct text one = {0};
    text_init(&piece, PIECE_MAX);
    text_init(&one, 16);
    bool ok = text_str(&piece, "UTF-8''");
    int pieces = 0;
    for (struct slice rest = name; ok && rest.len;) {
        size_t n = next_character(rest, &one);
        ok = n > 0;
        if (ok && !text_add(&piece, text_slice(&one))) {
            ok = text_fmt(out, ";\r\n filename*%d*=%s", pieces++, text_cstr(&piece));
            text_reset(&piece);
            continue;
        }
        rest = (struct slice){rest.ptr + n, rest.len - n};
    }
    if (pieces == 0)
        return ok && text_fmt(out, ";\r\n filename*=%s", text_cstr(&piece));
    return ok && text_fmt(out, ";\r\n filename*%d*=%s", pieces, text_cstr(&piece));
}

bool filename_head(const char *path, struct text *out)
{
    const char *name = filename_of(path), *type = filename_type(path);
    return text_fmt(out,
                   "Content-Type:%s %s\r\n"
                   "Content-Transfer-Encoding: base64\r\n"
                   "Content-Disposition: attachment",
                   strlen(type) > PLAIN_MAX ? "\r\n" : "", type) &&
           (is_plain(slice_of(name)) ? text_fmt(out, ";\r\n filename=\"%s\"", name)
                                     : add_pieces(slice_of(name), out)) &&
           text_str(out, "\r\n");
}
