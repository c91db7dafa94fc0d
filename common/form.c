#include "common/form.h"

static int hex_value(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    unsigned char lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Decodes text to *at and moves it on.
static struct slice decode(struct slice text, unsigned char **at)
{
    unsigned char *out = *at;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = text.ptr[i];
        int high = c == '%' && i + 2 < text.len ? hex_value(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text.ptr[i + 2]) : -1;
        if (low >= 0) {
            c = (unsigned char)(high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        *out++ = c;
    }
    struct slice decoded = {*at, (size_t)(out - *at)};
    *at = out;
    return decoded;
}

static struct form_pair pair_of(struct slice piece, unsigned char **at)
{
    const unsigned char *equals = memchr(piece.ptr, '=', piece.len);
    size_t name = equals ? (size_t)(equals - piece.ptr) : piece.len;
    size_t value = equals ? name + 1 : piece.len;
    struct form_pair pair = {.name = decode((struct slice){piece.ptr, name}, at)};
    pair.value = decode((struct slice){piece.ptr + value, piece.len - value}, at);
    return pair;
}

// The piece before the next '&'; moves *rest behind it.
static struct slice next_piece(struct slice *rest)
{
    const unsigned char *end = memchr(rest->ptr, '&', rest->len);
    struct slice piece = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t used = piece.len + (end ? 1 : 0);
    *rest = (struct slice){rest->ptr + used, rest->len - used};
    return piece;
}

bool form_parse(struct slice body, struct form *ret_form, struct err *err)
{
    struct form form = {.bytes = xmalloc(body.len + 1)};
    unsigned char *at = form.bytes;
    size_t room = 0;
    while (body.len && form.n <= FORM_PAIRS_MAX) {
        struct slice piece = next_piece(&body);
        if (piece.len == 0)
            continue;
        if (form.n == room) {
            room = room ? 2 * room : 16;
            form.pairs = xrealloc(form.pairs, room * sizeof *form.pairs);
        }
        form.pairs[form.n++] = pair_of(piece, &at);
    }
    if (form.n > FORM_PAIRS_MAX) {
        form_fini(&form);
        return err_set(err, ERR_INPUT, "the form has more than %d pairs", FORM_PAIRS_MAX);
    }
    *ret_form = form;
    return true;
}

void form_fini(struct form *form)
{
    free(form->pairs);
    free(form->bytes);
    *form = (struct form){0};
}

static int by_bytes(const void *left, const void *right)
{
    const struct form_pair *a = left, *b = right;
    int order = slice_cmp(a->name, b->name);
    return order ? order : slice_cmp(a->value, b->value);
}

void form_sort(struct form *form)
{
    if (form->n)
        qsort(form->pairs, form->n, sizeof *form->pairs, by_bytes);
}
