#include "receiver/http/route.h"

#include "common/config/unsubscribe.h"

// The last segment behind a prefix.
static bool behind(const char *prefix, struct slice target, struct slice *ret_source)
{
    size_t skip = strlen(prefix);
    if (target.len <= skip || memcmp(target.ptr, prefix, skip) != 0)
        return false;
    struct slice name = {target.ptr + skip, target.len - skip};
    const unsigned char *query = memchr(name.ptr, '?', name.len);
    if (query)
        name.len = (size_t)(query - name.ptr);
    if (name.len == 0 || memchr(name.ptr, '/', name.len))
        return false;
    *ret_source = name;
    return true;
}

bool route_hook(struct slice target, struct slice *ret_source)
{
    return behind("/hooks/", target, ret_source);
}

bool route_unsubscribe(struct slice target, struct slice *ret_token)
{
    return behind(UNSUBSCRIBE_PATH, target, ret_token);
}
