#include "cli/shell.h"

static bool is_plain(struct slice text)
{
    static const char plain[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";
    for (size_t i = 0; i < text.len; i++)
        if (!memchr(plain, text.ptr[i], sizeof plain - 1))
            return false;
    return text.len > 0 && text.ptr[0] != '-';
}

void shell_word(struct text *out, struct slice text)
{
    if (is_plain(text)) {
        text_add(out, text);
        return;
    }
    text_char(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            text_str(out, "'\\''");
        else
            text_char(out, (char)text.ptr[i]);
    }
    text_char(out, '\'');
}
