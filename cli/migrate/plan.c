#include "cli/migrate/plan.h"

static bool row_fits(const struct migration *file, const struct ledger_row *row, struct err *err)
{
    if (row->number != file->number)
        return err_set(err, ERR_CONFLICT,
                "migration %04d_%s was never applied, but %04d was: migrations only go forward",
                file->number, file->name, row->number);
    if (!slice_eq(row->name, slice_of(file->name)))
        return err_set(err, ERR_CONFLICT, "migration %04d is '%.*s' in the database, '%s' here",
                file->number, (int)row->name.len, (const char *)row->name.ptr, file->name);
    if (!slice_eq(row->sha256, slice_of(file->sha256)))
        return err_set(err, ERR_CONFLICT,
                "migration %04d_%s was changed after it was applied: its checksum differs",
                file->number, file->name);
    return true;
}

int plan_applied(const struct migration *all, size_t n_all, const struct ledger_row *rows,
        size_t n_rows, size_t *ret_newer, struct err *err)
{
    size_t both = n_rows < n_all ? n_rows : n_all;
    for (size_t i = 0; i < both; i++)
        if (!row_fits(&all[i], &rows[i], err))
            return -1;
    *ret_newer = n_rows - both;
    return (int)both;
}
