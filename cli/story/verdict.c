#include "cli/story/verdict.h"

static void counted(struct text *out, int n, const char *one, const char *many)
{
    text_fmt(out, "%d %s", n, n == 1 ? one : many);
}

static void message_part(const struct story_count *count, struct text *out)
{
    if (count->messages == 0) {
        text_str(out, "no message.");
        return;
    }
    if (count->mails == count->messages)
        counted(out, count->messages, "mail", "mails");
    else
        counted(out, count->messages, "message", "messages");
    if (count->accepted == count->messages && count->possible_duplicates > 0)
        text_str(out, ", accepted.");
    else if (count->accepted == count->messages)
        text_str(out, count->messages == 1 ? ", accepted once." : ", each accepted once.");
    else
        text_fmt(out, ", %d accepted.", count->accepted);
}

static void listed(
        struct text *out, const char **separator, int n, const char *one, const char *many)
{
    if (n == 0)
        return;
    text_str(out, *separator);
    counted(out, n, one, many);
    *separator = ", ";
}

void verdict_text(const struct story_count *count, struct text *out)
{
    counted(out, count->copies, "webhook copy ->", "webhook copies ->");
    text_char(out, ' ');
    counted(out, count->moves, "move ->", "moves ->");
    text_char(out, ' ');
    message_part(count, out);
    const char *separator = " ";
    size_t before = out->len;
    listed(out, &separator, count->possible_duplicates, "possible duplicate",
            "possible duplicates");
    listed(out, &separator, count->failed, "not delivered", "not delivered");
    listed(out, &separator, count->other, "not sent", "not sent");
    text_str(out, out->len > before ? "." : "");
    separator = " Outstanding: ";
    before = out->len;
    listed(out, &separator, count->due, "due", "due");
    listed(out, &separator, count->unknown, "unknown outcome", "unknown outcomes");
    listed(out, &separator, count->waiting, "waiting event", "waiting events");
    listed(out, &separator, count->parked, "parked event", "parked events");
    text_str(out, out->len > before ? "." : " Nothing outstanding.");
}
