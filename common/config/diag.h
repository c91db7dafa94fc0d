// diag.h: findings about a configuration, all at once: `file:line:col: error: text [code]`, source
// line and caret.
#pragma once
#include "common/text.h"

enum diag_level {
    DIAG_ERROR,
    DIAG_WARNING,
    DIAG_INACTIVE
}; // DIAG_INACTIVE: valid, but not active yet

enum {
    DIAG_ROWS_MAX = 1000,  // further findings are counted, not kept
    DIAG_SOURCE_MAX = 240, // bytes; a longer source line is not shown
    DIAG_TEXT_MAX = 1024,  // bytes of one finding's text
};

struct diag_row {
    enum diag_level level;
    char *file;       // may be NULL
    int line, column; // 1-based, columns count characters; 0 = the file as a whole
    int span;         // length of the marked token, for the caret line
    char *text;
    char *code;        // short and stable: "enum", "duplicate-key"
    char *source_line; // copy of the line, or NULL
    // Where what went wrong began (same file), shown as "opened here"; 0 = nowhere else.
    int opened_line, opened_column;
    char *opened_source_line;
};

struct diag {
    struct diag_row *rows;
    size_t n, errors, warnings, inactive;
};

void diag_fini(struct diag *diag);                            // zeroed is fine
void diag_add(struct diag *diag, const struct diag_row *row); // copies all
// An error at a place of a file.
struct diag_place {
    const char *file;
    int line, column, span;
};
void diag_error_at(
        struct diag *diag, const struct diag_place *place, const char *code, const char *text);
// A finding about a file as a whole, or about none (file NULL).
void diag_file(struct diag *diag, enum diag_level level, const char *file, const char *code,
        const char *fmt, ...) PRINTF_LIKE(5, 6);
// GCC shape with source line and caret; one row a finding, sorted by file, line, column.
void diag_print(const struct diag *diag, struct text *out);
void diag_json(
        const struct diag *diag, struct text *out); // {"errors":n,"warnings":n,"findings":[..]}
