#include "receiver/receipt/receipt_read.h"

#include "common/form.h"
#include "common/json/scan.h"
#include "receiver/receipt/form.h"

#include <stdio.h>

enum { VALUE_MAX = 512, QUERY_MAX = 4096 };

static const struct receipt_form *form_at(size_t i)
{
    if (i < receipt_n_mail_forms)
        return &receipt_mail_forms[i];
    i -= receipt_n_mail_forms;
    return i < receipt_n_sms_forms ? &receipt_sms_forms[i] : NULL;
}

static const struct receipt_form *form_of(const char *provider)
{
    const struct receipt_form *form = NULL;
    for (size_t i = 0; provider && (form = form_at(i)); i++)
        if (strcmp(form->provider, provider) == 0)
            return form;
    return NULL;
}

const char *receipt_provider_at(size_t i)
{
    const struct receipt_form *form = form_at(i);
    return form ? form->provider : NULL;
}

const char *receipt_provider_of(const char *scheme)
{
    const struct receipt_form *form = NULL;
    for (size_t i = 0; scheme && (form = form_at(i)); i++)
        if (form->scheme && strcmp(form->scheme, scheme) == 0)
            return form->provider;
    return NULL;
}

enum channel_kind receipt_channel_of(const char *provider)
{
    const struct receipt_form *form = form_of(provider);
    return form ? form->channel : CHANNEL_NONE;
}

// The first of the pointers that leads to a plain value, cut to size; "" when none does.
static void take(
        struct slice body, const char *const pointers[RECEIPT_POINTERS], char *out, size_t size)
{
    *out = '\0';
    for (size_t i = 0; i < RECEIPT_POINTERS && pointers[i]; i++) {
        struct json_result found;
        AUTO_TEXT struct text text = {.max = VALUE_MAX * 8};
        if (!json_find(body, &pointers[i], 1, &found, NULL) || found.found != JSON_FOUND ||
                !json_plain(found.token, &text, NULL) || text.len == 0)
            continue;
        snprintf(out, size, "%s", text_cstr(&text));
        return;
    }
}

// A parameter of the request's URL; "" when it is not there, or there twice.
static void take_query(struct slice query, const char *name, char *out, size_t size)
{
    AUTO_FORM struct form form = {.n = 0};
    size_t n = 0;
    *out = '\0';
    if (query.len > QUERY_MAX || !form_parse(query, &form, NULL))
        return;
    for (size_t i = 0; i < form.n; i++)
        if (slice_eq(form.pairs[i].name, slice_of(name)) && n++ == 0)
            snprintf(out, size, "%.*s", (int)form.pairs[i].value.len,
                    (const char *)form.pairs[i].value.ptr);
    if (n > 1)
        *out = '\0';
}

static bool matches(const char *wanted, const char *value)
{
    return !wanted || strcmp(wanted, value) == 0;
}

// A status may be judged by each of the codes that stand beside it.
static const struct receipt_rule *rule_of(
        const struct receipt_form *form, struct slice body, const char *status)
{
    char codes[RECEIPT_POINTERS][64] = {""};
    for (size_t i = 0; i < RECEIPT_POINTERS && form->code[i]; i++)
        take(body, (const char *const[RECEIPT_POINTERS]){form->code[i]}, codes[i], sizeof codes[i]);
    for (size_t r = 0; r < form->n_rules; r++) {
        const struct receipt_rule *rule = &form->rules[r];
        bool ok = !rule->code;
        for (size_t i = 0; !ok && i < RECEIPT_POINTERS; i++)
            ok = codes[i][0] && strcmp(rule->code, codes[i]) == 0;
        if (ok && matches(rule->status, status))
            return rule;
    }
    return NULL;
}

static void read_place(const struct receipt_form *form, struct slice body, struct slice query,
        struct receipt *receipt)
{
    char key_text[VALUE_MAX], place_text[VALUE_MAX];
    struct key key;
    if (form->key_in_query)
        take_query(query, "delivery", key_text, sizeof key_text);
    else
        take(body, form->key, key_text, sizeof key_text);
    if (form->place_in_query)
        take_query(query, "place", place_text, sizeof place_text);
    else
        take(body, form->place, place_text, sizeof place_text);
    if (!key_from_hex(slice_of(key_text), &key) ||
            !place_read(slice_of(place_text), &receipt->place))
        return;
    struct key own = place_key(&receipt->place, (int)form->channel);
    receipt->placed = memcmp(own.bytes, key.bytes, KEY_BYTES) == 0;
}

static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
            *text = '?';
}

static void read_words(const struct receipt_form *form, struct slice body, const char *status,
        struct receipt *receipt)
{
    char code[64], detail[160];
    take(body, form->code, code, sizeof code);
    take(body, form->detail, detail, sizeof detail);
    take(body, form->id, receipt->id, sizeof receipt->id);
    char *end = form->id_ends ? strchr(receipt->id, form->id_ends) : NULL;
    if (end)
        *end = '\0';
    bool same = strncmp(code, detail, sizeof code - 1) == 0;
    snprintf(receipt->said, sizeof receipt->said, "%s %s%s%s%s%s", form->provider, status,
            code[0] && !same ? " " : "", same ? "" : code, detail[0] ? ": " : "", detail);
    make_printable(receipt->id);
    make_printable(receipt->said);
}

struct receipt *receipt_read(const struct source *source, struct slice body, struct slice query)
{
    const char *provider =
            source->provider ? source->provider : receipt_provider_of(source->scheme);
    const struct receipt_form *form = source->receipts ? form_of(provider) : NULL;
    char status[64];
    if (!form)
        return NULL;
    take(body, form->status, status, sizeof status);
    const struct receipt_rule *rule = status[0] ? rule_of(form, body, status) : NULL;
    if (!rule || (rule->kind == RECEIPT_NONE && !rule->suppress))
        return NULL;
    struct receipt *receipt = xcalloc(1, sizeof *receipt);
    receipt->kind = rule->kind == RECEIPT_NONE ? RECEIPT_UNSUBSCRIBED : rule->kind;
    receipt->channel = form->channel;
    receipt->provider = form->provider;
    receipt->suppress = rule->suppress;
    receipt->wait_s = rule->wait_s;
    read_words(form, body, status, receipt);
    read_place(form, body, query, receipt);
    return receipt;
}
