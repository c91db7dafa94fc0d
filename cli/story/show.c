#include "cli/story/show.h"

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/story_sql.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/json/scan.h"

#define OUTPUT_MAX (8 << 20)
#define SINCE_S (7 * 86400)
#define DAY_US (86400LL * 1000000)

static const struct column columns[] = {{"at", COLUMN_TEXT}, {"hop", COLUMN_TEXT},
        {"subject", COLUMN_TEXT}, {"what", COLUMN_TEXT}, {"outcome", COLUMN_TEXT},
        {"detail", COLUMN_TEXT}};

static bool one_day(const struct story *story)
{
    return story->n_lines > 0 &&
           story->lines[0].at_us / DAY_US == story->lines[story->n_lines - 1].at_us / DAY_US;
}

// For people the hour is enough when all was on one day.
static void fill(const struct story *story, bool short_times, struct table *table)
{
    for (size_t i = 0; i < story->n_lines; i++) {
        const struct story_line *line = &story->lines[i];
        char at[32];
        clock_rfc3339(line->at_us, at);
        struct slice whole = slice_of(at), hour = {(const unsigned char *)at + 11, 12};
        table_cell(table, short_times && whole.len > 23 ? hour : whole);
        table_cell(table, slice_of(line->hop));
        table_cell(table, slice_of(line->subject));
        table_cell(table, slice_of(line->what));
        table_cell(table, slice_of(line->outcome));
        table_cell(table, slice_of(line->detail));
    }
}

void story_text(const struct story *story, int width, struct text *out)
{
    AUTO_TABLE struct table table = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    fill(story, width > 0 && one_day(story), &table);
    if (story->order)
        text_fmt(out, "order %s   %s, version %d\n", story->order,
                story->state ? story->state : "not created yet", story->version);
    table_text(&table, width, out);
    verdict_text(&story->count, out);
    text_char(out, '\n');
}

static void json_text_or_null(struct text *out, const char *value)
{
    if (value)
        json_quote(out, slice_of(value));
    else
        text_str(out, "null");
}

void story_json(const struct story *story, struct text *out)
{
    static const char *const kinds[] = {"order", "event", "notification"};
    const struct story_count *c = &story->count;
    AUTO_TABLE struct table table = {0};
    AUTO_TEXT struct text verdict = {0};
    table_init(&table, columns, ARRAY_LEN(columns));
    text_init(&verdict, 4096);
    fill(story, false, &table);
    verdict_text(c, &verdict);
    text_fmt(out, "{\"kind\":\"%s\",\"order\":", kinds[story->kind]);
    json_text_or_null(out, story->order);
    text_str(out, ",\"state\":");
    json_text_or_null(out, story->state);
    text_fmt(out,
            ",\"version\":%d,\"copies\":%d,\"caught\":%d,\"moves\":%d,\"messages\":%d,\"mails\":%d,"
            "\"accepted\":%d,\"due\":%d,\"unknown\":%d,\"possible_duplicates\":%d,\"failed\":%d,"
            "\"not_sent\":%d,\"waiting\":%d,\"parked\":%d,\"verdict\":",
            story->version, c->copies, c->caught, c->moves, c->messages, c->mails, c->accepted,
            c->due, c->unknown, c->possible_duplicates, c->failed, c->other, c->waiting, c->parked);
    json_quote(out, text_slice(&verdict));
    text_str(out, ",\"timeline\":");
    table_json_items(&table, out);
    text_char(out, '}');
}

static int show(const struct call *call, const struct story *story)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON)) {
        story_json(story, &out);
        text_char(&out, '\n');
    } else {
        story_text(story, out_width(), &out);
    }
    return out_data(&out, EXIT_DONE);
}

int story_command(const struct call *call)
{
    AUTO_CONTEXT struct context context = {0};
    struct err err = {0};
    int64_t since_s = SINCE_S;
    int code = context_load(call, &context);
    if (code != EXIT_DONE)
        return code;
    if (!flag_duration(call, FLAG_SINCE, &since_s, &err))
        return out_usage(call, &err);
    AUTO_PG struct pg *pg = context_connect(&context, story_statements, STORY_COUNT, &err);
    struct story *story = pg ? story_new(pg, 0, call->args[0], since_s, &err) : NULL;
    if (!story)
        return out_fail(call, &err);
    code = show(call, story);
    story_free(story);
    return code;
}
