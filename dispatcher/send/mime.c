#include "dispatcher/send/mime.h"

#include "common/beneath.h"
#include "dispatcher/send/encode.h"
#include "dispatcher/send/filename.h"

#define MESSAGE_ID_MAX 250
#define DATE_MAX 64
#define LINK_MAX 900 // bytes; a line ends at 998

// A header value that goes out as it stands: printable ASCII, bounded.
static bool token_ok(const char *value, size_t max, const char *forbidden)
{
    struct slice s = slice_of(value);
    return s.len && s.len <= max && text_is_ascii(s) && !text_has_control(s) &&
           !strpbrk(value, forbidden);
}

bool mime_parts_ok(const struct content *content, struct err *err)
{
    if (!content->text && !content->html)
        return err_set(err, ERR_INPUT, "the message has neither text nor HTML");
    if (!text_is_utf8(slice_of(content->text)) || !text_is_utf8(slice_of(content->html)))
        return err_set(err, ERR_INPUT, "the body is not UTF-8");
    for (size_t i = 0; i < content->n_attachments; i++)
        if (!beneath_path_ok(content->attachments[i].path, err))
            return err_prefix(err, "attachment");
    return true;
}

static bool check(const struct content *content, struct err *err)
{
    if (content->unsubscribe && !token_ok(content->unsubscribe, LINK_MAX, "<> ,"))
        return err_set(err, ERR_INPUT, "the unsubscribe link is not one word of ASCII");
    struct slice subject = slice_of(content->subject);
    if (text_has_control(subject))
        return err_set(err, ERR_INPUT, "the subject holds a control character");
    if (!text_is_utf8(subject))
        return err_set(err, ERR_INPUT, "the subject is not UTF-8");
    if (!content->message_id || !token_ok(content->message_id, MESSAGE_ID_MAX, "<> ") ||
            !strchr(content->message_id, '@'))
        return err_set(err, ERR_INPUT, "the message id is not of the form 'id@domain'");
    if (!content->date || !token_ok(content->date, DATE_MAX, "<>"))
        return err_set(err, ERR_INPUT, "the date is not one line of ASCII");
    return mime_parts_ok(content, err);
}

static bool add_mailbox(const char *header, const struct mailbox *mailbox, struct text *out)
{
    size_t start = out->len;
    if (!text_str(out, header))
        return false;
    if (!mailbox->name)
        return text_fmt(out, "%s\r\n", mailbox->address);
    // Folded before the address where the line would grow past 76 with it.
    if (!encode_phrase(slice_of(mailbox->name), strlen(header), out))
        return false;
    bool fold = out->len - start + strlen(mailbox->address) + 3 > 76;
    return text_fmt(out, "%s <%s>\r\n", fold ? "\r\n" : "", mailbox->address);
}

static bool add_headers(const struct content *content, const struct mailbox *from,
        const struct mailbox *to, struct text *out)
{
    static const char subject[] = "Subject: ";
    return add_mailbox("From: ", from, out) && add_mailbox("To: ", to, out) &&
           text_str(out, subject) &&
           encode_unstructured(slice_of(content->subject), sizeof subject - 1, out) &&
           text_fmt(out, "\r\nDate: %s\r\nMessage-ID: <%s>\r\nMIME-Version: 1.0\r\n", content->date,
                   content->message_id) &&
           (!content->unsubscribe ||
                   text_fmt(out,
                           "List-Unsubscribe: <%s>\r\n"
                           "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
                           content->unsubscribe));
}

// Always an encoding of 7 bits: BODY=8BITMIME is not to be had everywhere.
static bool add_part(const char *type, const char *body, struct text *out)
{
    struct slice bytes = slice_of(body);
    bool base64 = encode_prefers_base64(bytes);
    return text_fmt(out,
                   "Content-Type: %s; charset=utf-8\r\n"
                   "Content-Transfer-Encoding: %s\r\n\r\n",
                   type, base64 ? "base64" : "quoted-printable") &&
           (base64 ? encode_base64(bytes, out) : encode_quoted_printable(bytes, out));
}

// "=_" can be in no line of quoted-printable or base64, so no body holds the boundary. The one
// around attachments is another.
static void boundary_of(const char *message_id, bool mixed, char out[KEY_HEX + 2])
{
    struct slice parts[] = {slice_of(message_id), SLICE("mixed")};
    out[0] = '=';
    out[1] = '_';
    key_hex(key_derive(parts, mixed ? 2 : 1), out + 2);
}

static bool add_body(const struct content *content, struct text *out)
{
    if (!content->html)
        return add_part("text/plain", content->text, out);
    if (!content->text)
        return add_part("text/html", content->html, out);
    char boundary[KEY_HEX + 2];
    boundary_of(content->message_id, false, boundary);
    return text_fmt(out, "Content-Type: multipart/alternative;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n",
                   boundary, boundary) &&
           add_part("text/plain", content->text, out) && text_fmt(out, "--%s\r\n", boundary) &&
           add_part("text/html", content->html, out) && text_fmt(out, "--%s--\r\n", boundary);
}

static bool add_mixed(const struct content *content, struct text *out, struct inlays *inlays)
{
    char boundary[KEY_HEX + 2];
    boundary_of(content->message_id, true, boundary);
    bool ok = text_fmt(out, "Content-Type: multipart/mixed;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n",
                      boundary, boundary) &&
              add_body(content, out);
    for (size_t i = 0; ok && i < content->n_attachments; i++) {
        const struct attachment *attachment = &content->attachments[i];
        ok = text_fmt(out, "--%s\r\n", boundary) && filename_head(attachment->path, out) &&
             text_str(out, "\r\n");
        inlays_add_file(inlays, out->len, attachment, true);
    }
    return ok && text_fmt(out, "--%s--\r\n", boundary);
}

bool mime_build(const struct content *content, const struct mailbox *from, const struct mailbox *to,
        struct text *out, struct inlays *inlays, struct err *err)
{
    if (!check(content, err))
        return false;
    bool ok = add_headers(content, from, to, out) &&
              (content->n_attachments ? add_mixed(content, out, inlays) : add_body(content, out));
    if (!ok)
        return err_set(err, ERR_INPUT, "the message is larger than %zu bytes", out->max);
    return true;
}
