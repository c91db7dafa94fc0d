#include "receiver/http/route.h"

bool route_hook(struct slice target, struct slice *ret_source)
{
    static const char prefix[] = "/hooks/";
    size_t skip = sizeof prefix - 1;
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
