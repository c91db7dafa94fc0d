// table.h: rows of cells as an aligned table, as tab-separated lines, or as JSON.
#pragma once
#include "common/text.h"

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER, COLUMN_BOOL };

struct column {
    const char *name; // in JSON, and in capitals as the heading
    enum column_kind kind;
};

enum { TABLE_ROWS_MAX = 20000, TABLE_CELL_MAX = 8192 };

// Cells are added one after the other, row by row.
struct table {
    const struct column *columns;
    size_t n_columns;
    char **cells; // NULL = absent
    size_t n_cells, room;
    bool more; // rows were cut off
};

void table_init(struct table *table, const struct column *columns, size_t n_columns);
void table_fini(struct table *table);
#define AUTO_TABLE __attribute__((cleanup(table_fini)))

// Past TABLE_ROWS_MAX rows cells are dropped. Control characters become blanks when shown as text.
void table_cell(struct table *table, struct slice value); // ptr NULL = absent
void table_cell_fmt(struct table *table, const char *fmt, ...) PRINTF_LIKE(2, 3);
size_t table_rows(const struct table *table);
// Keeps the first `most` rows.
void table_cut(struct table *table, size_t most);

// width 0: headings and cells tab-separated and whole. Else aligned, the last column cut to width.
void table_text(const struct table *table, int width, struct text *out);
// {"items":[{..}],"next":null,"more":false}; numbers and true/false stand as they are.
void table_json(const struct table *table, struct text *out);
void table_json_items(const struct table *table, struct text *out); // the array alone

// Appends text that others wrote as it may reach a terminal: lines and tabs stay, other control
// characters become blanks.
void text_add_shown(struct text *out, struct slice text);
