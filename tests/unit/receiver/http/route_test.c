#include "receiver/http/route.h"
#include "tests/test.h"

static void takes_exactly_one_segment_below_hooks(void **state)
{
    (void)state;
    static const struct {
        const char *target, *want; // NULL: no route
    } rows[] = {
            {"/hooks/shop", "shop"},
            {"/hooks/shop?x=/y", "shop"},
            {"/hooks/a%2fb", "a%2fb"},
            {"/hooks/", NULL},
            {"/hooks", NULL},
            {"/hooks/?x", NULL},
            {"/hooks/shop/", NULL},
            {"/hooks//shop", NULL},
            {"//hooks/shop", NULL},
            {"/x/../hooks/shop", NULL},
            {"/Hooks/shop", NULL},
            {"http://a/hooks/shop", NULL},
            {"*", NULL},
            {"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slice source = {NULL, 0};
        bool found = route_hook(slice_of(rows[i].target), &source);
        assert_row(found == (rows[i].want != NULL), rows[i].target);
        assert_row(!found || slice_eq(source, slice_of(rows[i].want)), rows[i].target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(takes_exactly_one_segment_below_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
