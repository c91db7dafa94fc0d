// Headers that a request names as signed: their names in lower case, sorted, "name:value" with ';'
// between them (@contentful/node-apps-toolkit src/requests/sign-request.ts).
#include "receiver/verify/claim.h"

#include <strings.h>

enum { HEADERS_MAX = 64, HEADERS_BYTES = 16384, HEADER_NAME_MAX = 128 };

struct names {
    struct slice of[HEADERS_MAX];
    size_t n;
};

static int compare_names(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

static bool read_names(struct slice list, struct names *names)
{
    struct slice name;
    names->n = 0;
    for (bool more = true; more; names->n++) {
        more = slice_cut(&list, ",", &name);
        if (names->n == HEADERS_MAX || (more ? name.len : list.len) > HEADER_NAME_MAX)
            return false;
        names->of[names->n] = more ? name : list;
    }
    qsort(names->of, names->n, sizeof names->of[0], compare_names);
    return true;
}

static bool names_it(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (names->of[i].len == strlen(name) &&
                strncasecmp((const char *)names->of[i].ptr, name, names->of[i].len) == 0)
            return true;
    }
    return false;
}

static enum verify_reason add_header(
        const struct verify_request *request, struct slice name, struct text *out)
{
    char copy[HEADER_NAME_MAX + 1] = "";
    struct slice value = {NULL, 0};
    memcpy(copy, name.ptr, name.len);
    enum header_found found = header_find(request, copy, &value);
    if (found == HEADER_MANY)
        return VERIFY_REPEATED_HEADER;
    if (found == HEADER_NONE)
        return VERIFY_OK; // as the library does: what is not there can't be told apart by it
    bool fits = (out->len == 0 || text_char(out, ';')) && text_add(out, name) &&
                text_char(out, ':') && text_add(out, slice_trim(value));
    return fits ? VERIFY_OK : VERIFY_BAD_HEADER;
}

enum verify_reason claim_make_headers(
        const struct scheme *row, const struct verify_request *request, struct claim *claim)
{
    struct slice list = {NULL, 0};
    struct names names;
    enum verify_reason reason = header_one(request, row->signed_headers, VERIFY_NO_HEADER, &list);
    if (reason != VERIFY_OK)
        return reason;
    // A list without the time would leave it unsigned.
    if (!read_names(list, &names) || !names_it(&names, row->time.name))
        return VERIFY_BAD_HEADER;
    text_init(&claim->signed_headers, HEADERS_BYTES);
    for (size_t i = 0; reason == VERIFY_OK && i < names.n; i++)
        reason = add_header(request, names.of[i], &claim->signed_headers);
    return reason;
}
