#include "cli/table.h"

#include "common/json/scan.h"
#include "common/utf8.h"

#include <stdarg.h>
#include <stdio.h>

#define GAP 2 // blanks between columns

void table_init(struct table *table, const struct column *columns, size_t n_columns)
{
    *table = (struct table){.columns = columns, .n_columns = n_columns};
}

void table_fini(struct table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct table){0};
}

void table_cell(struct table *table, struct slice value)
{
    if (table->n_cells >= TABLE_ROWS_MAX * table->n_columns)
        return;
    if (table->n_cells == table->room) {
        table->room = table->room ? table->room * 2 : 64;
        table->cells = xrealloc(table->cells, table->room * sizeof *table->cells);
    }
    if (value.len > TABLE_CELL_MAX)
        value.len = TABLE_CELL_MAX;
    table->cells[table->n_cells++] = value.ptr ? slice_dup(value) : NULL;
}

void table_cell_fmt(struct table *table, const char *fmt, ...)
{
    char cell[TABLE_CELL_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(cell, sizeof cell, fmt, ap);
    va_end(ap);
    table_cell(table, n >= 0 ? slice_of(cell) : (struct slice){0});
}

size_t table_rows(const struct table *table)
{
    return table->n_columns ? table->n_cells / table->n_columns : 0;
}

void table_cut(struct table *table, size_t most)
{
    table->more = table_rows(table) > most;
    while (table_rows(table) > most)
        free(table->cells[--table->n_cells]);
}

// The character at text as it may be shown: its bytes, or 0 for one that must not reach a terminal.
static size_t shown_len(const char *text)
{
    size_t n = utf8_len(slice_of(text));
    uint32_t code = n ? utf8_code((const unsigned char *)text, n) : 0;
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
                   code == 0x2029 || (code >= 0x202a && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069);
    return control ? 0 : n;
}

static size_t byte_len(const char *text)
{
    size_t n = utf8_len(slice_of(text));
    return n ? n : 1;
}

// Appends at most max characters; returns how many.
static size_t add_cell(struct text *out, const char *cell, size_t max)
{
    size_t count = 0;
    for (const char *p = cell; *p && count < max; p += byte_len(p), count++) {
        size_t n = shown_len(p);
        text_add(out, n ? (struct slice){(const unsigned char *)p, n} : SLICE(" "));
    }
    return count;
}

void text_add_shown(struct text *out, struct slice text)
{
    AUTO_FREE char *copy = slice_dup(text); // ends at the first NUL, which is no text
    for (const char *p = copy; *p; p += byte_len(p)) {
        size_t n = *p == '\n' || *p == '\t' ? 1 : shown_len(p);
        text_add(out, n ? (struct slice){(const unsigned char *)p, n} : SLICE(" "));
    }
}

static size_t width_of(const char *cell)
{
    size_t count = 0;
    for (const char *p = cell; *p; p += byte_len(p))
        count++;
    return count;
}

static const char *cell_at(const struct table *table, size_t row, size_t column)
{
    const char *cell = table->cells[row * table->n_columns + column];
    return cell ? cell : "-";
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void heading(const char *name, char out[64])
{
    size_t i = 0;
    for (; name[i] && i < 63; i++)
        out[i] = name[i] == '_' ? ' ' : upper(name[i]);
    out[i] = '\0';
}

static void add_line(const struct table *table, const char *const *cells, const size_t *widths,
        int width, struct text *out)
{
    size_t at = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        bool last = c + 1 == table->n_columns;
        if (width == 0) {
            add_cell(out, cells[c], SIZE_MAX);
            text_str(out, last ? "" : "\t");
            continue;
        }
        size_t room = at < (size_t)width ? (size_t)width - at : 0;
        size_t used = add_cell(out, cells[c], room);
        at += used;
        for (size_t end = used; !last && end < widths[c] + GAP && at < (size_t)width; end++, at++)
            text_char(out, ' ');
    }
    while (width > 0 && out->len > 0 && out->ptr[out->len - 1] == ' ')
        out->len--;
    text_char(out, '\n');
}

void table_text(const struct table *table, int width, struct text *out)
{
    size_t rows = table_rows(table), n = table->n_columns;
    AUTO_FREE size_t *widths = xcalloc(n + 1, sizeof *widths);
    AUTO_FREE const char **cells = xcalloc(n + 1, sizeof *cells);
    AUTO_FREE char(*heads)[64] = xcalloc(n + 1, sizeof *heads);
    for (size_t c = 0; c < n; c++) {
        heading(table->columns[c].name, heads[c]);
        cells[c] = heads[c];
        widths[c] = width_of(heads[c]);
        for (size_t r = 0; r < rows; r++) {
            size_t w = width_of(cell_at(table, r, c));
            widths[c] = w > widths[c] ? w : widths[c];
        }
    }
    add_line(table, cells, widths, width, out);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < n; c++)
            cells[c] = cell_at(table, r, c);
        add_line(table, cells, widths, width, out);
    }
}

static void json_cell(enum column_kind kind, const char *cell, struct text *out)
{
    if (!cell)
        text_str(out, "null");
    else if (kind == COLUMN_TEXT)
        json_quote(out, slice_of(cell));
    else
        text_str(out, cell);
}

void table_json_items(const struct table *table, struct text *out)
{
    text_char(out, '[');
    for (size_t i = 0; i < table_rows(table) * table->n_columns; i++) {
        size_t c = i % table->n_columns;
        text_str(out, c > 0 ? "," : i > 0 ? ",{" : "{");
        json_quote(out, slice_of(table->columns[c].name));
        text_char(out, ':');
        json_cell(table->columns[c].kind, table->cells[i], out);
        text_str(out, c + 1 == table->n_columns ? "}" : "");
    }
    text_char(out, ']');
}

void table_json(const struct table *table, struct text *out)
{
    text_str(out, "{\"items\":");
    table_json_items(table, out);
    text_fmt(out, ",\"next\":null,\"more\":%s}\n", table->more ? "true" : "false");
}
