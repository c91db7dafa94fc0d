// migration.h: one forward-only step of the schema as it was compiled in.
#pragma once

struct migration {
    int number;
    const char *name;
    const char *sha256; // of the file's bytes, hex; kept in the ledger and compared at every start
    const char *sql;
};
