#!/usr/bin/env python3
"""Turns .sql files into one C header of string literals.

embed.py statements OUT PREFIX FILE...   enum PREFIX_NAME + `static const struct pg_stmt prefix_statements[]`
embed.py slots OUT PREFIX N FILE...      each statement, written for slot 0 of a ring, once a slot: number PREFIX_NAME + slot
embed.py rings OUT PREFIX N RING:COLUMN,.. FILE...   each statement, written for slot 0 of a table `ring` dated by `ring_at`, once a
                                         ring and once a slot; ring_X.sql becomes PREFIX_<RING>_X
embed.py migrations OUT FILE...          `static const struct migration migrations[]` with number, name and sha256
"""
import hashlib
import os
import re
import sys


def literal(data):
    lines = []
    for line in data.decode("utf-8").splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
        lines.append('    "' + escaped + '"')
    return "\n".join(lines) or '    ""'


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def slot_of(data, slot):
    return re.sub(rb"\b([a-z]+(?:_[a-z]+)*)_0\b", rb"\g<1>_%d" % slot, data)


def ring_of(data, ring, column):
    for pattern, by in ((rb"\bring_0\b", ring + "_0"), (rb"'ring'", f"'{ring}'"), (rb"\bring_at\b", column)):
        data = re.sub(pattern, by.encode(), data)
    return data


def read(paths):
    """(name, text) of each file."""
    for path in paths:
        with open(path, "rb") as f:
            yield stem(path), f.read()


def of_rings(rings, paths):
    """(name, text) of each file for each ring, the rings in their order."""
    for ring, column in (r.split(":") for r in rings.split(",")):
        for name, data in read(paths):
            yield re.sub("^ring", ring, name), ring_of(data, ring, column)


def statements(out, prefix, texts, slots=1):
    texts = list(texts)
    # ISO C promises 4095 bytes of a literal; gcc and clang have no limit.
    body = ["#pragma once", '#pragma GCC diagnostic ignored "-Woverlength-strings"', '#include "common/pg/pg.h"', "", "enum {"]
    body += ["    %s_%s = %d," % (prefix.upper(), n.upper(), i * slots) for i, (n, _) in enumerate(texts)]
    body += ["    %s_COUNT = %d" % (prefix.upper(), len(texts) * slots), "};", ""]
    body.append("static const struct pg_stmt %s_statements[] = {" % prefix.lower())
    for name, data in texts:
        for slot in range(slots):
            suffix = "_%d" % slot if slots > 1 else ""
            body.append('    {"%s_%s%s",\n%s},' % (prefix.lower(), name, suffix, literal(slot_of(data, slot) if slots > 1 else data)))
    body.append("};")
    with open(out, "w") as f:
        f.write("\n".join(body) + "\n")


def migrations(out, paths):
    body = ["#pragma once", '#include "migrations/migration.h"', "", "static const struct migration migrations[] = {"]
    for path in paths:
        number, name = re.fullmatch(r"(\d{4})_(\w+)", stem(path)).groups()
        with open(path, "rb") as f:
            data = f.read()
        digest = hashlib.sha256(data).hexdigest()
        body.append('    {%d, "%s", "%s",\n%s},' % (int(number), name, digest, literal(data)))
    body.append("};")
    with open(out, "w") as f:
        f.write("\n".join(body) + "\n")


def main(kind, out, *rest):
    if kind == "statements":
        statements(out, rest[0], read(rest[1:]))
    elif kind == "slots":
        statements(out, rest[0], read(rest[2:]), int(rest[1]))
    elif kind == "rings":
        statements(out, rest[0], of_rings(rest[2], rest[3:]), int(rest[1]))
    else:
        migrations(out, rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
