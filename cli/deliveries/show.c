#include "cli/context.h"
#include "cli/deliveries/deliveries.h"
#include "cli/deliveries_sql.h"
#include "cli/format.h"
#include "cli/out.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/json/scan.h"
#include "dispatcher/delivery.h"
#include "dispatcher/send/segments.h"
#include "receiver/accept/settle.h"

#define OUTPUT_MAX (16 << 20)

// Results of the one flight: the deliveries, the attempts, the receipts.
enum { DELIVERIES, ATTEMPTS, RECEIPTS };
enum { DUE_COL = 15 };

static bool ask(struct pg *pg, struct key id, struct err *err)
{
    static const int statements[] = {DELIVERIES_SHOW, DELIVERIES_ATTEMPTS, DELIVERIES_RECEIPTS};
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        pg_add(pg, statements[i]);
        pg_p_ints(pg);
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            pg_e_int(pg, bucket);
        pg_p_uuid(pg, id);
    }
    if (!pg_fly(pg, context_soon(), err))
        return false;
    return pg_rows(pg, DELIVERIES) > 0 ||
           err_set(err, ERR_NOTFOUND,
                   "there is no delivery of this notification (32 hex digits, or its once key)");
}

static void add_attempts(const struct pg *pg, struct table *table)
{
    for (int row = 0; row < pg_rows(pg, ATTEMPTS); row++) {
        char at[32];
        table_cell(table, slice_of(clock_rfc3339(pg_big(pg, ATTEMPTS, row, 0), at)));
        table_cell(table, slice_of(channel_name((enum channel_kind)pg_int(pg, ATTEMPTS, row, 1))));
        table_cell(table,
                pg_null(pg, ATTEMPTS, row, 8) ? (struct slice){0} : pg_bytes(pg, ATTEMPTS, row, 8));
        table_cell_fmt(table, "%d", pg_int(pg, ATTEMPTS, row, 2));
        table_cell(table,
                slice_of(attempt_outcome_name((enum attempt_outcome)pg_int(pg, ATTEMPTS, row, 3))));
        if (pg_null(pg, ATTEMPTS, row, 4))
            table_cell(table, (struct slice){0});
        else
            table_cell_fmt(table, "%d", pg_int(pg, ATTEMPTS, row, 4));
        table_cell_fmt(
                table, "%d", pg_null(pg, ATTEMPTS, row, 6) ? 0 : pg_int(pg, ATTEMPTS, row, 6));
        table_cell(table, slice_of(pg_bool(pg, ATTEMPTS, row, 7) ? "true" : "false"));
        table_cell(table,
                pg_null(pg, ATTEMPTS, row, 5) ? (struct slice){0} : pg_bytes(pg, ATTEMPTS, row, 5));
    }
}

static const char *state_name(const struct pg *pg, int row, int col)
{
    return delivery_state_name((enum delivery_state)pg_int(pg, RECEIPTS, row, col));
}

static void add_receipts(const struct pg *pg, struct table *table)
{
    for (int row = 0; row < pg_rows(pg, RECEIPTS); row++) {
        char at[32];
        enum receipt_kind kind = (enum receipt_kind)pg_int(pg, RECEIPTS, row, 4);
        enum settle_outcome outcome = (enum settle_outcome)pg_int(pg, RECEIPTS, row, 5);
        table_cell(table, slice_of(clock_rfc3339(pg_big(pg, RECEIPTS, row, 0), at)));
        table_cell(table, slice_of(channel_name((enum channel_kind)pg_int(pg, RECEIPTS, row, 1))));
        table_cell_fmt(table, "%d", pg_int(pg, RECEIPTS, row, 2));
        table_cell_fmt(table, "%d", pg_int(pg, RECEIPTS, row, 8));
        table_cell(table, pg_bytes(pg, RECEIPTS, row, 3));
        table_cell(table, slice_of(receipt_kind_name(kind)));
        table_cell(table, slice_of(settle_outcome_name(outcome)));
        table_cell(table, slice_of(state_name(pg, row, 6)));
        table_cell(table, slice_of(state_name(pg, row, 7)));
        table_cell(table, pg_bytes(pg, RECEIPTS, row, 9));
        table_cell(table, pg_null(pg, RECEIPTS, row, 10) ? (struct slice){0}
                                                         : pg_bytes(pg, RECEIPTS, row, 10));
    }
}

static const struct {
    const char *name;
    int col;
} parts[] = {{"once", 11}, {"type", 12}, {"order", 13}, {"reason", 7}, {"provider_id", 8}};

// How much is billed for a text message; 0 parts for what is none.
static struct segments segments_of(int channel, const struct content *content)
{
    struct segments segments = {0};
    struct err err;
    bool ok = channel == CHANNEL_SMS && content->text &&
              segments_count(slice_of(content->text), &segments, &err);
    return ok ? segments : (struct segments){0};
}

static const char *coding_name(const struct segments *segments)
{
    return segments->coding == SEGMENTS_GSM7 ? "GSM-7" : "UCS-2";
}

static void files_text(const struct content *content, struct text *out)
{
    char hex[CONTENT_HASH];
    for (size_t i = 0; i < content->n_attachments; i++) {
        const struct attachment *attachment = &content->attachments[i];
        text_fmt(out, "%-11s ", "attachment");
        text_add_shown(out, slice_of(attachment->path));
        text_fmt(out, " (%zu bytes, sha256 %s)\n", attachment->size,
                content_hash_hex(attachment->sha256, hex));
    }
}

static void content_text(int channel, struct slice stored, struct text *out)
{
    struct content content = {0};
    struct err err;
    if (content_from_json(stored, &content, &err)) {
        struct segments segments = segments_of(channel, &content);
        if (content.subject) {
            text_fmt(out, "%-11s ", channel == CHANNEL_PUSH ? "title" : "subject");
            text_add_shown(out, slice_of(content.subject));
            text_char(out, '\n');
        }
        if (content.message_id)
            text_fmt(out, "%-11s <%s>\n", "message-id", content.message_id);
        if (segments.parts)
            text_fmt(out, "%-11s %zu (%s, %zu units)\n", "parts", segments.parts,
                    coding_name(&segments), segments.units);
        files_text(&content, out);
        text_char(out, '\n');
        text_add_shown(out, slice_of(content.text ? content.text : content.html));
        text_char(out, '\n');
    }
    content_fini(&content);
}

static void one_text(const struct pg *pg, int row, struct text *out)
{
    char at[32];
    int channel = pg_int(pg, DELIVERIES, row, 0);
    AUTO_FREE char *address = format_recipient(channel, pg_bytes(pg, DELIVERIES, row, 6));
    text_fmt(out, "%s to %s: %s, %d tries, %d possible duplicates, %s, made %s\n",
            channel_name((enum channel_kind)channel), address,
            delivery_state_name((enum delivery_state)pg_int(pg, DELIVERIES, row, 2)),
            pg_int(pg, DELIVERIES, row, 3), pg_int(pg, DELIVERIES, row, 4),
            pg_int(pg, DELIVERIES, row, 5) == AT_MOST_ONCE ? "at-most-once" : "at-least-once",
            clock_rfc3339(pg_big(pg, DELIVERIES, row, 9), at));
    if (!pg_null(pg, DELIVERIES, row, DUE_COL))
        text_fmt(out, "%-11s %s\n", "due", clock_rfc3339(pg_big(pg, DELIVERIES, row, DUE_COL), at));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (pg_null(pg, DELIVERIES, row, parts[i].col))
            continue;
        struct slice value = pg_bytes(pg, DELIVERIES, row, parts[i].col);
        text_fmt(out, "%-11s %.*s\n", parts[i].name, (int)value.len, (const char *)value.ptr);
    }
    if (!pg_null(pg, DELIVERIES, row, 14))
        content_text(channel, pg_bytes(pg, DELIVERIES, row, 14), out);
}

// The address stays masked here too; a device's is a secret.
static void content_json(int channel, struct slice stored, struct text *out)
{
    struct content content = {0};
    struct err err;
    if (!content_from_json(stored, &content, &err)) {
        text_str(out, "null,\"segments\":null");
        return;
    }
    AUTO_FREE char *masked =
            channel == CHANNEL_PUSH ? xstrdup("***") : format_masked(slice_of(content.to));
    free(content.to);
    content.to = steal(&masked);
    if (!content_to_json(&content, out))
        text_str(out, "null");
    struct segments segments = segments_of(channel, &content);
    text_str(out, ",\"segments\":");
    if (segments.parts)
        text_fmt(out, "{\"parts\":%zu,\"coding\":\"%s\",\"units\":%zu}", segments.parts,
                coding_name(&segments), segments.units);
    else
        text_str(out, "null");
    content_fini(&content);
}

static void one_json(const struct pg *pg, int row, struct text *out)
{
    char at[32];
    int channel = pg_int(pg, DELIVERIES, row, 0);
    AUTO_FREE char *address = format_recipient(channel, pg_bytes(pg, DELIVERIES, row, 6));
    text_fmt(out, "%s{\"channel\":\"%s\",\"redrive\":%d,\"state\":\"%s\",\"tries\":%d,",
            row ? "," : "", channel_name((enum channel_kind)channel),
            pg_int(pg, DELIVERIES, row, 1),
            delivery_state_name((enum delivery_state)pg_int(pg, DELIVERIES, row, 2)),
            pg_int(pg, DELIVERIES, row, 3));
    text_fmt(out, "\"possible_duplicates\":%d,\"created_at\":\"%s\",\"to\":",
            pg_int(pg, DELIVERIES, row, 4), clock_rfc3339(pg_big(pg, DELIVERIES, row, 9), at));
    json_quote(out, slice_of(address));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        text_fmt(out, ",\"%s\":", parts[i].name);
        if (pg_null(pg, DELIVERIES, row, parts[i].col))
            text_str(out, "null");
        else
            json_quote(out, pg_bytes(pg, DELIVERIES, row, parts[i].col));
    }
    text_str(out, ",\"due_at\":");
    if (pg_null(pg, DELIVERIES, row, DUE_COL))
        text_str(out, "null");
    else
        text_fmt(out, "\"%s\"", clock_rfc3339(pg_big(pg, DELIVERIES, row, DUE_COL), at));
    text_str(out, ",\"content\":");
    if (pg_null(pg, DELIVERIES, row, 14))
        text_str(out, "null,\"segments\":null");
    else
        content_json(channel, pg_bytes(pg, DELIVERIES, row, 14), out);
    text_char(out, '}');
}

static const struct column receipt_columns[] = {{"at", COLUMN_TEXT}, {"channel", COLUMN_TEXT},
        {"redrive", COLUMN_NUMBER}, {"attempt", COLUMN_NUMBER}, {"source", COLUMN_TEXT},
        {"receipt", COLUMN_TEXT}, {"outcome", COLUMN_TEXT}, {"from", COLUMN_TEXT},
        {"to", COLUMN_TEXT}, {"event", COLUMN_TEXT}, {"said", COLUMN_TEXT}};

static int show_all(const struct call *call, const struct pg *pg)
{
    static const struct column columns[] = {{"at", COLUMN_TEXT}, {"channel", COLUMN_TEXT},
            {"provider", COLUMN_TEXT}, {"attempt", COLUMN_NUMBER}, {"outcome", COLUMN_TEXT},
            {"code", COLUMN_NUMBER}, {"wire_ms", COLUMN_NUMBER},
            {"possible_duplicate", COLUMN_BOOL}, {"detail", COLUMN_TEXT}};
    AUTO_TABLE struct table table = {0};
    AUTO_TABLE struct table receipts = {0};
    AUTO_TEXT struct text out = {0};
    bool json = call_has(call, FLAG_JSON);
    table_init(&table, columns, ARRAY_LEN(columns));
    table_init(&receipts, receipt_columns, ARRAY_LEN(receipt_columns));
    text_init(&out, OUTPUT_MAX);
    add_attempts(pg, &table);
    add_receipts(pg, &receipts);
    text_str(&out, json ? "{\"items\":[" : "");
    for (int row = 0; row < pg_rows(pg, DELIVERIES); row++) {
        if (json)
            one_json(pg, row, &out);
        else
            one_text(pg, row, &out);
    }
    text_str(&out, json ? "],\"attempts\":" : "\n");
    if (json)
        table_json_items(&table, &out);
    else
        table_text(&table, out_width(), &out);
    if (json) {
        text_str(&out, ",\"receipts\":");
        table_json_items(&receipts, &out);
    } else if (pg_rows(pg, RECEIPTS) > 0) {
        text_char(&out, '\n');
        table_text(&receipts, out_width(), &out);
    }
    text_str(&out, json ? ",\"next\":null}\n" : "");
    return out_data(&out, EXIT_DONE);
}

int deliveries_show(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    struct slice ref = slice_of(call->args[0]);
    struct key id;
    if (!key_from_hex(ref, &id))
        id = key_notification(ref); // a once key: the id is its hash
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    AUTO_PG struct pg *pg =
            context_connect(&context, deliveries_statements, DELIVERIES_COUNT, &err);
    if (!pg || !ask(pg, id, &err))
        return out_fail(call, &err);
    return show_all(call, pg);
}
