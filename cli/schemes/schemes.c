#include "cli/schemes/schemes.h"

#include "cli/out.h"
#include "cli/schemes/words.h"
#include "cli/table.h"
#include "common/json/scan.h"

enum { OUTPUT_MAX = 1 << 20, WORDS_MAX = 8192 };

static const struct scheme *row_of(const char *name)
{
    return scheme_row(name);
}

// --- The list

static const enum scheme_fact listed[] = {
        FACT_SIGNATURE, FACT_SIGNED, FACT_ALGORITHM, FACT_ID, FACT_REPEATS, FACT_ANSWER};

static void add_fact(struct table *table, enum scheme_fact fact, const char *name)
{
    AUTO_TEXT struct text words = {.len = 0};
    text_init(&words, WORDS_MAX);
    fact_write(fact, name, row_of(name), &words);
    table_cell(table, words.len ? text_slice(&words) : (struct slice){NULL, 0});
}

static void fill(struct table *table)
{
    for (size_t i = 0; scheme_at(i); i++) {
        const char *name = scheme_at(i);
        table_cell(table, slice_of(name));
        table_cell(table, slice_of(scheme_runs(row_of(name)) ? "true" : "false"));
        for (size_t j = 0; j < ARRAY_LEN(listed); j++)
            add_fact(table, listed[j], name);
    }
}

int schemes_list(const struct call *call)
{
    static const struct column columns[] = {{"scheme", COLUMN_TEXT}, {"runs", COLUMN_BOOL},
            {"signature", COLUMN_TEXT}, {"signed", COLUMN_TEXT}, {"algorithm", COLUMN_TEXT},
            {"event_id", COLUMN_TEXT}, {"repeats", COLUMN_TEXT}, {"answer", COLUMN_TEXT}};
    AUTO_TABLE struct table table = {0};
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_MARKDOWN)) {
        schemes_markdown(&out);
        return out_data(&out, EXIT_DONE);
    }
    table_init(&table, columns, ARRAY_LEN(columns));
    fill(&table);
    return out_table(call, &table);
}

// --- One scheme

static void show_text(const char *name, const struct scheme *row, struct text *out)
{
    text_fmt(out, "%s%s\n", name, scheme_runs(row) ? "" : " (known, but not active yet)");
    for (int i = 0; i < FACT_COUNT; i++) {
        AUTO_TEXT struct text words = {.len = 0};
        text_init(&words, WORDS_MAX);
        fact_write((enum scheme_fact)i, name, row, &words);
        if (words.len)
            text_fmt(out, "  %-10s  %s\n", fact_label((enum scheme_fact)i), text_cstr(&words));
    }
}

static void show_json(const char *name, const struct scheme *row, struct text *out)
{
    text_str(out, "{\"scheme\":");
    json_quote(out, slice_of(name));
    text_fmt(out, ",\"runs\":%s,\"repeats_s\":%lld", scheme_runs(row) ? "true" : "false",
            (long long)scheme_horizon_s(name));
    for (int i = 0; i < FACT_COUNT; i++) {
        AUTO_TEXT struct text words = {.len = 0};
        text_init(&words, WORDS_MAX);
        fact_write((enum scheme_fact)i, name, row, &words);
        text_fmt(out, ",\"%s\":", fact_name((enum scheme_fact)i));
        if (words.len)
            json_quote(out, text_slice(&words));
        else
            text_str(out, "null");
    }
    text_str(out, "}\n");
}

int schemes_show(const struct call *call)
{
    const char *name = call->args[0];
    struct err err = {0};
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (!scheme_known(name, NULL)) {
        err_set(&err, ERR_NOTFOUND, "there is no scheme '%.60s': pawl schemes list", name);
        return out_fail(call, &err);
    }
    if (call_has(call, FLAG_JSON))
        show_json(name, row_of(name), &out);
    else
        show_text(name, row_of(name), &out);
    return out_data(&out, EXIT_DONE);
}

// --- The page

static void add_cell(struct slice words, struct text *out)
{
    for (size_t i = 0; i < words.len; i++) {
        if (words.ptr[i] == '|')
            text_char(out, '\\');
        text_char(out, (char)words.ptr[i]);
    }
}

static void markdown_section(const char *name, const struct scheme *row, struct text *out)
{
    text_fmt(out, "\n### `%s`\n\n| | |\n|---|---|\n", name);
    for (int i = 0; i < FACT_COUNT; i++) {
        AUTO_TEXT struct text words = {.len = 0};
        text_init(&words, WORDS_MAX);
        fact_write((enum scheme_fact)i, name, row, &words);
        if (!words.len)
            continue;
        text_fmt(out, "| %s | ", fact_label((enum scheme_fact)i));
        add_cell(text_slice(&words), out);
        text_str(out, " |\n");
    }
}

static void markdown_later(struct text *out)
{
    size_t n = 0;
    for (size_t i = 0; scheme_at(i); i++) {
        if (!scheme_runs(row_of(scheme_at(i))))
            text_fmt(out, "%s`%s`",
                    n++ ? ", " : "\nKnown by name, but not active yet: ", scheme_at(i));
    }
    text_str(out, n ? ".\n" : "");
}

void schemes_markdown(struct text *out)
{
    text_str(out, "| scheme | signature | signed | repeats |\n|---|---|---|---|\n");
    for (size_t i = 0; scheme_at(i); i++) {
        static const enum scheme_fact columns[] = {FACT_SIGNATURE, FACT_SIGNED, FACT_REPEATS};
        if (!scheme_runs(row_of(scheme_at(i))))
            continue;
        text_fmt(out, "| [`%s`](#%s)", scheme_at(i), scheme_at(i));
        for (size_t j = 0; j < ARRAY_LEN(columns); j++) {
            AUTO_TEXT struct text words = {.len = 0};
            text_init(&words, WORDS_MAX);
            fact_write(columns[j], scheme_at(i), row_of(scheme_at(i)), &words);
            text_str(out, " | ");
            add_cell(text_slice(&words), out);
        }
        text_str(out, " |\n");
    }
    markdown_later(out);
    for (size_t i = 0; scheme_at(i); i++) {
        if (scheme_runs(row_of(scheme_at(i))))
            markdown_section(scheme_at(i), row_of(scheme_at(i)), out);
    }
}
