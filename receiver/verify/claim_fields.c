// Values of the body that are signed, or are the signature or the time themselves.
#include "receiver/verify/claim.h"

#include "common/json/scan.h"

// Which value each pointer is for.
struct wanted {
    char *pointers[VALUES];
    size_t slots[VALUES];
    size_t n;
};

static void wanted_fini(struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->n; i++)
        free(wanted->pointers[i]);
}

static void want(struct wanted *wanted, size_t slot, struct slice pointer)
{
    wanted->slots[wanted->n] = slot;
    wanted->pointers[wanted->n++] = slice_dup(pointer);
}

static void want_all(const struct scheme *row, struct wanted *wanted)
{
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        if (row->parts[i].kind == PART_FIELD)
            want(wanted, i, row->parts[i].literal);
    }
    if (row->from == SIGNATURE_FIELD)
        want(wanted, VALUE_SIGNATURE, slice_of(row->header));
    if (row->time.from == TIME_FIELD)
        want(wanted, VALUE_TIME, slice_of(row->time.name));
}

static enum verify_reason read_json(const struct wanted *wanted, struct claim *claim)
{
    struct json_result results[VALUES] = {{.found = JSON_MISSING}};
    const char *pointers[VALUES];
    memcpy(pointers, wanted->pointers, sizeof pointers);
    if (!json_find(claim->doc, pointers, wanted->n, results, NULL))
        return VERIFY_BAD_BODY;
    for (size_t i = 0; i < wanted->n; i++) {
        size_t slot = wanted->slots[i];
        text_init(&claim->texts[slot], claim->doc.len);
        if (results[i].found == JSON_DUPLICATE)
            return VERIFY_BAD_BODY;
        if (results[i].found == JSON_MISSING || results[i].token.kind == JSON_KIND_NULL)
            continue;
        if (!json_plain(results[i].token, &claim->texts[slot], NULL))
            return VERIFY_BAD_BODY;
        claim->values[slot] = text_slice(&claim->texts[slot]);
    }
    return VERIFY_OK;
}

static enum verify_reason read_form(const struct wanted *wanted, struct claim *claim)
{
    if (!form_parse(claim->doc, &claim->fields, NULL))
        return VERIFY_BAD_BODY;
    for (size_t i = 0; i < wanted->n; i++) {
        struct slice name = slice_of(wanted->pointers[i] + 1); // behind the '/'
        size_t n = 0;
        for (size_t j = 0; j < claim->fields.n; j++) {
            if (!slice_eq(claim->fields.pairs[j].name, name))
                continue;
            claim->values[wanted->slots[i]] = claim->fields.pairs[j].value;
            if (++n > 1)
                return VERIFY_BAD_BODY;
        }
    }
    return VERIFY_OK;
}

static bool holds_literal(const struct scheme *row, struct slice value)
{
    for (size_t i = 0; row->parts[i].kind != PART_END; i++) {
        if (row->parts[i].kind == PART_LITERAL && slice_has(value, row->parts[i].literal))
            return true;
    }
    return false;
}

// From the left and from the right up to the loose field: what is signed reads one way only.
static bool reads_one_way(const struct scheme *row, const struct claim *claim)
{
    for (size_t i = 0; row->loose && row->parts[i].kind != PART_END; i++) {
        bool close = row->parts[i].kind == PART_FIELD &&
                     !slice_eq(row->parts[i].literal, slice_of(row->loose));
        if (close && holds_literal(row, claim->values[i]))
            return false;
    }
    return true;
}

enum verify_reason claim_read_fields(const struct scheme *row, struct claim *claim)
{
    __attribute__((cleanup(wanted_fini))) struct wanted wanted = {.n = 0};
    want_all(row, &wanted);
    if (wanted.n == 0)
        return VERIFY_OK;
    enum verify_reason reason = row->form ? read_form(&wanted, claim) : read_json(&wanted, claim);
    if (reason == VERIFY_OK && !reads_one_way(row, claim))
        return VERIFY_BAD_BODY;
    return reason;
}
