#include "dispatcher/send/address.h"

#include "common/text.h"
#include "common/utf8.h"
#include "dispatcher/send/encode.h"

#include <ctype.h>
#include <stdio.h>

#define ADDRESS_MAX 254
#define LOCAL_MAX 64
#define NAME_MAX_BYTES 256

void mailbox_fini(struct mailbox *mailbox)
{
    free(mailbox->name);
    free(mailbox->address);
    *mailbox = (struct mailbox){0};
}

bool mailbox_needs_utf8(const struct mailbox *mailbox)
{
    return !text_is_ascii(slice_of(mailbox->address));
}

static struct slice trim(struct slice s)
{
    while (s.len && s.ptr[0] == ' ')
        s = (struct slice){s.ptr + 1, s.len - 1};
    while (s.len && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

// "Example \"Shop\"" -> Example "Shop"; a bare name is taken as it stands.
static char *unquote(struct slice name)
{
    if (name.len < 2 || name.ptr[0] != '"' || name.ptr[name.len - 1] != '"')
        return slice_dup(name);
    char *out = xmalloc(name.len);
    size_t len = 0;
    for (size_t i = 1; i + 1 < name.len; i++) {
        if (name.ptr[i] == '\\' && i + 2 < name.len)
            i++;
        out[len++] = (char)name.ptr[i];
    }
    out[len] = '\0';
    return out;
}

// Splits `name <address>`; without angle brackets all of it is the address.
static bool split(struct slice text, struct slice *ret_name, struct slice *ret_address)
{
    const unsigned char *open = memrchr(text.ptr, '<', text.len);
    if (!open) {
        *ret_name = (struct slice){NULL, 0};
        *ret_address = text;
        return true;
    }
    if (text.ptr[text.len - 1] != '>')
        return false;
    size_t before = (size_t)(open - text.ptr);
    *ret_name = trim((struct slice){text.ptr, before});
    *ret_address = (struct slice){open + 1, text.len - before - 2};
    return true;
}

// What RFC 5322 calls atext, the dot, and everything above ASCII. Dots in odd places are let
// through: such mailboxes exist.
static bool local_ok(struct slice local)
{
    if (local.len == 0 || local.len > LOCAL_MAX)
        return false;
    for (size_t i = 0; i < local.len; i++) {
        unsigned char c = local.ptr[i];
        if (c < 0x80 && !isalnum(c) && !strchr("!#$%&'*+-/=?^_`{|}~.", c))
            return false;
    }
    return true;
}

static bool domain_ok(const char *domain)
{
    size_t len = strlen(domain);
    if (len == 0 || domain[0] == '.' || domain[0] == '-' || domain[len - 1] == '.' ||
            strstr(domain, ".."))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)domain[i]) && domain[i] != '-' && domain[i] != '.')
            return false;
    }
    return true;
}

static bool ascii_domain(struct slice domain, domain_to_ascii_fn *to_ascii, char out[256])
{
    AUTO_FREE char *copy = slice_dup(domain);
    if (!text_is_ascii(domain))
        return to_ascii && to_ascii(copy, out) && domain_ok(out);
    return snprintf(out, 256, "%s", copy) < 256 && domain_ok(out);
}

static bool take_address(struct slice address, domain_to_ascii_fn *to_ascii,
        struct mailbox *mailbox, struct err *err)
{
    const unsigned char *at = memrchr(address.ptr, '@', address.len);
    if (!at)
        return err_set(err, ERR_INPUT, "the address has no '@'");
    struct slice local = {address.ptr, (size_t)(at - address.ptr)};
    struct slice domain = {at + 1, address.len - local.len - 1};
    if (!local_ok(local))
        return err_set(err, ERR_INPUT, "the address has no usable part before '@'");
    char ascii[256];
    if (!ascii_domain(domain, to_ascii, ascii))
        return err_set(err, ERR_INPUT, "the address has no usable domain");
    struct text whole;
    text_init(&whole, ADDRESS_MAX);
    bool fits = text_add(&whole, local) && text_char(&whole, '@') && text_str(&whole, ascii);
    mailbox->address = text_steal(&whole);
    if (!fits)
        return err_set(err, ERR_INPUT, "the address is longer than %d bytes", ADDRESS_MAX);
    mailbox->domain = local.len + 1;
    return true;
}

bool mailbox_parse(struct slice text, domain_to_ascii_fn *to_ascii, struct mailbox *ret_mailbox,
        struct err *err)
{
    if (text.len == 0)
        return err_set(err, ERR_INPUT, "the address is empty");
    if (utf8_has_control(text))
        return err_set(err, ERR_INPUT, "the address holds a control character");
    if (!text_is_utf8(text))
        return err_set(err, ERR_INPUT, "the address is not UTF-8");
    struct slice name, address;
    if (!split(text, &name, &address) || name.len > NAME_MAX_BYTES || address.len == 0)
        return err_set(err, ERR_INPUT, "not one mailbox like 'Name <local@domain>'");
    struct mailbox mailbox = {0};
    if (!take_address(address, to_ascii, &mailbox, err)) {
        mailbox_fini(&mailbox);
        return false;
    }
    if (name.len)
        mailbox.name = unquote(name);
    *ret_mailbox = mailbox;
    return true;
}
