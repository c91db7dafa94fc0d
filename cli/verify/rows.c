// Other readings of the scheme: how the secret or the signature is written, and other schemes.
#include "cli/schemes/words.h"
#include "cli/verify/ask.h"

static void try_row(
        struct asking *asking, const struct scheme *row, const char *what, const char *words)
{
    int index = ask(row, asking->source, asking->request);
    if (index >= 0)
        ask_found(asking, NULL, asking->source->secrets[index].credential, "%s %s", what, words);
}

static void try_encodings(struct asking *asking, const struct scheme *row)
{
    static const enum scheme_encoding encodings[] = {ENCODING_HEX, ENCODING_BASE64};
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
        struct scheme other = *row;
        other.encoding = encodings[i];
        if (other.encoding != row->encoding)
            try_row(asking, &other, "if the signature is read as",
                    scheme_encoding_words(other.encoding));
    }
}

static void try_keys(struct asking *asking, const struct scheme *row)
{
    static const enum scheme_key keys[] = {
            SECRET_VERBATIM, SECRET_WHSEC, SECRET_HEX, SECRET_BASE64};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct scheme other = *row;
        other.key = keys[i];
        if (other.key != row->key)
            try_row(asking, &other, "if the secret is read so:", scheme_key_words(other.key));
    }
}

static void try_algorithms(struct asking *asking, const struct scheme *row)
{
    static const enum scheme_algorithm algorithms[] = {HMAC_SHA1, HMAC_SHA256, HMAC_SHA512};
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
        struct scheme other = *row;
        other.algorithm = algorithms[i];
        if (other.algorithm != row->algorithm)
            try_row(asking, &other, "if it is", scheme_algorithm_words(other.algorithm));
    }
}

// The same secrets by every other scheme of the catalogue.
static void try_schemes(struct asking *asking)
{
    for (size_t i = 0; scheme_at(i); i++) {
        const struct scheme *row = scheme_row(scheme_at(i));
        if (!row || row->kind == SCHEME_CUSTOM || row->kind == SCHEME_CODE ||
                row->kind == SCHEME_NONE || strcmp(row->name, asking->source->scheme) == 0)
            continue;
        AUTO_FREE char *name = xstrdup(row->name);
        struct source source = *asking->source;
        source.scheme = name;
        source.scheme_row = row;
        int index = ask(NULL, &source, asking->request);
        if (index >= 0)
            ask_found(asking, NULL, source.secrets[index].credential, "as scheme '%s'", row->name);
    }
}

void ask_rows(struct asking *asking)
{
    struct scheme made;
    const struct scheme *row = scheme_row_of(asking->source, &made);
    if (row && row->kind == SCHEME_HMAC) {
        row = scheme_spoken(row, asking->request);
        try_encodings(asking, row);
        // A public key is never tried as a shared secret: everybody could have signed with it.
        if (row->algorithm < ALGORITHM_PUBLIC) {
            try_keys(asking, row);
            try_algorithms(asking, row);
        }
    }
    try_schemes(asking);
}
