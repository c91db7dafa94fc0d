// rows.h: the tables of rows, one a family, and the short forms that rows are written with.
#pragma once
#include "receiver/verify/scheme.h"

struct scheme_table {
    const struct scheme *rows;
    size_t n;
};
extern const struct scheme_table rows_body;     // HMAC over the body alone
extern const struct scheme_table rows_timed;    // HMAC over a time and the body
extern const struct scheme_table rows_standard; // Standard Webhooks and who follows it
extern const struct scheme_table rows_url;      // HMAC over the URL and the body
extern const struct scheme_table rows_fields;   // HMAC over chosen values of the body
extern const struct scheme_table rows_public;   // signatures by the provider's private key
extern const struct scheme_table rows_token;    // shared tokens, and what is nobody's
extern const struct scheme_table rows_code;     // what no row can say: aws-sns, paypal, JWT

#define SCHEME_TABLE(array)                                                                        \
    {                                                                                              \
        (array), ARRAY_LEN(array)                                                                  \
    }

#define TEXT_PART(kind_, text)                                                                     \
    {                                                                                              \
        kind_,                                                                                     \
        {                                                                                          \
            (const unsigned char *)(text), sizeof(text) - 1                                        \
        }                                                                                          \
    }
#define LITERAL(text) TEXT_PART(PART_LITERAL, text)
#define FIELD(pointer) TEXT_PART(PART_FIELD, pointer)
#define PART(kind_)                                                                                \
    {                                                                                              \
        .kind = PART_##kind_                                                                       \
    }

// The body alone is signed.
#define BODY(name_, header_, prefix_, algorithm_, encoding_)                                       \
    .name = name_, .kind = SCHEME_HMAC, .header = header_, .prefix = prefix_,                      \
    .parts = {PART(BODY)}, .algorithm = algorithm_, .encoding = encoding_

#define BOTH_WAYS(seconds) (seconds), (seconds)
#define IN_MINUTES(n) ((n)*INT64_C(60))
#define IN_HOURS(n) ((n)*INT64_C(3600))
