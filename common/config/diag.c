#include "common/config/diag.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const level_names[] = {
        [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_INACTIVE] = "note"};
static const char *const json_names[] = {
        [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_INACTIVE] = "inactive"};

void diag_fini(struct diag *diag)
{
    for (size_t i = 0; i < diag->n; i++) {
        struct diag_row *row = &diag->rows[i];
        free(row->file);
        free(row->text);
        free(row->code);
        free(row->source_line);
        free(row->opened_source_line);
    }
    free(diag->rows);
    *diag = (struct diag){0};
}

static char *copy_or_null(const char *str)
{
    return str ? xstrdup(str) : NULL;
}

void diag_add(struct diag *diag, const struct diag_row *row)
{
    diag->errors += row->level == DIAG_ERROR;
    diag->warnings += row->level == DIAG_WARNING;
    diag->inactive += row->level == DIAG_INACTIVE;
    if (diag->n == DIAG_ROWS_MAX)
        return;
    if ((diag->n & (diag->n - 1)) == 0) // full at each power of two
        diag->rows = xrealloc(diag->rows, (diag->n ? diag->n * 2 : 1) * sizeof *diag->rows);
    struct diag_row copy = *row;
    copy.file = copy_or_null(row->file);
    copy.text = xstrdup(row->text);
    copy.code = copy_or_null(row->code);
    copy.source_line = copy_or_null(row->source_line);
    copy.opened_source_line = copy_or_null(row->opened_source_line);
    diag->rows[diag->n++] = copy;
}

void diag_error_at(
        struct diag *diag, const struct diag_place *place, const char *code, const char *text)
{
    AUTO_FREE char *file_copy = xstrdup(place->file);
    AUTO_FREE char *code_copy = xstrdup(code);
    AUTO_FREE char *text_copy = xstrdup(text);
    diag_add(diag, &(struct diag_row){.level = DIAG_ERROR,
                           .file = file_copy,
                           .line = place->line,
                           .column = place->column,
                           .span = place->span,
                           .code = code_copy,
                           .text = text_copy});
}

void diag_file(struct diag *diag, enum diag_level level, const char *file, const char *code,
        const char *fmt, ...)
{
    char text[DIAG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    AUTO_FREE char *held_file = copy_or_null(file);
    AUTO_FREE char *held_code = xstrdup(code);
    diag_add(diag,
            &(struct diag_row){.level = level, .file = held_file, .text = text, .code = held_code});
}

static int by_place(const void *left, const void *right)
{
    const struct diag_row *a = *(const struct diag_row *const *)left;
    const struct diag_row *b = *(const struct diag_row *const *)right;
    int order = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    if (order == 0)
        order = (a->column > b->column) - (a->column < b->column);
    if (order == 0) // found first, shown first: qsort is not stable
        order = (a > b) - (a < b);
    return order;
}

static const struct diag_row **sorted(const struct diag *diag)
{
    const struct diag_row **rows = xcalloc(diag->n, sizeof *rows);
    for (size_t i = 0; i < diag->n; i++)
        rows[i] = &diag->rows[i];
    qsort(rows, diag->n, sizeof *rows, by_place);
    return rows;
}

static int characters(const char *str)
{
    int n = 0;
    for (; *str; str++)
        n += ((unsigned char)*str & 0xc0) != 0x80;
    return n;
}

static void print_source(const char *line_text, int line, int column, int span, struct text *out)
{
    if (!line_text || column < 1)
        return;
    int room = characters(line_text) - column + 1;
    text_fmt(out, "%5d | %s\n      | %*s^", line, line_text, column - 1, "");
    for (int i = 1; i < span && i < room; i++)
        text_char(out, '~');
    text_char(out, '\n');
}

static void print_place(const char *file, int line, int column, struct text *out)
{
    if (file)
        text_fmt(out, "%s:", file);
    if (line)
        text_fmt(out, "%d:%d:", line, column);
    if (file)
        text_char(out, ' ');
}

static void print_row(const struct diag_row *row, struct text *out)
{
    print_place(row->file, row->line, row->column, out);
    text_fmt(out, "%s: %s [%s]\n", level_names[row->level], row->text, row->code ? row->code : "");
    print_source(row->source_line, row->line, row->column, row->span, out);
    if (!row->opened_line)
        return;
    print_place(row->file, row->opened_line, row->opened_column, out);
    text_str(out, "note: opened here\n");
    print_source(row->opened_source_line, row->opened_line, row->opened_column, 1, out);
}

void diag_print(const struct diag *diag, struct text *out)
{
    AUTO_FREE const struct diag_row **rows = sorted(diag);
    for (size_t i = 0; i < diag->n; i++)
        print_row(rows[i], out);
    size_t all = diag->errors + diag->warnings + diag->inactive;
    if (all > diag->n)
        text_fmt(out, "%zu more findings are not shown\n", all - diag->n);
}

static void json_string(const char *key, const char *value, struct text *out)
{
    text_fmt(out, "\"%s\":", key);
    if (!value) {
        text_str(out, "null");
        return;
    }
    text_char(out, '"');
    for (const char *c = value; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_fmt(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            text_fmt(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            text_char(out, *c);
    }
    text_char(out, '"');
}

static void json_row(const struct diag_row *row, struct text *out)
{
    text_char(out, '{');
    json_string("level", json_names[row->level], out);
    text_char(out, ',');
    json_string("file", row->file, out);
    text_fmt(out, ",\"line\":%d,\"column\":%d,\"span\":%d,", row->line, row->column, row->span);
    json_string("code", row->code, out);
    text_char(out, ',');
    json_string("text", row->text, out);
    if (row->opened_line)
        text_fmt(out, ",\"opened\":{\"line\":%d,\"column\":%d}", row->opened_line,
                row->opened_column);
    text_char(out, '}');
}

void diag_json(const struct diag *diag, struct text *out)
{
    AUTO_FREE const struct diag_row **rows = sorted(diag);
    text_fmt(out, "{\"errors\":%zu,\"warnings\":%zu,\"inactive\":%zu,\"findings\":[", diag->errors,
            diag->warnings, diag->inactive);
    for (size_t i = 0; i < diag->n; i++) {
        if (i)
            text_char(out, ',');
        json_row(rows[i], out);
    }
    text_str(out, "]}");
}
