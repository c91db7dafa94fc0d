#include "receiver/reject/writer.h"

#include "common/clock.h"
#include "receiver/reject/reject_sql.h"

#define CONNECT_MS 1000
#define STATEMENT_MS 1000
#define FLIGHT_MS 1000
#define REST_MS 60000

// One array parameter: a value of each row.
#define COLUMN(kind, add)                                                                          \
    do {                                                                                           \
        pg_p_##kind(pg);                                                                           \
        for (const struct kept *k = first; k; k = k->next)                                         \
            add;                                                                                   \
    } while (0)

static const struct slice none = {NULL, 0};

static struct slice or_none(const struct kept *kept, struct slice bytes)
{
    return kept->left_out ? none : bytes;
}

static struct slice digest_of(const struct kept *kept)
{
    return kept->cut ? (struct slice){kept->body_sha256, sizeof kept->body_sha256} : none;
}

static void add_rows(struct pg *pg, const struct kept *first)
{
    pg_add(pg, REJECT_INSERT);
    COLUMN(ints, pg_e_int(pg, k->source));
    COLUMN(uuids, pg_e_uuid(pg, k->id));
    COLUMN(bigs, pg_e_big(pg, k->left_out));
    COLUMN(ints, pg_e_int(pg, (int32_t)k->body_bytes));
    COLUMN(bigs, pg_e_big(pg, k->received_us));
    COLUMN(bigs, pg_e_big(pg, k->last_us));
    COLUMN(texts, pg_e_bytes(pg, slice_of(k->reason)));
    COLUMN(texts, pg_e_bytes(pg, or_none(k, k->method)));
    COLUMN(texts, pg_e_bytes(pg, or_none(k, slice_of(k->peer))));
    COLUMN(byteas, pg_e_bytes(pg, or_none(k, k->target)));
    COLUMN(byteas, pg_e_bytes(pg, or_none(k, k->headers)));
    COLUMN(byteas, pg_e_bytes(pg, or_none(k, k->body)));
    COLUMN(byteas, pg_e_bytes(pg, digest_of(k)));
}

static bool open_now(struct writer *writer, struct err *err)
{
    const struct pg_options options = {.conninfo = writer->conninfo,
            .role = "pawl_receiver",
            .application = "pawl quarantine",
            .stmts = reject_statements,
            .n_stmts = REJECT_COUNT,
            .connect_timeout_ms = CONNECT_MS,
            .statement_timeout_ms = STATEMENT_MS};
    if (writer->pg && pg_alive(writer->pg))
        return true;
    writer_close(writer);
    writer->pg = pg_connect(&options, err);
    return writer->pg != NULL;
}

enum written writer_write(struct writer *writer, const struct kept *first, struct err *err)
{
    if (!open_now(writer, err))
        return UNWRITTEN;
    struct pg *pg = writer->pg;
    writer->used_ms = clock_mono_ms();
    pg_add_begin(pg);
    pg_add(pg, REJECT_QUICK);
    add_rows(pg, first);
    pg_add_commit(pg);
    if (pg_fly(pg, clock_mono_ms() + FLIGHT_MS, err))
        return WRITTEN;
    bool data = pg_alive(pg) && pg_failure_of(pg) == PGF_DATA;
    writer_close(writer);
    return data ? UNWRITABLE : UNWRITTEN;
}

void writer_rest(struct writer *writer)
{
    if (writer->pg && clock_mono_ms() - writer->used_ms > REST_MS)
        writer_close(writer);
}

void writer_close(struct writer *writer)
{
    pg_close(writer->pg);
    writer->pg = NULL;
}
