#include "cli/context.h"
#include "cli/flags.h"
#include "cli/format.h"
#include "cli/gates/gates.h"
#include "cli/gates_sql.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/json/scan.h"
#include "dispatcher/send/address.h"
#include "dispatcher/send/carrier.h"

#define LIMIT 50
#define SINCE_S (3650LL * 86400)
#define WHY_MAX 400
#define ADDRESS_MAX 2048
#define OTHERS_MAX 16384

const char *suppression_reason(int reason)
{
    static const char *const reasons[] = {
            "?", "hard bounce", "unregistered", "opt-out", "complaint", "by hand"};
    bool known = reason > 0 && (size_t)reason < ARRAY_LEN(reasons);
    return reasons[known ? reason : 0];
}

// --channel, or what the address looks like.
static bool channel_of(
        const struct call *call, const char *address, int *ret_channel, struct err *err)
{
    const char *name = call->values[FLAG_CHANNEL];
    if (name) {
        *ret_channel = (int)channel_by_name(name);
        return *ret_channel != CHANNEL_NONE ||
               err_set(err, ERR_INPUT, "--channel '%.40s' is none of email, sms and push", name);
    }
    *ret_channel = -1;
    if (!address)
        return true;
    if (strchr(address, '@'))
        *ret_channel = CHANNEL_EMAIL;
    else if (address[0] == '+')
        *ret_channel = CHANNEL_SMS;
    else
        return err_set(err, ERR_INPUT, "say what it is an address of by --channel");
    return true;
}

// E.164, with what people put between the digits.
static bool is_number(const char *address)
{
    size_t digits = 0, first = strcspn(address, "0123456789");
    for (const char *at = address; *at; at++)
        digits += *at >= '0' && *at <= '9';
    return address[0] == '+' && !address[1 + strspn(address + 1, "0123456789 -./()")] &&
           address[first] != '0' && digits >= 2 && digits <= 15;
}

// What is no address of the channel would be suppressed and hold nothing, in silence.
static bool address_fits(int channel, const char *address, struct err *err)
{
    struct mailbox mailbox = {0};
    if (channel == CHANNEL_EMAIL && strpbrk(address, "<>"))
        return err_set(err, ERR_INPUT, "a mail address is bare: ann@example.net");
    if (channel == CHANNEL_SMS && !is_number(address))
        return err_set(err, ERR_INPUT,
                "a phone number is + and 2 to 15 digits, of which the first are its country's");
    bool ok = channel != CHANNEL_EMAIL ||
              mailbox_parse(slice_of(address), send_domain_to_ascii, &mailbox, err);
    mailbox_fini(&mailbox);
    return ok;
}

static bool message_of(const struct call *call, struct pg *pg, int *ret_type, struct err *err)
{
    const char *name = call->values[FLAG_TYPE];
    *ret_type = 0;
    if (!name)
        return true;
    pg_add(pg, GATES_MESSAGE_KNOWN);
    pg_p_text(pg, slice_of(name));
    if (!pg_fly(pg, context_soon(), err))
        return false;
    if (pg_rows(pg, 0) == 0)
        return err_set(err, ERR_NOTFOUND, "there is no message '%.60s'", name);
    *ret_type = pg_int(pg, 0, 0, 0);
    return true;
}

// What else the address is suppressed for: removing all messages leaves one type, and the reverse.
static void add_others(const struct call *call, const struct pg *pg, struct text *out)
{
    bool json = call_has(call, FLAG_JSON);
    size_t n = pg_array_len(pg, 0, 0, 1);
    if (json)
        text_str(out, ",\"suppressed_for\":[");
    else if (n > 0 && call_has(call, FLAG_TYPE))
        text_fmt(out, " for --type %s; it is for", call->values[FLAG_TYPE]);
    else if (n > 0)
        text_str(out, " for all messages; it is for");
    for (size_t i = 0; i < n; i++) {
        struct slice name = pg_array_bytes(pg, 0, 0, 1, i);
        text_str(out, i > 0 ? "," : "");
        if (json && name.len > 0)
            json_quote(out, name);
        else if (json)
            text_str(out, "null");
        else if (name.len > 0)
            text_fmt(out, " --type %.*s", (int)name.len, (const char *)name.ptr);
        else
            text_str(out, " all messages (without --type)");
    }
    text_str(out, json ? "]" : "");
}

static int change(const struct call *call, int stmt, const char *done, const char *so)
{
    AUTO_CONTEXT struct context context = {0};
    AUTO_TEXT struct text out = {0};
    struct err err = {0};
    int channel, type;
    const char *why = call->values[FLAG_REASON], *address = call->args[0];
    if (!why || !*why || strlen(why) > WHY_MAX) {
        err_set(&err, ERR_INPUT, "say why by --reason, in 1 to %d bytes: it is kept in the audit",
                WHY_MAX);
        return out_usage(call, &err);
    }
    if (!*address || strlen(address) > ADDRESS_MAX)
        err_set(&err, ERR_INPUT, "an address has 1 to %d bytes", ADDRESS_MAX);
    if (err.kind != ERR_NONE || !channel_of(call, address, &channel, &err) ||
            (stmt == GATES_SUPPRESS_PUT && !address_fits(channel, address, &err)))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, gates_statements, GATES_COUNT, &err);
    if (!pg || !message_of(call, pg, &type, &err))
        return out_fail(call, &err);
    pg_add(pg, stmt);
    pg_p_int(pg, channel);
    pg_p_int(pg, type);
    pg_p_text(pg, slice_of(address));
    pg_p_text(pg, slice_of(context_user()));
    pg_p_text(pg, slice_of(why));
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    bool changed = pg_bool(pg, 0, 0, 0);
    text_init(&out, OTHERS_MAX);
    if (call_has(call, FLAG_JSON))
        text_fmt(&out, "{\"changed\":%s", changed ? "true" : "false");
    else
        text_str(&out, changed ? done : so);
    if (stmt == GATES_SUPPRESS_END)
        add_others(call, pg, &out);
    text_str(&out, call_has(call, FLAG_JSON) ? "}\n" : "\n");
    return out_data(&out, EXIT_DONE);
}

int suppress_add(const struct call *call)
{
    return change(call, GATES_SUPPRESS_PUT, "suppressed", "it is suppressed already");
}

int suppress_remove(const struct call *call)
{
    return change(call, GATES_SUPPRESS_END, "no longer suppressed", "it was not suppressed");
}

static void add_row(const struct pg *pg, int row, struct table *table)
{
    char at[32];
    AUTO_FREE char *address = format_masked(pg_bytes(pg, 0, row, 4));
    table_cell(table, slice_of(clock_rfc3339(pg_big(pg, 0, row, 0), at)));
    table_cell(table, slice_of(channel_name((enum channel_kind)pg_int(pg, 0, row, 1))));
    table_cell(table, slice_of(address));
    table_cell(table, pg_null(pg, 0, row, 2) ? (struct slice){0} : pg_bytes(pg, 0, row, 2));
    table_cell(table, slice_of(suppression_reason(pg_int(pg, 0, row, 3))));
    table_cell(table, pg_bytes(pg, 0, row, 5));
    table_cell(table, pg_bytes(pg, 0, row, 6));
}

int suppress_list(const struct call *call)
{
    static const struct column columns[] = {{"since", COLUMN_TEXT}, {"channel", COLUMN_TEXT},
            {"address", COLUMN_TEXT}, {"type", COLUMN_TEXT}, {"reason", COLUMN_TEXT},
            {"source", COLUMN_TEXT}, {"note", COLUMN_TEXT}};
    AUTO_CONTEXT struct context context = {0};
    AUTO_TABLE struct table table = {0};
    struct err err = {0};
    int channel;
    int64_t limit = LIMIT, since_s = SINCE_S;
    if (!flags_of_list(call, &since_s, &limit, &err) || !channel_of(call, NULL, &channel, &err))
        return out_usage(call, &err);
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg = context_connect(&context, gates_statements, GATES_COUNT, &err);
    if (!pg)
        return out_fail(call, &err);
    pg_add(pg, GATES_SUPPRESS_LIST);
    pg_p_big(pg, since_s);
    pg_p_int(pg, channel);
    pg_p_text(pg, slice_of(call->n_args > 0 ? call->args[0] : NULL));
    pg_p_int(pg, (int32_t)limit + 1);
    if (!pg_fly(pg, context_soon(), &err))
        return out_fail(call, &err);
    table_init(&table, columns, ARRAY_LEN(columns));
    for (int row = 0; row < pg_rows(pg, 0); row++)
        add_row(pg, row, &table);
    return out_list(call, &table, limit);
}
