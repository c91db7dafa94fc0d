// rows.h: the tables of rows, one a family, and the short forms that rows are written with.
#pragma once
#include "receiver/verify/scheme.h"

struct scheme_table {
    const struct scheme *rows;
    size_t n;
};
extern const struct scheme_table rows_code; // schemes that no row can say: aws-sns, paypal, JWT

#define SCHEME_TABLE(array)                                                                        \
    {                                                                                              \
        (array), ARRAY_LEN(array)                                                                  \
    }
