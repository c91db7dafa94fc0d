#include "receiver/accept/read_xml.h"

#include "common/json/scan.h"

#include <expat.h>
#include <openssl/evp.h>

enum { ESCAPED_MAX = 6, NAME_SHARE = 4 }; // bytes that one byte may become; of quotes and commas

struct element {
    bool array, nil;
    bool opened; // an element was in it: its bracket is written
};

// One document under way; failed = no more is written.
struct making {
    XML_Parser parser;
    struct text *out;
    struct text text; // of the innermost element so far
    struct element stack[JSON_DEPTH_MAX];
    size_t depth;
    bool failed;
};

static void give_up(struct making *making)
{
    making->failed = true;
    XML_StopParser(making->parser, XML_FALSE);
}

static bool has_attribute(const char **attributes, const char *name, const char *value)
{
    for (size_t i = 0; attributes[i]; i += 2) {
        if (strcmp(attributes[i], name) == 0)
            return strcmp(attributes[i + 1], value) == 0;
    }
    return false;
}

// What stands before an element within the one around it.
static bool lead(struct making *making, const char *name)
{
    struct element *around = making->depth ? &making->stack[making->depth - 1] : NULL;
    bool array = around && around->array, first = !around || !around->opened;
    if (around)
        around->opened = true;
    if (first && !text_char(making->out, array ? '[' : '{'))
        return false;
    if (!first && !text_char(making->out, ','))
        return false;
    return array || (json_quote(making->out, slice_of(name)) && text_char(making->out, ':'));
}

static void XMLCALL element_start(void *ctx, const char *name, const char **attributes)
{
    struct making *making = ctx;
    if (making->failed)
        return;
    if (making->depth == JSON_DEPTH_MAX || !lead(making, name)) {
        give_up(making);
        return;
    }
    text_reset(&making->text);
    making->stack[making->depth++] = (struct element){
            .array = has_attribute(attributes, "type", "array"),
            .nil = has_attribute(attributes, "nil", "true"),
    };
}

static void XMLCALL element_end(void *ctx, const char *name)
{
    struct making *making = ctx;
    (void)name;
    if (making->failed)
        return;
    struct element element = making->stack[--making->depth];
    bool ok;
    if (element.opened)
        ok = text_char(making->out, element.array ? ']' : '}');
    else if (element.array || element.nil)
        ok = text_str(making->out, element.array ? "[]" : "null");
    else
        ok = json_quote(making->out, text_slice(&making->text));
    text_reset(&making->text);
    if (!ok)
        give_up(making);
}

static void XMLCALL characters(void *ctx, const char *text, int len)
{
    struct making *making = ctx;
    struct slice more = {(const unsigned char *)text, (size_t)len};
    if (!making->failed && making->depth && !making->stack[making->depth - 1].opened &&
            !text_add(&making->text, more))
        give_up(making);
}

static void XMLCALL doctype(
        void *ctx, const char *name, const char *system, const char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    give_up(ctx);
}

static bool make(struct slice xml, struct text *out)
{
    XML_Parser parser = XML_ParserCreate("UTF-8");
    if (!parser)
        abort(); // out of memory
    struct making making = {.parser = parser, .out = out, .text = {.max = xml.len}};
    XML_SetUserData(parser, &making);
    XML_SetElementHandler(parser, element_start, element_end);
    XML_SetCharacterDataHandler(parser, characters);
    XML_SetStartDoctypeDeclHandler(parser, doctype);
    bool whole = XML_Parse(parser, (const char *)xml.ptr, (int)xml.len, 1) == XML_STATUS_OK;
    XML_ParserFree(parser);
    text_fini(&making.text);
    return whole && !making.failed && text_char(out, '}') && json_check(text_slice(out), NULL);
}

bool read_xml(struct slice base64, struct text *out)
{
    AUTO_FREE unsigned char *xml = xmalloc(base64.len + 1);
    EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
    int len = 0, rest = 0;
    if (!ctx)
        abort(); // out of memory
    EVP_DecodeInit(ctx);
    bool decoded = base64.len < INT32_MAX / ESCAPED_MAX &&
                   EVP_DecodeUpdate(ctx, xml, &len, base64.ptr, (int)base64.len) >= 0 &&
                   EVP_DecodeFinal(ctx, xml + len, &rest) == 1;
    EVP_ENCODE_CTX_free(ctx);
    text_init(out, (ESCAPED_MAX + NAME_SHARE) * base64.len);
    return decoded && make((struct slice){xml, (size_t)(len + rest)}, out);
}
