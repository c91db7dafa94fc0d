#include "receiver/accept/read_batch.h"

// Where a pattern's first `*` stands as a whole segment; its end when it has none.
static const char *star_of(const char *pattern)
{
    for (const char *at = pattern; (at = strstr(at, "/*")); at += 2) {
        if (at[2] == '\0' || at[2] == '/')
            return at;
    }
    return pattern + strlen(pattern);
}

static bool add_member(struct members *members, struct json_token token)
{
    if (members->n == READ_MEMBERS_MAX)
        return false;
    if (members->n == members->room) {
        members->room = members->room ? 2 * members->room : 16;
        members->rows = xrealloc(members->rows, members->room * sizeof *members->rows);
    }
    members->rows[members->n++] = (struct member){token, members->array};
    return true;
}

// The array behind the pattern's part before its `*`; kind NONE where there is none, or null.
static const char *find_array(
        struct slice body, const char *pattern, size_t len, struct json_token *ret_array)
{
    char pointer[JSON_POINTER_BYTES + 1];
    const char *const pointers[] = {pointer};
    struct json_result result;
    if (len >= sizeof pointer)
        return "bad-batch";
    memcpy(pointer, pattern, len);
    pointer[len] = '\0';
    if (!json_find(body, pointers, 1, &result, NULL))
        return "unreadable";
    if (result.found == JSON_DUPLICATE)
        return "duplicate-member";
    *ret_array = (struct json_token){.kind = JSON_KIND_NONE};
    if (result.found == JSON_MISSING || result.token.kind == JSON_KIND_NULL)
        return NULL;
    *ret_array = result.token;
    return result.token.kind == JSON_KIND_ARRAY ? NULL : "bad-batch";
}

static const char *add_array(struct json_token array, const char *rest, struct members *members);

// What the pattern leads to below body. Not deeper than the pattern has stars, each of which costs
// two bytes of at most JSON_POINTER_BYTES.
static const char *follow(
        struct slice body, const char *pattern, struct members *members, bool *ret_there)
{
    const char *star = star_of(pattern);
    struct json_token array;
    const char *reason = find_array(body, pattern, (size_t)(star - pattern), &array);
    *ret_there = !reason && array.kind == JSON_KIND_ARRAY;
    return *ret_there ? add_array(array, star, members) : reason;
}

// rest starts with "/*", or is "" where the array's elements are the members.
static const char *add_array(struct json_token array, const char *rest, struct members *members)
{
    struct json_token element;
    const char *reason = NULL;
    for (size_t at = 0; !reason && json_next(array, &at, NULL, &element);) {
        bool there = true;
        if (*rest)
            reason = follow(element.raw, rest + 2, members, &there);
        else if (!add_member(members, element))
            reason = "batch-too-long";
        members->passed_over |= !there;
    }
    return reason;
}

// The last segment: the array's name.
static struct slice name_of(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    return slice_of(slash ? slash + 1 : pattern);
}

const char *read_members(struct slice body, const char *const *patterns, struct members *members)
{
    bool any = false;
    for (size_t i = 0; patterns[i]; i++) {
        bool there = false;
        members->array = name_of(patterns[i]);
        const char *reason = follow(body, patterns[i], members, &there);
        if (reason)
            return reason;
        any |= there;
    }
    return any ? NULL : "no-batch";
}

void members_fini(struct members *members)
{
    free(members->rows);
    *members = (struct members){0};
}
