// writer.h: writes a list of kept rows in one transaction; the connection is opened when needed.
#pragma once
#include "common/pg/pg.h"
#include "receiver/reject/kept.h"

struct writer {
    const char *conninfo;
    struct pg *pg;
    int64_t used_ms;
};

enum written {
    WRITTEN,
    UNWRITTEN, // nothing happened, or that is not known: it may be written again
    UNWRITABLE // the database will never take it
};
// Blocking, about two seconds at most.
enum written writer_write(struct writer *writer, const struct kept *first, struct err *err);
void writer_rest(struct writer *writer); // closes a connection that was not used for a minute
void writer_close(struct writer *writer);
