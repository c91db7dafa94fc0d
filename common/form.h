// form.h: reads application/x-www-form-urlencoded bodies: names and values as bytes.
//
// The rules are https://url.spec.whatwg.org/#urlencoded-parsing: '&' parts pairs, the first '=' a
// name from its value, '+' is a space, %XX a byte; a '%' without two hex digits stands for itself.
// An empty piece between two '&' is no pair. Nothing is made of the bytes: they may be no UTF-8.
#pragma once
#include "common/err.h"

enum { FORM_PAIRS_MAX = 2048 };

struct form_pair {
    struct slice name, value;
};
struct form {
    struct form_pair *pairs; // in the body's order
    size_t n;
    unsigned char *bytes; // what the pairs borrow
};
#define AUTO_FORM __attribute__((cleanup(form_fini)))

// More than FORM_PAIRS_MAX pairs is ERR_INPUT. Free with form_fini().
MUST_CHECK bool form_parse(struct slice body, struct form *ret_form, struct err *err);
void form_fini(struct form *form); // zeroed is fine

// By name, then value, as bytes.
void form_sort(struct form *form);
