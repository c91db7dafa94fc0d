// row.h: the parameters of record.sql.
#pragma once
#include "dispatcher/record/decide.h"
#include "dispatcher/work.h"

struct record_row {
    const struct delivery *delivery;
    const struct decision *decision;
};

// Adds $1..$19 of record.sql, which must be the statement that was added last.
void record_rows_add(struct pg *pg, const struct record_row *rows, size_t n);

// Adds late.sql for further tries, which a receipt may have ended meanwhile;
// nothing when there are none.
void record_rows_late(struct pg *pg, const struct record_row *rows, size_t n);

// Adds suppress.sql for those whose address is to be suppressed; false when there are none.
bool record_rows_suppress(struct pg *pg, const struct record_row *rows, size_t n);
