// form.h: a provider's row: where its events say what, and what its words mean. For
// receiver/receipt only.
#pragma once
#include "receiver/receipt.h"

enum { RECEIPT_POINTERS = 3 };

// The first rule that matches counts; NULL matches anything.
struct receipt_rule {
    const char *status, *code;
    enum receipt_kind kind;
    enum suppress_reason suppress;
    int64_t wait_s;
};

// Pointers are tried in turn; NULL ends them.
struct receipt_form {
    const char *provider, *scheme; // scheme: that alone says whose receipts they are; or NULL
    enum channel_kind channel;
    bool key_in_query, place_in_query;
    const char *key[RECEIPT_POINTERS], *place[RECEIPT_POINTERS];
    const char *id[RECEIPT_POINTERS];
    char id_ends; // the id ends before this character; 0 = it does not
    const char *status[RECEIPT_POINTERS], *code[RECEIPT_POINTERS], *detail[RECEIPT_POINTERS];
    const struct receipt_rule *rules;
    size_t n_rules;
};

extern const struct receipt_form receipt_mail_forms[], receipt_sms_forms[];
extern const size_t receipt_n_mail_forms, receipt_n_sms_forms;
