"""The schema's rules (design: schema rules), asked of the catalogue and tried with the roles of the programs."""
import glob
import os
import re
import subprocess
import sys

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

sys.path.append(os.path.join(ROOT, "tools"))
import embed  # noqa: E402 pylint: disable=wrong-import-position

PROBE = os.environ.get("PAWL_STORE_PROBE") or os.path.join(build_dir(), "tests", "sql", "store_probe")
HOT = ["keys", "replay_keys", "orders", "waiting", "notifications", "deliveries", "due", "claims", "cap_slots"]
FACTS = ["bodies", "repeats", "moves", "attempts", "contents", "rejected", "receipts", "audit"]
ALL = ("pawl_receiver", "pawl_dispatcher", "pawl_operator")
RUN_BY = [  # The first prefix that fits; None = the schema's owner.
    ("common/pg/", ALL + ("pawl_maint",)),
    ("common/store/read/", ALL),
    ("common/store/", ("pawl_operator",)),
    ("receiver/", ("pawl_receiver",)),
    ("dispatcher/retention/", ("pawl_maint",)),
    ("dispatcher/maint/", ("pawl_maint",)),
    ("dispatcher/", ("pawl_dispatcher",)),
    ("cli/migrate/", (None,)),
    ("cli/", ("pawl_operator",)),
    ("console/", ("pawl_operator",)),
]
SCRIPTS = {"cli/migrate/bootstrap.sql"}  # several statements; test_migrate.py runs it


def migrated(t, **options):
    cluster = t.cluster(**options)
    done = subprocess.run([PROBE, cluster.dsn(), "up"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    eq(done.returncode, 0, done.stdout)
    return cluster


def rings():
    """[(ring, column that dates its rows)] as the build embeds them."""
    with open(os.path.join(ROOT, "dispatcher", "retention", "meson.build"), encoding="utf-8") as f:
        named = re.search(r"'((?:[a-z_]+:[a-z_]+,?)+)'", f.read()).group(1)
    return [tuple(r.split(":")) for r in named.split(",")]


def as_embedded(name, text):
    """(name, text) of each statement that the build makes of one file (tools/embed.py)."""
    if not os.path.basename(name).startswith("ring_"):
        return [(name, text)]
    return [(f"{name} for {ring}", embed.ring_of(text.encode(), ring, column).decode()) for ring, column in rings()]


def statements():
    """(path, text without comments) of every statement in the tree."""
    found = []
    for top in ("common", "receiver", "dispatcher", "console", "cli"):
        for path in sorted(glob.glob(os.path.join(ROOT, top, "**", "*.sql"), recursive=True)):
            name = os.path.relpath(path, ROOT)
            if name not in SCRIPTS:
                with open(path, encoding="utf-8") as f:
                    found.append((name, re.sub(r"--[^\n]*", "", f.read())))
    check(len(found) > 20, "the tree has statements")
    return found


def roles_of(path):
    return next(roles for prefix, roles in RUN_BY if path.startswith(prefix))


# --- statements


def plan(cur, text):
    """Prepares and plans a statement: planning checks the role's rights on every table, preparing does not."""
    if not re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|VALUES)\b", text, re.I):
        cur.execute(text)  # TRUNCATE and the like can't be planned; the caller rolls back
        return
    params = max((int(n) for n in re.findall(r"\$(\d+)", text)), default=0)
    cur.execute("PREPARE one AS " + text)
    cur.execute("EXPLAIN EXECUTE one" + (f"({', '.join(['NULL'] * params)})" if params else ""))
    cur.execute("DEALLOCATE one")


def misfits(cluster):
    wrong = []
    for path, text in (one for file in statements() for one in as_embedded(*file)):
        for role in roles_of(path):
            conn = cluster.connect(role or "pawl", autocommit=False)
            try:
                with conn.cursor() as cur:
                    cur.execute("SET search_path = pawl, pg_catalog")
                    plan(cur, text)
            except psycopg2.Error as e:
                wrong.append(f"{path} as {role or 'the owner'}: {str(e).splitlines()[0]}")
            conn.close()
    return wrong


def test_every_statement_fits_the_schema_and_the_rights_of_its_role(t):
    cluster = migrated(t)
    eq(misfits(cluster), [])
    # It bites: a right too few and a column too few are found.
    cluster.query("REVOKE INSERT ON pawl.bodies FROM pawl_receiver")
    cluster.query("ALTER TABLE pawl.deliveries RENAME wire_at TO sent_at")
    found = misfits(cluster)
    check(any("bodies" in f and "permission denied" in f for f in found), f"{found}")
    check(any("wire_at" in f for f in found), f"{found}")


def test_every_parameter_is_cast_and_every_file_says_what_it_returns(t):
    del t
    wrong = []
    for path, text in statements():
        cast = set(re.findall(r"\$(\d+)::\w", text))
        wrong += [f"{path}: ${n} is never cast" for n in sorted(set(re.findall(r"\$(\d+)", text)) - cast)]
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            head = f.read()
        if not head.startswith("-- ") or not re.search(r"^-- returns: ", head, re.M):
            wrong.append(f"{path}: no purpose or no `returns:`")
        if text.strip().rstrip(";").count(";"):
            wrong.append(f"{path}: more than one statement")
    eq(wrong, [])


# --- hot tables


def assignments(text):
    """(table, column) of every assignment of an UPDATE or DO UPDATE in the text."""
    text = re.sub(r"'[^']*'", "''", text)
    found = set()
    insert = re.compile(r"\bINSERT\s+INTO\s+(?:pawl\.)?(\w+)", re.I)
    for m in re.finditer(r"\b(?:(DO)\s+UPDATE|UPDATE\s+(?:ONLY\s+)?(?:pawl\.)?(\w+)(?:\s+(?:AS\s+)?\w+)?)\s+SET\s+", text, re.I):
        table = m.group(2) or insert.findall(text[:m.start()])[-1]
        depth, part, parts = 0, "", []
        for word in re.findall(r"\w+|\s+|.", text[m.end():], re.S):
            depth += word == "("
            depth -= word == ")"
            if depth < 0 or (depth == 0 and re.fullmatch(r"FROM|WHERE|RETURNING", word, re.I)):
                break
            if depth == 0 and word == ",":
                parts.append(part)
                part = ""
            else:
                part += word
        for one in parts + [part]:
            left = one.split("=")[0]
            found |= {(table.lower(), c.lower()) for c in re.findall(r"\w+", left)}
    return found


def test_assignments_are_found_in_statements(t):
    del t
    for text, want in [
        ("UPDATE a SET x = 1", {("a", "x")}),
        ("UPDATE a q SET x = f(1, 2), y = CASE WHEN b THEN 1 END FROM c WHERE z = 1", {("a", "x"), ("a", "y")}),
        ("WITH w AS (UPDATE a SET (x, y) = (1, 2)) UPDATE ONLY pawl.b SET z = (SELECT k FROM c)", {("a", "x"), ("a", "y"), ("b", "z")}),
        ("INSERT INTO a VALUES (1) ON CONFLICT (x) DO UPDATE SET y = 'a, z = 1'", {("a", "y")}),
        ("SELECT 1 FROM a FOR UPDATE OF a", set()),
    ]:
        eq(assignments(text), want, text)


def updated_columns():
    found = set()
    for _, text in statements():
        found |= assignments(text)
    tables = {table for table, _ in found}
    check({"orders", "deliveries", "claims"} <= tables, f"the UPDATEs of the tree are seen: {tables}")
    return found


def parts_of(cluster, table):
    """The table and its partitions."""
    return [r[0] for r in cluster.query("SELECT relid::regclass::text FROM pg_partition_tree(%s::regclass)", ("pawl." + table,))] or ["pawl." + table]


def indexes(cluster, table):
    """(name, unique, key columns in order, all columns it depends on: keys, expressions, predicate)"""
    return cluster.query("""
        SELECT i.indexrelid::regclass::text, i.indisunique,
               ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int[]) WITH ORDINALITY k(n, o)
                     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n ORDER BY k.o),
               ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid AND (a.attnum = ANY(i.indkey)
                     OR EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = i.indexrelid AND d.refobjid = i.indrelid
                                AND d.refobjsubid = a.attnum)))
        FROM pg_index i WHERE i.indrelid = %s::regclass""", (table,))


def index_faults(cluster):
    updated, faults = updated_columns(), []
    for table in HOT:
        if not cluster.value("SELECT to_regclass(%s) IS NOT NULL", ("pawl." + table,)):
            faults.append(f"{table} is missing")
            continue
        for part in parts_of(cluster, table):
            for name, unique, keys, columns in indexes(cluster, part):
                if unique and table != "claims" and keys[:1] != ["bucket"]:
                    faults.append(f"{name} is unique and does not start with bucket")
                faults += [f"{name} covers {c}, which is updated" for c in columns if (table, c) in updated]
        if table != "claims" and cluster.query("""SELECT attnotnull, atttypid::regtype::text FROM pg_attribute
                WHERE attrelid = %s::regclass AND attname = 'bucket'""", ("pawl." + table,)) != [(True, "integer")]:
            faults.append(f"{table} has no bucket int NOT NULL")
    return faults


def test_indexes_of_hot_tables_keep_the_rules(t):
    cluster = migrated(t)
    eq(index_faults(cluster), [])
    # The walk bites: each of these breaks one rule.
    for sql, what in [
        ("CREATE INDEX bad ON pawl.orders(updated_at)", "covers updated_at"),
        ("CREATE INDEX bad ON pawl.deliveries(bucket) WHERE state = 0", "covers state"),
        ("CREATE INDEX bad ON pawl.orders((version + 1))", "covers version"),
        ("CREATE UNIQUE INDEX bad ON pawl.waiting(order_id)", "does not start with bucket"),
        ("CREATE UNIQUE INDEX bad ON pawl.keys_1(event_id)", "does not start with bucket"),
        ("ALTER TABLE pawl.cap_slots RENAME TO caps", "cap_slots is missing"),
    ]:
        cluster.query(sql)
        check(any(what in f for f in index_faults(cluster)), f"{sql} is found")
        cluster.query("DROP INDEX IF EXISTS pawl.bad")


def test_no_foreign_keys_between_hot_tables_no_triggers_no_plpgsql(t):
    cluster = migrated(t)
    eq(cluster.query("""SELECT a.relname, b.relname FROM pg_constraint k JOIN pg_class a ON a.oid = conrelid JOIN pg_class b ON b.oid = confrelid
        WHERE contype = 'f' AND connamespace = 'pawl'::regnamespace AND NOT (a.relname = 'policy_texts' AND b.relname = 'policy_versions')"""), [])
    eq(cluster.query("SELECT tgname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid WHERE c.relnamespace = 'pawl'::regnamespace AND NOT tgisinternal"), [])
    eq(cluster.query("""SELECT proname, lanname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE pronamespace = 'pawl'::regnamespace AND lanname <> 'sql'"""), [])


# --- facts


SAMPLE = {"integer": "1", "bigint": "1", "text": "'x'", "uuid": "gen_random_uuid()", "bytea": "'x'", "boolean": "false",
          "timestamp with time zone": "now()", "interval": "'1s'"}


def test_every_fact_ring_is_whole_for_more_than_a_year(t):
    cluster = migrated(t)
    for table in FACTS:
        columns = cluster.query("""SELECT attname::text, format_type(atttypid, NULL), pg_get_expr(adbin, adrelid)
            FROM pg_attribute a LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
            WHERE attrelid = %s::regclass AND attnum > 0 AND attnotnull""", ("pawl." + table,))
        default = next(d for name, _, d in columns if name == "slot")
        eq(default.count("now()"), 1, default)
        names = ", ".join(name for name, _, _ in columns)
        values = ", ".join(default.replace("now()", "d") if name == "slot" else SAMPLE[kind] for name, kind, _ in columns)
        # Each hour of 400 days, and the ends of some years to come.
        rows = cluster.value(f"""WITH kept AS (INSERT INTO pawl.{table} ({names})
            SELECT {values} FROM (SELECT generate_series(now(), now() + interval '400 days', interval '1 hour')
                UNION ALL SELECT make_timestamptz(y, 12, 31, 23, 59, 59.999999, 'UTC') FROM generate_series(2026, 2060) y) x(d)
            RETURNING 1) SELECT count(*) FROM kept""")
        eq(rows, 400 * 24 + 1 + 35, table)
        parts = parts_of(cluster, table)[1:]
        filled = [p for p in parts if cluster.value(f"SELECT EXISTS (SELECT 1 FROM {p})")]
        if table == "audit":  # 400 days do not go round its ring
            check(len(filled) >= 12, "audit")
        else:
            eq(filled, parts, "each slot comes up")
        eq([i for p in parts_of(cluster, table) for i in indexes(cluster, p) if i[1]], [], "no unique keys")


def test_statements_compute_the_slot_as_the_ring_does(t):
    cluster = migrated(t)
    lengths = {table: re.search(r"\D(\d+)\D*\)", default.split("now()")[1]).group(1) for table, default in cluster.query(
        """SELECT relname::text, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute a ON attrelid = adrelid AND adnum = attnum
        JOIN pg_class c ON c.oid = adrelid WHERE attname = 'slot' AND relnamespace = 'pawl'::regnamespace AND relkind = 'p'
        AND relname NOT LIKE '%keys'""")}
    for path, text in statements():
        # A statement names the ring whose row it makes; those that note where content went mean the contents.
        ring = re.search(r"INSERT INTO (\w+) \(slot\b", text)
        for seconds in re.findall(r"ring_slot\(now\(\), (\d+)\)", text):
            eq(seconds, lengths[ring[1] if ring else "contents"], path)


# --- roles


DENIED = [
    ("pawl_receiver", "SELECT * FROM contents"),
    ("pawl_receiver", "SELECT * FROM attempts"),
    ("pawl_receiver", "SELECT * FROM claims"),
    ("pawl_receiver", "SELECT * FROM audit"),
    ("pawl_receiver", "DELETE FROM due"),
    ("pawl_receiver", "DELETE FROM keys"),
    ("pawl_receiver", "UPDATE keys SET first_at = now()"),
    ("pawl_receiver", "UPDATE deliveries SET lane = 0"),
    ("pawl_receiver", "DELETE FROM orders"),
    ("pawl_receiver", "UPDATE moves SET outcome = 1"),
    ("pawl_receiver", "INSERT INTO policy_versions VALUES (1, 'x')"),
    ("pawl_receiver", "TRUNCATE bodies_0"),
    ("pawl_receiver", "DELETE FROM rejected"),
    ("pawl_receiver", "UPDATE rejected SET reason = 'x'"),
    ("pawl_receiver", "TRUNCATE rejected_0"),
    ("pawl_dispatcher", "SELECT * FROM rejected"),
    ("pawl_operator", "INSERT INTO rejected DEFAULT VALUES"),
    ("pawl_dispatcher", "SELECT * FROM bodies"),
    ("pawl_dispatcher", "INSERT INTO keys_0 SELECT * FROM keys"),
    ("pawl_dispatcher", "INSERT INTO keys DEFAULT VALUES"),
    ("pawl_dispatcher", "UPDATE orders SET state = 0"),
    ("pawl_dispatcher", "DELETE FROM deliveries"),
    ("pawl_dispatcher", "INSERT INTO notifications DEFAULT VALUES"),
    ("pawl_dispatcher", "UPDATE attempts SET outcome = 1"),
    ("pawl_dispatcher", "UPDATE due SET due_at = now()"),
    ("pawl_dispatcher", "TRUNCATE attempts_0"),
    ("pawl_dispatcher", "INSERT INTO policy_texts DEFAULT VALUES"),
    ("pawl_maint", "TRUNCATE orders"),
    ("pawl_maint", "TRUNCATE keys"),
    ("pawl_maint", "TRUNCATE notifications"),
    ("pawl_maint", "INSERT INTO keys_0 DEFAULT VALUES"),
    ("pawl_maint", "DELETE FROM bodies_0"),
    ("pawl_maint", "SELECT * FROM policy_texts"),
    ("pawl_operator", "SELECT * FROM provider_tokens"),
    ("pawl_receiver", "SELECT * FROM provider_tokens"),
    ("pawl_operator", "DELETE FROM audit"),
    ("pawl_operator", "UPDATE audit SET actor = 'x'"),
    ("pawl_operator", "UPDATE policy_texts SET body = ''"),
    ("pawl_operator", "DELETE FROM policy_versions"),
    ("pawl_operator", "TRUNCATE bodies_0"),
    ("pawl_operator", "INSERT INTO keys DEFAULT VALUES"),
]
DENIED += [(role, sql) for role in ALL + ("pawl_maint",) for sql in (
    "CREATE TABLE pawl.mine(x int)", "UPDATE migrations SET name = 'x'", "INSERT INTO migrations DEFAULT VALUES", "DROP TABLE orders",
    "CREATE ROLE other", "SET ROLE pawl", "SET ROLE " + ("pawl_operator" if role != "pawl_operator" else "pawl_maint"),
    "COPY orders TO PROGRAM 'true'")]


def test_roles_may_do_no_more_than_they_need(t):
    cluster = migrated(t)
    allowed = []
    for role, sql in DENIED:
        conn = cluster.connect(role, autocommit=False)
        try:
            with conn.cursor() as cur:
                cur.execute("SET search_path = pawl, pg_catalog")
                cur.execute(sql)
            allowed.append((role, sql))
        except psycopg2.errors.InsufficientPrivilege:
            pass
        conn.close()
    eq(allowed, [])


VERBS = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
RIGHTS = {  # role: table: first letters of the verbs (s i u d t); partitions are asked for only where they are named.
    "pawl_receiver": {
        "migrations": "s", "policy_versions": "s", "policy_texts": "s", "names": "s", "key_gen": "s", "keys": "si",
        "replay_keys": "si", "bodies": "i", "repeats": "si", "deliveries": "i", "due": "i", "moves": "si", "notifications": "si",
        "orders": "siu", "waiting": "sid", "rejected": "si", "secret_uses": "siu", "receipts": "i", "attempts": "i", "suppressions": "i", "unknown_outcomes": "d"},
    "pawl_dispatcher": {
        "migrations": "s", "policy_versions": "s", "policy_texts": "s", "names": "s", "notifications": "s", "deliveries": "su",
        "due": "sid", "claims": "siud", "cap_slots": "siud", "unknown_outcomes": "sid", "contents": "si", "attempts": "si",
        "provider_tokens": "siud", "rates": "siu", "pauses": "sd", "suppressions": "si"},
}


def rights(cluster, role):
    """{table: letters} of the tables that are no partitions."""
    rows = cluster.query("""SELECT c.relname::text, v FROM pg_class c, unnest(%s::text[]) v
        WHERE c.relnamespace = 'pawl'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          AND has_table_privilege(%s, c.oid, v)""", (VERBS, role))
    found = {}
    for table, verb in rows:
        found[table] = found.get(table, "") + verb[0].lower()
    return {table: set(letters) for table, letters in found.items()}


def test_the_programs_rights_are_these_and_no_others(t):
    cluster = migrated(t)
    for role, want in RIGHTS.items():
        eq(rights(cluster, role), {table: set(letters) for table, letters in want.items()}, role)
    operator = rights(cluster, "pawl_operator")
    eq({table for table, verbs in operator.items() if verbs != {"s"}},
       {"policy_versions", "policy_texts", "names", "audit", "deliveries", "due", "attempts", "unknown_outcomes", "cap_slots", "pauses",
        "suppressions"})
    maint = rights(cluster, "pawl_maint")
    eq([table for table, verbs in maint.items() if "t" in verbs], [], "maint empties slots, never whole tables")
    emptied = {r[0].rsplit("_", 1)[0] for r in cluster.query("""SELECT relname::text FROM pg_class
        WHERE relnamespace = 'pawl'::regnamespace AND has_table_privilege('pawl_maint', oid, 'TRUNCATE')""")}
    eq(emptied - {"keys", "replay_keys", "bodies", "repeats", "moves", "attempts", "contents", "rejected", "receipts"}, set(), "what maint may empty")
