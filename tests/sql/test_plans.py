"""The plans of the statements that run for every batch: one generic plan each, that reads no table as a whole and probes every
index by bucket or lane, be it made while the tables were empty or when they are full."""
import glob
import json
import os
import re
import sys

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

HOT = {"receiver/accept": "pawl_receiver", "dispatcher/claim": "pawl_dispatcher",
       "dispatcher/claim/gates": "pawl_dispatcher", "dispatcher/lookup": "pawl_dispatcher", "dispatcher/record": "pawl_dispatcher",
       "dispatcher/route": "pawl_dispatcher", "dispatcher/token": "pawl_dispatcher"}
# Not for every batch, but beside the programs that work: a person's commands act on 100 deliveries a statement. Planned when they run,
# so only what they do when the tables are full matters.
BESIDE = {"cli/operate": "pawl_operator"}
READS_ALL = {("cli/operate/pick.sql", "deliveries"): "a filter over all deliveries, at a person's request",
             ("cli/operate/pick.sql", "notifications"): "the same, by order or type"}
# A row a version, a generation, a batch in flight, a pause, a provider, a key.
SMALL = {"policy_versions", "key_gen", "claims", "pauses", "names", "rates", "provider_tokens"}
PROBED_BY = re.compile(r"\b(bucket|lane|channel)\b")
VALUES = {"integer": "1", "bigint": "1", "boolean": "false", "text": "'x'", "uuid": "gen_random_uuid()", "interval": "'1s'",
          "integer[]": "'{1}'", "bigint[]": "'{1}'", "boolean[]": "'{f}'", "text[]": "'{x}'", "bytea[]": "'{x}'",
          "uuid[]": "ARRAY[gen_random_uuid()]", "double precision": "1", "double precision[]": "'{1}'", "bytea": "'x'", "timestamp with time zone": "now()"}
ROWS = 20000
# Of each table the columns that its plans need and a value for them, from the row number i; the rest has a default.
FILL = {
    "keys (bucket, source, slot, event_id, scope, fp, arrival, first_at)":
        "i % 1024, 1, i % 2, 'e' || i, '', '\\x00', gen_random_uuid(), now()",
    "replay_keys (bucket, source, slot, digest, event_id, scope, first_at)":
        "i % 1024, 1, i % 2, decode(md5(i::text), 'hex'), 'e' || i, '', now()",
    "orders (bucket, order_id)": "i % 1024, 'o' || i",
    "waiting (bucket, source, to_state, reason, order_id, event_id, scope, type, contact, data, since)":
        "i % 1024, 1, 1, 4, 'o' || i, 'e' || i, '', 't', '{}', '{}', now()",
    "notifications (bucket, type, policy, version, notification_id, source, once, order_id, event_id, scope, data, created_at)":
        "i % 1024, 1, 1, 1, md5(i::text)::uuid, 1, 'x/' || i, 'o' || i, 'e' || i, '', '{}', now()",
    "deliveries (bucket, channel, notification_id, delivery_order, lane, address, collapse, created_at, updated_at)":
        "i % 1024, 1, md5(i::text)::uuid, 2, 11, 'a@example.net', CASE WHEN i % 2 = 0 THEN 'order/' || i END, now(), now()",
    "suppressions (channel, reason, key, address, source)":
        "1, 1, address_key(1, 'a' || i), 'a' || i, 'test'",
    "due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)":
        "i % 1024, 11, now() + i * interval '1 ms', md5(i::text)::uuid, 1, 0, 0, ''",
    "unknown_outcomes (bucket, channel, notification_id, redrive, target, since)":
        "i % 1024, 1, md5(i::text)::uuid, 0, '', now()",
    "cap_slots (bucket, nth, cap, of_bucket, notification_id, channel, redrive, taken_at, in_ms)":
        "i % 1024, i % 3, 'limits/' || i, i % 1024, md5(i::text)::uuid, 1, 0, now(), 1000",
    "bodies (bucket, source, outcome, event_id, scope, arrival, received_at, body)":
        "i % 1024, 1, 1, 'e' || i, '', gen_random_uuid(), now(), '{}'",
    "repeats (bucket, source, outcome, event_id, scope, arrival, age, at)":
        "i % 1024, 1, 2, 'e' || i, '', gen_random_uuid(), '1s', now()",
    "moves (bucket, source, outcome, from_state, to_state, version, nth, policy, order_id, event_id, scope, at)":
        "i % 1024, 1, 1, 0, 1, 1, 0, 1, 'o' || i, 'e' || i, '', now()",
    "contents (bucket, channel, notification_id, redrive, target, at, content)":
        "i % 1024, 1, md5(i::text)::uuid, 0, '', now(), '{}'",
}


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"--[^\n]*", "", f.read()).strip()


def statements(folders=HOT):
    """(name, role, text) of every statement in these folders: at first those that run for each batch."""
    found = [(os.path.relpath(p, ROOT), role, text_of(p)) for folder, role in folders.items()
             for p in sorted(glob.glob(os.path.join(ROOT, folder, "*.sql")))]
    check(len(found) > 20, "the programs have statements")
    return found


def session(cluster, role):
    """A connection of the role with the settings of common/pg."""
    conn = cluster.connect(user=role)
    cur = conn.cursor()
    cur.execute(text_of(os.path.join(ROOT, "common/pg/setup.sql")).replace("$1", "'0'"))
    return cur


def prepare(cur, name, text):
    """Prepares it and returns EXECUTE with a value for each parameter."""
    cur.execute(f'PREPARE "{name}" AS {text}')
    cur.execute("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = %s", (name,))
    values = ", ".join(VALUES[kind] for kind in cur.fetchone()[0])
    return f'EXECUTE "{name}"' + (f" ({values})" if values else "")


def nodes(plan):
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def faults(plan, name=""):
    """What is wrong with the plan of a statement, in words."""
    found = []
    for node in nodes(plan):
        table, kind = node.get("Relation Name", ""), node["Node Type"]
        condition = node.get("Index Cond", "")
        if table in SMALL or table.rsplit("_", 1)[0] in SMALL:
            continue
        if (name, table) in READS_ALL and node.get("Parent Relationship") != "Inner":
            continue
        if kind == "Seq Scan":
            found.append(f"reads all of {table}")
        elif kind in ("Index Scan", "Index Only Scan", "Bitmap Index Scan") and not PROBED_BY.search(condition):
            found.append(f"reads {node.get('Index Name')} by ({condition})")
    return found


def all_faults(cluster, folders=HOT):
    found, probes = [], 0
    for role in sorted(set(folders.values())):
        cur = session(cluster, role)
        for name, _, text in (s for s in statements(folders) if s[1] == role):
            cur.execute("EXPLAIN (FORMAT JSON) " + prepare(cur, name, text))
            plan = cur.fetchone()[0]
            plan = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
            probes += sum("Index Name" in n for n in nodes(plan))
            found += [f"{name} {fault}" for fault in faults(plan, name)]
    check(probes > 20, f"indexes are probed: {probes}")
    return found


def fill(cluster):
    for table, values in FILL.items():
        cluster.query(f"INSERT INTO pawl.{table} SELECT {values} FROM generate_series(1, {ROWS}) i")
    cluster.query("ANALYZE")


def test_no_statement_of_a_batch_reads_a_table_as_a_whole(t):
    cluster = t.migrated_cluster()
    eq(all_faults(cluster), [], "while the tables are empty and were never analyzed")
    cluster.query("ANALYZE")
    eq(all_faults(cluster), [], "while the tables are empty")
    fill(cluster)
    eq(all_faults(cluster, HOT | BESIDE), [], "when the tables are full")


def test_the_programs_plan_each_statement_once(t):
    cluster = t.migrated_cluster()
    for role in sorted(set(HOT.values())):
        cur = session(cluster, role)
        runs = [prepare(cur, name, text) for name, found, text in statements() if found == role and "_put" not in name]
        for run in runs:
            for _ in range(8):
                cur.execute("BEGIN")
                try:
                    cur.execute(run)
                except psycopg2.Error:  # a made-up value: the plan was made and counted all the same
                    pass
                cur.execute("ROLLBACK")
        cur.execute("SELECT name, custom_plans FROM pg_prepared_statements WHERE custom_plans > 0")
        eq(cur.fetchall(), [])


def executed(cur, sql):
    """The plan of one run, which is rolled back."""
    cur.execute("BEGIN")
    cur.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + sql)
    plan = cur.fetchone()[0]
    cur.execute("ROLLBACK")
    return (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


def test_of_a_backlog_no_more_is_read_than_is_taken(t):
    cluster = t.migrated_cluster()
    cur = session(cluster, "pawl_dispatcher")
    takes = {"dispatcher/claim/take.sql": "8, '{10,11,12}', '{0,0,0}'", "dispatcher/lookup/look_take.sql": "8, 19"}
    for name in takes:
        prepare(cur, name, text_of(os.path.join(ROOT, name)))
        executed(cur, f'EXECUTE "{name}" ({takes[name]})')
    lanes = "i % 1024, lane, now() - i * interval '1 ms', md5(i::text)::uuid, 1, 0, 0, ''"
    cluster.query(f"INSERT INTO pawl.due (bucket, lane, due_at, notification_id, channel, redrive, tries, target)"
                  f" SELECT {lanes} FROM generate_series(1, {ROWS}) i, unnest(ARRAY[10, 11, 12, 19]) lane")
    for when in ("by the plan of an empty table", "by the plan of a full one"):
        for name, values in takes.items():
            plan = executed(cur, f'EXECUTE "{name}" ({values})')
            read = [n["Actual Rows"] * n["Actual Loops"] for n in nodes(plan) if n.get("Relation Name") == "due" and n["Actual Loops"]]
            eq((plan["Actual Rows"], max(read)), (8, 8), f"{name} {when}")
        cluster.query("ANALYZE pawl.due")
